"""Real Relay dumps, where they are at hand: read or refused as expected, written, read back equal."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from gslang.base.diagnostics import InputError
from gslang.formats.relay import UnsupportedConstruct, read_relay, write_relay
from gslang.formats.relay.lexer import tokenise
from gslang.graph.compare import differences
from gslang.graph.graph import Graph

from .samples import DIALECT

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "relay"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the dumps are not here")

# What a dump is refused for; all others are read.
REFUSED = {
    "tvm-bbnf/06": "a function type",
    "tvm-cpp-indexed/00": "`if`",
    "tvm-cpp-indexed/01": "`if`",
    "tvm-dce/06": "`if`",
    "tvm-dce/16": "the memory dialect",
    "tvm-dce/17": "the memory dialect",
    "tvm-dce/20": "`ref_read`",
    "tvm-defunc/00": "a generic function",
    "tvm-defunc/01": "a generic function",
    "tvm-defunc/02": "a function type",
    "tvm-eta/00": "a function type",
    "tvm-eta/01": "a function type",
    "tvm-eta/02": "a generic function",
    "tvm-lifetimes/01": "the memory dialect",
    "tvm-lifetimes/02": "`if`",
    "tvm-lifetimes/05": "the type `List`",
    "tvm-plan-devices/28": "the type `Storage`",
    "tvm-plan-devices/29": "the type `Storage`",
    "tvm-plan-devices/56": "an ADT constructor",
    "tvm-plan-devices/57": "an ADT constructor",
}
DUMPS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("**/*.relay"))


def reason(name: str) -> str | None:
    return REFUSED.get(name.split("-test")[0].split("-line")[0].split("-input")[0].split("-expected")[0])


@cache
def dump(name: str) -> Graph:
    return read_relay((FOLDER / name).read_text(encoding="utf-8"), name, dialect=DIALECT)


@pytest.mark.parametrize("name", [name for name in DUMPS if reason(name) is None])
def test_a_dump_reads_back_equal(name: str) -> None:
    graph = dump(name)
    for options in ({}, {"comments": False}):
        written = write_relay(graph, DIALECT, **options)
        back = read_relay(written, name, dialect=DIALECT)
        assert differences(graph, back, DIALECT) == []
        assert write_relay(back, DIALECT, **options) == written


@pytest.mark.parametrize("name", [name for name in DUMPS if reason(name) is not None])
def test_a_dump_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(UnsupportedConstruct) as caught:
        dump(name)
    assert caught.value.construct.startswith(str(reason(name)))
    line, column = map(int, caught.value.place.split(":"))
    assert (FOLDER / name).read_text(encoding="utf-8").splitlines()[line - 1][column - 1 :].strip()


def test_every_expected_refusal_is_there() -> None:
    assert len([name for name in DUMPS if reason(name) is not None]) == len(REFUSED)


def _dotted_operators(text: str) -> list[str]:
    return sorted(
        t
        for t in tokenise(text) if t[0].isalpha() and "." in t and "=" not in t and not t.startswith("meta[")
    )


@pytest.mark.parametrize("name", [name for name in DUMPS if "/" not in name])
def test_a_model_keeps_all_its_calls(name: str) -> None:
    """Models have no dead code: every call of an operator with a dot in its name is there again."""
    source = (FOLDER / name).read_text(encoding="utf-8").partition("#[metadata]")[0].removeprefix("v0.0.4")
    written = write_relay(dump(name), None, comments=False).partition("#[metadata]")[0]
    assert _dotted_operators(written) == _dotted_operators(source)


@pytest.mark.parametrize("name", [name for name in DUMPS if reason(name) is None])
def test_inferred_types_agree_with_the_comments(name: str) -> None:
    warnings = [w for w in dump(name).meta.get("warnings", []) if "comment" in w or "does not fit" in w]
    # In this one the weight is for 8 channels and the data has 16.
    assert warnings == [] or name == "imcflow-conv-int8-metadata.relay"


def test_a_dump_that_is_cut_off_is_refused() -> None:
    text = (FOLDER / "glenside-resnet18-simplified.relay").read_text(encoding="utf-8").rstrip()
    for end in range(2000, len(text), len(text) // 37):
        with pytest.raises(InputError, match="^cut:"):
            read_relay(text[:end], "cut", dialect=None)
