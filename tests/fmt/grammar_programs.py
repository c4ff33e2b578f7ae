"""Random programs: derivations of the grammar itself, as lists of tokens, so that no construct can be
forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from gslang.syntax.grammar import grammar

_TEXTS: dict[str, tuple[str, ...]] = {
    "NAME": ("x", "y", "conv", "a_long_name_of_a_node", "nn", "axis", "repeat", "var", "pass_"),
    "INT": ("0", "1", "12"),
    "FLOAT": ("0.5", "1e-5", "2.25e+3"),
    "STRING": ('"NCHW"', '""', '"a # b"', '"x;{"'),
    "_PROJECTIONS": ("0.1",),
    "COMPARE": ("==", "!=", "<", ">="),
}
_WORD_END = "(?![A-Za-z0-9_])"
_DEEP = 60  # levels of a derivation from which on the shortest way out is taken
_MOST_TOKENS = 220


@cache
def _rules() -> dict[str, list[tuple[tuple[str, bool], ...]]]:
    """Non-terminal → expansions, each a sequence of (symbol, is it a terminal); what is reserved is left out.
    """
    found: dict[str, list[tuple[tuple[str, bool], ...]]] = {}
    for rule in grammar().rules:
        if not str(rule.alias or "").startswith("reserved"):
            found.setdefault(str(rule.origin.name), []).append(
                tuple((str(s.name), s.is_term) for s in rule.expansion)
            )
    return found


@cache
def _heights() -> dict[str, int]:
    """The least height of a derivation from each non-terminal."""
    heights: dict[str, int] = {}
    while len(heights) < len(_rules()):
        for name, expansions in _rules().items():
            known = [h for e in expansions if (h := _height(e, heights)) is not None]
            if known and name not in heights:
                heights[name] = min(known)
    return heights


def _height(expansion: tuple[tuple[str, bool], ...], heights: dict[str, int]) -> int | None:
    parts = [0 if terminal else heights.get(name) for name, terminal in expansion]
    return None if None in parts else 1 + max((p for p in parts if p is not None), default=0)


@cache
def _spellings() -> dict[str, str]:
    """Signs, and words, which end where no letter follows."""
    return {t.name: t.pattern.value.removesuffix(_WORD_END) for t in grammar().terminals}


def random_tokens(random: Random, start: str = "item") -> list[str]:
    """The tokens of a random derivation."""
    result: list[str] = []
    stack: list[tuple[str, bool, int]] = [(start, False, 0)]
    while stack:
        name, terminal, depth = stack.pop()
        if terminal:
            if name == "FLOAT" and result[-1:] == ["."]:
                name = "_PROJECTIONS"
            result.append(random.choice(_TEXTS[name]) if name in _TEXTS else _spellings()[name])
            continue
        expansions = _rules()[name]
        if name == "optype" and result[-1:] == ["->"]:
            expansions = [e for e in expansions if len(e) == 1]
        if name == "onetype" and result[-1:] != ["->"]:
            # several results: only as the whole type of an operator
            expansions = [e for e in expansions if e[0][0] != "LPAR"]
        if depth > _DEEP or len(result) > _MOST_TOKENS:
            least = _heights()[name]
            expansions = [e for e in expansions if _height(e, _heights()) == least]
        stack.extend((part, is_term, depth + 1) for part, is_term in reversed(random.choice(expansions)))
    return result


def spaced(tokens: list[str], gap: Callable[[], str]) -> str:
    """The tokens with something between each two."""
    return "".join(gap() + token for token in tokens) + gap()
