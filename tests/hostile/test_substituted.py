"""Documents with one odd place are read or refused; some of them here, all in `make test-long`."""

from __future__ import annotations

import json
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import pytest

from gslang.base.diagnostics import InputError
from tests.hostile.fuzz import SECONDS, Hang
from tests.hostile.readers import CONFIG, COSTS, RELAY, SUBSTITUTIONS, readers
from tests.hostile.substituted import with_odd_fields, with_odd_values, with_odd_words

onnx = pytest.importorskip("onnx")

RELAY_GRAPH = {
    "format": "gsl-graph",
    "version": 1,
    "dialect": "relay",
    "nodes": [
        {"id": "x", "kind": "input", "shape": [2, "n", 4], "dtype": "float32"},
        {"id": "w", "kind": "param", "shape": [4], "dtype": "float32"},
        {"id": "c", "kind": "const", "shape": [2], "dtype": "float32", "value": [1.0, 2.5]},
        {"id": "t", "kind": "call", "op": "transpose", "inputs": ["x"], "attrs": {"axes": [0, 2, 1]}},
        {"id": "cl", "kind": "call", "op": "clip", "inputs": ["t"], "attrs": {"a_min": 0.0, "a_max": 6.0}},
        {"id": "r", "kind": "call", "op": "reshape", "inputs": ["cl"], "attrs": {"newshape": [2, -1]}},
        {
            "id": "s", "kind": "call", "op": "split", "inputs": ["x"],
            "attrs": {"indices_or_sections": 2, "axis": 2},
        },
        {"id": "p", "kind": "proj", "inputs": ["s"], "index": 1},
        {"id": "a", "kind": "call", "op": "add", "inputs": ["x", "w"]},
        {"id": "tu", "kind": "tuple", "inputs": ["p", "a"]},
        {"id": "m", "kind": "call", "op": "cast", "inputs": ["a"], "attrs": {"dtype": "float16"}},
    ],
    "outputs": ["r", "tu", "m"],
}
RULES = b"""dialect relay;
param eps: float = 1e-5;
fn inverse(p) = [p[i] for i in range(len(p)) if i >= 0];
op my.scale(x: tensor, by: float = 2.0) -> tensor { shape = x.shape, dtype = x.dtype };
@tags("a") @approximate(rtol = 1e-3)
rule fuse(a, b: const(shape = (1,), value = 1.0)?) {
    t = transpose(a, axes = (p := _));
    each f in 2..4 { w = nn.relu(t); }
    u = (t | tanh(a)) + b;
    concatenate((u, *f.w), axis = 0)
    where a.ndim == len(p) and p[0] < 2 or a.dtype in ("float32", "float16"), not a.shape[-1:] == (1,)
  =>
    my.scale(a, by = eps) if a.ndim > 2 else reshape(a, newshape = (*a.shape, 1))
}
test "t" for fuse { x: input float32[2, 3]; nn.relu(x) => nn.relu(x) }
pass main { repeat { fuse; } fold; }
"""


def _model() -> object:
    from onnx import TensorProto, helper

    def info(name: str, dtype: int, shape: list[int | str] | None) -> object:
        return helper.make_tensor_value_info(name, dtype, shape)

    branch = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["b"])], "then", [], [info("b", 1, [2, 3])]
    )
    local = helper.make_function(
        "local", "f", ["q"], ["r"], [helper.make_node("Relu", ["q"], ["r"])], [helper.make_opsetid("", 21)]
    )
    nodes = [
        helper.make_node("Conv", ["i", "k"], ["cv"], pads=[1, 1, 1, 1], strides=[1, 1], auto_pad="NOTSET"),
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
        helper.make_node("Transpose", ["y"], ["z"], perm=[1, 0]),
        helper.make_node("Reshape", ["z", "s"], ["u"]),
        helper.make_node("f", ["u"], ["v"], domain="local"),
        helper.make_node("Clip", ["v", "", "most"], ["o"]),
    ]
    weights = [
        helper.make_tensor("w", 1, [2, 3], [1.0] * 6),
        helper.make_tensor("s", TensorProto.INT64, [2], [-1, 2]),
        helper.make_tensor("most", 1, [], [6.0]),
        helper.make_tensor("k", 1, [1, 1, 3, 3], bytes(36), raw=True),
    ]
    inputs = [info("x", 1, [2, 3]), info("c", TensorProto.BOOL, []), info("i", 1, ["n", 1, 4, 4])]
    graph = helper.make_graph(nodes, "g", inputs, [info("o", 1, None), info("cv", 1, None)], weights)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, functions=[local], opset_imports=imports, ir_version=10)
    model.metadata_props.add(key="a", value="b")
    return model


def _traces() -> Iterator[bytes]:
    first, *rest = readers()["traces, replayed"].files[0].splitlines()
    return (b"\n".join([line, *rest, b""]) for line in with_odd_values(json.loads(first)))


DOCUMENTS: dict[str, Callable[[], Iterable[bytes]]] = {
    "json": lambda: with_odd_values(RELAY_GRAPH),
    "relay": lambda: with_odd_words(RELAY),
    "rules": lambda: with_odd_words(RULES),
    "onnx": lambda: with_odd_fields(_model()),
    "traces, replayed": _traces,
    "e-graphs": lambda: with_odd_values(json.loads(readers()["e-graphs"].files[0])),
    "TASO's substitutions": lambda: with_odd_values(json.loads(SUBSTITUTIONS)),
    "cost tables": lambda: with_odd_words(COSTS),
    "configuration": lambda: with_odd_words(CONFIG),
}


def _late(*_: object) -> None:
    raise Hang


def _wrong(kind: str, documents: Iterable[bytes]) -> list[str]:
    read, found = readers()[kind].read, []
    before = signal.signal(signal.SIGVTALRM, _late)
    try:
        for data in documents:
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            try:
                read(data)
            except InputError:
                pass
            except (Exception, Hang) as error:
                found.append(f"{type(error).__name__}: {error}: {data[:300]!r}")
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return found


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_sample_of_odd_places(kind: str) -> None:
    assert _wrong(kind, islice(DOCUMENTS[kind](), 3, None, 13)) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_odd_place(kind: str) -> None:
    assert _wrong(kind, DOCUMENTS[kind]()) == []
