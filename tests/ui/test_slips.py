"""Answers to slips of the pen: `slips.txt` has one on each stretch between `--`, `slips.golden` the same
with where and how it is reported below. `pytest --bless` rewrites the latter.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.syntax.nodes import Rule
from gslang.syntax.parser import parse

HERE = Path(__file__).parent
SOUND = """\
dialect onnx;

@approximate(rtol = 1e-4)
rule first(x, w: const(dtype = "float32", shape = [_, 2])) {
    y = Relu(MatMul(x, w));
    y where y.shape[0] == 2, len(w.shape) in (1, 2)
  =>
    Relu(MatMul(x, Transpose(w, perm = [0, 1])))
}

rule second(x) {
    each part in 2.. { a = Neg(x); }
    *part.a
  =>
    *[Neg(x) for p in part]
}

test "one" for second {
    x: input float32[2, 3];
    Neg(x)
  =>
    Neg(x)
}

rule third(x): Neg(Neg(x)) => x;
"""


def told(slip: str) -> str:
    """A slip, with what `gslc check` finds in it below."""
    text = slip if slip.startswith("dialect") else f"dialect onnx;\n{slip}"
    found = check_source(Source("rules.gsl", text + "\n")).diagnostics
    return "\n".join([slip, *map(_shown, found)])


def _shown(finding: Diagnostic) -> str:
    place = ":".join(map(str, finding.primary.span.line_column))
    lines = [f"    {finding.code} at {place} `{finding.primary.span.text}`: {finding.message}"]
    for label in (finding.primary, *finding.related):
        if label.text:
            lines.append(f"        {':'.join(map(str, label.span.line_column))}: {label.text}")
    return "\n".join([*lines, f"        {finding.help}"] if finding.help else lines)


def test_each_slip_is_answered(request: pytest.FixtureRequest) -> None:
    slips = (HERE / "slips.txt").read_text(encoding="utf-8").rstrip("\n").split("\n--\n")
    answers = "\n\n".join(map(told, slips)) + "\n"
    golden = HERE / "slips.golden"
    if request.config.getoption("bless"):
        golden.write_text(answers, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == answers


def test_the_sound_file_is_sound() -> None:
    assert parse(Source("rules.gsl", SOUND)).diagnostics == ()


@pytest.mark.parametrize("sign", "()[]{}")
def test_a_missing_bracket_is_one_finding_in_its_item(sign: str) -> None:
    for found in re.finditer(re.escape(sign), SOUND):
        source = Source("rules.gsl", SOUND[: found.start()] + SOUND[found.end() :])
        parsed = parse(source)
        assert [finding.code for finding in parsed.diagnostics] == ["E0105"], source.text
        first, last = item_around(found.start())
        finding = parsed.diagnostics[0]
        assert all(
            first <= label.span.line_column[0] <= last for label in (finding.primary, *finding.related)
        )
        rules = [item.name.id for item in parsed.program.items if isinstance(item, Rule)]
        assert len(rules) >= 2 and len(parsed.program.items) >= 4


def item_around(offset: int) -> tuple[int, int]:
    """The first and the last line of the item of the sound file that an offset lies in."""
    start = SOUND.rfind("\n\n", 0, offset) + 2
    end = SOUND.find("\n\n", offset)
    return SOUND.count("\n", 0, start) + 1, SOUND.count("\n", 0, end if end >= 0 else len(SOUND)) + 1
