"""JSON that only a damaged or hostile file has: refused with a place, never a crash later on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gslang.base.diagnostics import InputError
from gslang.dialect.load import load_dialect
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json


def text(**changes: Any) -> str:
    call: dict[str, Any] = {"id": "a", "kind": "call", "op": "nn.relu", "inputs": ["x"]}
    leaf = {"id": "x", "kind": "input", "shape": [2], "dtype": "float32"}
    top = {k: v for k, v in changes.items() if k.startswith("x-")}
    leaf |= {k: v for k, v in changes.items() if k in ("shape", "dtype")}
    call |= {k: v for k, v in changes.items() if k in ("inputs", "attrs", "id", "type")}
    return json.dumps(
        {"format": "gsl-graph", "version": 1, **top, "nodes": [leaf, call], "outputs": [call["id"]]}, indent=0
    )


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def types(depth: int) -> Any:
    value: Any = {"shape": [2], "dtype": "float32"}
    for _ in range(depth):
        value = {"type": [value]}
    return [value]


CASES = {
    "NaN": (lambda: text(attrs={"NaN": 1, "b": float("nan")}), r"<json>:\d+:6: `NaN` is not JSON"),
    "a long number": (
        lambda: text(attrs={"b": 1}).replace('"b": 1', '"b": ' + "1" * 5000),
        r"<json>:\d+:6: a number with too many digits",
    ),
    "half a surrogate pair": (
        lambda: text(id="\ud800"), r"/nodes/1/id: `\\ud800` is half of a surrogate pair",
    ),
    "half a pair in a key": (
        lambda: text(attrs={"\udfff": 1}), r"/nodes/1/attrs: `\\udfff` is half of a surrogate pair",
    ),
    "a dimension beyond 64 bits": (
        lambda: text(shape=[2**63]), r"/nodes/0/shape/0: a dimension is a number from 0 to",
    ),
    "a width that no float has": (
        lambda: text(dtype="float33"), r"/nodes/0/dtype: unknown type `float33`",
    ),
    "no operand": (
        lambda: text(inputs=[None]), r"/nodes/1/inputs/0: `nn.relu` requires its operand `data`",
    ),
    "deep attributes": (
        lambda: text(attrs={"b": nested(101)}), "nested more than 100 levels deep|nested too deeply",
    ),
    "deeper attributes": (
        lambda: text(attrs={"b": nested(900)}), "nested more than 100 levels deep|nested too deeply",
    ),
    "deep types": (lambda: text(type=types(450)), "nested too deeply"),
    "deep keys of one's own": (
        lambda: text(**{"x-own": nested(101)}), "/x-own: nested more than 100 levels deep",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    make, message = CASES[name]
    with pytest.raises(InputError, match=message):
        read_json(make(), dialect=load_dialect)


def test_what_is_allowed_is_written_again() -> None:
    graph = read_json(
        text(id="\U0001f600", attrs={"b": nested(99)}, **{"x-own": nested(100)}), dialect=load_dialect
    )
    assert write_json(read_json(write_json(graph))) == write_json(graph)
