"""Damaged graph and weights files: refused with a place, or read into what can be written and read again."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from gslang.base.diagnostics import InputError
from gslang.dialect.load import load_dialect
from gslang.formats.registry import graph_from_bytes, graph_text
from gslang.formats.weights import attach_params
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32], %b: Tensor[(4), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %b) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %2 = split(%1, indices_or_sections=2, axis=1);
  %3 = (%2.0, %2.1);
  %4 = clip(concatenate(%3, axis=1), a_min=0f, a_max=6f);
  let %y = cast(%4, dtype="int64") + 2i64;
  (%y, max(%4, axis=[2, 3]), meta[relay.Constant][0])
}
"""
SIGNS = [
    *'(){}[];,=>.:"\n%/-', "/*", "*/", "null", "-1", "1e999", "NaN", '"\\ud800"', "?", "int64", ".0",
    "let %z = ", "meta[a][0]",
]
NUMBERS = ["0", "-1", "7", "2.5", "99999999999999999999", "9223372036854775807", "null", "1e400"]
VALUES: list[Any] = [
    None, True, 0, -1, 3, 0.5, -(2**31), 2**63, "", "x", "float32", [], {}, [1], [[1]], "NHWC", [None], ["n"],
    1e30,
]


def dialect() -> Any:
    return load_dialect("relay")


def document() -> str:
    return graph_text(graph_from_bytes(RELAY.encode(), "whole", "relay"), "json")


