"""Standard terms: phrases that were replaced stay away."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = [
    path
    for folder, ending in (
        ("gslang", "py"), ("gslang", "md"), ("gslang", "gsl"), ("docs", "md"), ("stdlib_rules", "gsl"),
    )
    for path in sorted((ROOT / folder).rglob(f"*.{ending}"))
] + [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]

# phrase → what to write instead
PHRASES = {
    "its place and its hint": "its location and a suggested fix",
    "what no rule touches": "untouched parts are preserved",
    "is passed over": "is skipped",
    "are passed over": "are skipped",
    "for numbers are real": "assuming real arithmetic",
    "wrong with a chance of": "error probability",
    "what stands here": "the stable interface, or a name",
    "where it is fixed": "the stable interface",
    "a rule or pass that there is not": "an unknown rule or pass",
    "rule that there is not": "an unknown rule",
    "held against each other": "cross-checked",
    "undo each other for ever": "form an infinite loop",
    "round for ever": "form an infinite loop",
    "transposes sink": "transposes are pushed down",
    "gelus in pieces": "leaves Gelu decomposed",
    "speaks of every operator": "operators are normalized to the latest opset",
    "speak of every operator": "operators are normalized to the latest opset",
    "a value is wanted here": "expected a value, found …",
    "is wanted here": "is expected here",
    "cannot be told from its name": "cannot infer the format from the file name",
    "so no random value": "shape unknown: cannot generate an input",
    "in cases of sign": "for the sign patterns sampled",
    "as rational functions, in": "exact arithmetic, for …",
    "quotients and roots that they come near": "constants rounded to nearby rationals or roots",
    "no instance has `": "no instance where … is true",
    "that does not hold together": "invalid",
    "gave up: too many": "search limit exceeded",
    "too many ways to try": "search limit exceeded",
    "laid down whole from": "instantiated from a cached template",
    "rules stand under the operator": "rules are indexed by root operator",
    "what happened, and where it went wrong": "debugging rewrites",
    "mended": "fixed",
    "come to nothing": "without an answer",
    "comes to nothing": "without an answer",
    "stand in parentheses": "are written in parentheses",
    "stands in braces": "is written in braces",
    "stand in brackets": "are written in brackets",
    "is no arrow": "is not an arrow",
    "is no keyword": "is not a keyword",
    "has errors of its own": "has errors",
    "hardly ever equals": "rarely equals",
    "tells what a node is": "tests the kind of a node",
    "is gone since": "was removed in",
    "whatever takes it": "for every operator",
    "left as they are": "preserved",
    "exit codes: 0 fine": "exit codes: 0 success",
    "truth values apart": "excluding `bool`",
    "whatever is added to them": "absorb any addend",
    "what padding is filled with": "the padding value",
    "named from the front in order": "non-negative and in increasing order",
    "indices of lookups": "lookup indices",
    "has no meaning in a field": "cannot be evaluated over a prime field",
    "link leads nowhere": "broken link",
    "the model twice differs": "noise",
    "as the file has them": "as in the file",
    "is never chosen": "unreachable",
}


@cache
def text_of(path: Path) -> str:
    """The words of a file with one blank between them."""
    return " ".join(path.read_text(encoding="utf-8").lower().split())


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrases_are_gone(phrase: str) -> None:
    found = [path.relative_to(ROOT).as_posix() for path in FILES if phrase in text_of(path)]
    assert found == [], f"write “{PHRASES[phrase]}”"