def mangled(random: Random, text: str) -> str:
    """The text with one to three mistakes."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(text))
        found = list(re.finditer(random.choice((r"\d+", r"\w{2,}")), text))
        match random.randrange(4):
            case 0:
                text = text[:at] + random.choice(SIGNS) + text[at:]
            case 1:
                text = text[:at] + text[at + random.randint(1, 12) :]
            case 2 if found:
                one = random.choice(found)
                other = random.choice(NUMBERS) if one.group().isdigit() else random.choice(found).group()
                text = text[: one.start()] + other + text[one.end() :]
            case _:
                other = random.randrange(len(text))
                text = text[:at] + text[other : other + 30] + text[at:]
    return text


def misshapen(random: Random, text: str) -> str:
    """A JSON document with one to three values that are others, twice there or not at all."""
    document = json.loads(text)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places: list[tuple[Any, Any]] = []
        stack: list[Any] = [document]
        while stack:
            holder = stack.pop()
            inside = (
                list(holder) if isinstance(holder, dict)
                else range(len(holder)) if isinstance(holder, list)
                else ()
            )
            places += [(holder, key) for key in inside]
            stack += [holder[key] for key in inside]
        holder, key = random.choice(places)
        match random.randrange(3):
            case 0:
                del holder[key]
            case 1:
                holder[key] = random.choice(VALUES)
            case _:
                other, its = random.choice(places)
                holder[key] = (
                    json.loads(json.dumps(other[its])) if other is not holder or its != key else None
                )
    return json.dumps(document)


def read_and_written(text: str, format: str) -> None:
    try:
        graph = graph_from_bytes(text.encode(), f"damaged.{format}", format, dialect=dialect())
    except InputError as error:
        assert str(error).startswith(f"damaged.{format}:")
        return
    if graph.meta.get("warnings"):
        return
    for other in ("json", "relay"):
        try:
            written = graph_text(graph, other)
        except InputError:
            continue
        assert (
            len(graph_from_bytes(written.encode(), f"again.{other}", other, dialect=dialect()))
            <= len(graph) + 1
        )


@pytest.mark.parametrize("seed", range(8))
def test_damaged_relay_text(seed: int) -> None:
    random = Random(seed)
    for _ in range(60):
        read_and_written(mangled(random, RELAY), "relay")


@pytest.mark.parametrize("seed", range(8))
def test_damaged_json(seed: int) -> None:
    random, whole = Random(seed), document()
    for _ in range(60):
        read_and_written(mangled(random, whole), "json")
        read_and_written(misshapen(random, whole), "json")


def dense() -> Graph:
    build = Builder(dialect())
    return build.finish(build.call("nn.dense", build.input("x", (2, 3)), build.input("w", (4, 3))))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_archives(seed: int, tmp_path: Path) -> None:
    random, file = Random(seed), io.BytesIO()
    np.savez_compressed(file, w=np.ones((4, 3), "float32"))
    path = tmp_path / "w.npz"
    for _ in range(60):
        data = bytearray(file.getvalue())
        for _ in range(random.randint(1, 3)):
            data[random.randrange(len(data))] = random.randrange(256)
        path.write_bytes(data)
        graph = dense()
        try:
            attach_params(graph, path)
            for node in list(graph.values):
                graph.value(node)
        except InputError as error:
            assert str(path) in str(error)


def test_an_archive_of_a_later_version(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    np.savez(path, w=np.ones((4, 3), "float32"))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 6] = 99  # the version needed to read it
    path.write_bytes(data)
    with pytest.raises(InputError, match="this is not an .npz file: zip file version 9.9"):
        attach_params(dense(), path)


@pytest.mark.parametrize(
    ("before", "after", "warning"),
    [
        ("kernel_size=[3, 3]", "kernel_size=[2.5, 3]", "attribute `kernel_size` of `nn.conv2d` is `int"),
        ("a_max=6f", "b_max=6f", "`clip` is declared without an attribute `b_max`"),
        ("padding=[1, 1, 1, 1]", "padding=[1, 1, 1, 99999999999999999999]", "the result would be float32"),
        ('dtype="int64"', 'dtype="inv64"', "unknown data type `inv64`"),
        (
            "nn.bias_add(%0, %b)", "nn.bias_add(%0, %b, %b)",
            "`nn.bias_add` has 2 operands (data, bias), not 3",
        ),
    ],
)
def test_calls_that_fit_no_declaration_are_warned_of(before: str, after: str, warning: str) -> None:
    assert before in RELAY and not graph_from_bytes(RELAY.encode(), "f", "relay").meta.get("warnings")
    graph = graph_from_bytes(RELAY.replace(before, after).encode(), "f", "relay")
    assert any(warning in said for said in graph.meta["warnings"]), graph.meta["warnings"]


def test_an_empty_data_type_is_that_of_the_operands() -> None:
    text = RELAY.replace("channels=4", 'channels=4, out_dtype=""')
    assert not graph_from_bytes(text.encode(), "f", "relay").meta.get("warnings")
    read_and_written(text, "relay")


@pytest.mark.parametrize(
    "type",
    [
        "Tensor[(99999999999999999999, 3), float32]", "Tensor[(-1, 3), float32]", "Tensor[(1), float33]",
        "float0",
    ],
)
def test_types_that_nothing_has(type: str) -> None:
    with pytest.raises(InputError, match="f:1:15: expected .*type|f:1:15: .*the type"):
        graph_from_bytes(f"def @main(%x: {type}) {{ %x }}".encode(), "f", "relay")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"op": "global", "inputs": []}, "`global` without `name`"),
        ({"op": "fn", "inputs": []}, "`fn` without `text`"),
        ({"op": "call", "inputs": []}, "a call of a value that is not a function"),
        ({"op": "memory.alloc", "inputs": ["x"]}, "an operator called `memory.alloc`"),
    ],
)
def test_what_only_relay_text_means(node: dict[str, Any], message: str) -> None:
    nodes = [
        {"id": "x", "kind": "input", "shape": [], "dtype": "float32"}, {"id": "y", "kind": "call", **node},
    ]
    graph = graph_from_bytes(
        json.dumps({
            "format": "gsl-graph",
            "version": 1,
            "nodes": [*nodes, {"id": "t", "kind": "tuple", "inputs": ["x", "y"]}],
            "outputs": ["t"],
        }).encode(),
        "f", "json",
    )
    with pytest.raises(InputError, match=message):
        graph_text(graph, "relay")
