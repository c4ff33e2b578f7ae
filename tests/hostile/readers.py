"""What reads each kind of file, and well-formed and hostile files to begin with: all mistakes of `fuzz` start
from these.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError
from tests.hostile.corpus import GRAPH, RULES, corpus
from tests.hostile.onnx_text import RELU

if TYPE_CHECKING:
    from gslang.api.rule_set import RuleSet

RELAY = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = split(%0, indices_or_sections=2, axis=1)
    /* ty=(Tensor[(1, 2, 8, 8), float32], Tensor[(1, 2, 8, 8), float32]) */;
  let %y = cast(clip(%1.0, a_min=0f, a_max=6f), dtype="int64") + 2i64;
  (%y, max(%1.1, axis=[2, 3]))
}
"""
CONFIG = (
    b'[lint]\nselect = ["L01", "all"]\nignore = ["L0108"]\nexclude = ["a/*.gsl"]\n\n[lint.per-file-ignores]\n'
    b'"b/**" = ["L02"]\n'
)
NPY = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
SAFETENSORS = (
    b'{"x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "w": {"dtype": "I64", "shape": [], '
    b'"data_offsets": [24, 32]}}'
)
COSTS = (
    b'op\tinput_shapes\tattrs\tcost\nnn.relu\t2x3x4\t\t3.5\nadd\t2x3;2x3\t\t1e-3\n'
    b'transpose\t2x3x4\t{"axes":[0,2,1]}\t7\n'
)
SUBSTITUTIONS = json.dumps([{
    "index": 0,
    "srcOp": [
        {"type": "OP_RELU", "inputs": [{"opId": -1, "tsId": 0}], "params": []},
        {
            "type": "OP_CONCAT",
            "inputs": [{"opId": 0, "tsId": 0}, {"opId": -2, "tsId": 0}],
            "params": [{"key": "PM_AXIS", "value": 1}, {"key": "PM_NUMDIM", "value": 3}],
        },
    ],
    "dstOp": [{
        "type": "OP_CONCAT",
        "inputs": [{"opId": -1, "tsId": 0}, {"opId": -2, "tsId": 0}],
        "params": [{"key": "PM_AXIS", "value": 1}, {"key": "PM_NUMDIM", "value": 3}],
    }],
    "mappedOutputs": [{"srcOpId": 1, "dstOpId": 0, "srcTsId": 0, "dstTsId": 0}],
}]).encode()


@dataclass(frozen=True)
class Reader:
    """`share`: how many of a hundred inputs it gets. `files`: what mistakes are made in."""

    share: int
    files: tuple[bytes, ...]
    read: Callable[[bytes], None]


# ── readers, and what comes behind them ─────────────────────────────────────────────────────────────────────


def _read_rules(data: bytes) -> None:
    from gslang.base.render import render_text
    from gslang.base.source import Source
    from gslang.check.check import check_source
    from gslang.fmt.format_source import format_source
    from gslang.syntax.parser import source_of

    source = source_of("fuzz.gsl", data)
    if isinstance(source, Source):
        render_text(check_source(source).diagnostics)
        format_source(source)


def _read_graph(format: str) -> Callable[[bytes], None]:
    """Reads; rewrites what could be read, with folding; writes it, and reads that again."""

    def read(data: bytes) -> None:
        from gslang.formats.registry import graph_from_bytes, graph_text

        graph = graph_from_bytes(data, f"fuzz.{format}", format)
        result = _shipped(graph.dialect).apply(graph, fold=True, limit=200).graph
        if format == "onnx":
            from gslang.formats.onnx import onnx_model

            graph_from_bytes(onnx_model(result).SerializeToString(), "again.onnx", "onnx")
        else:
            graph_from_bytes(
                graph_text(result, format).encode("utf-8", "surrogatepass"), f"again.{format}", format
            )

    return read


@cache
def _shipped(dialect: str) -> RuleSet:
    from gslang import api

    return api.load(f"std.{dialect}")


def _read_onnx_text(data: bytes) -> None:
    """A model as protobuf's text, so that most mistakes leave one that can be parsed."""
    import onnx
    from google.protobuf import text_format

    try:
        model = text_format.Parse(data, onnx.ModelProto())
    except (text_format.ParseError, UnicodeDecodeError):
        raise InputError("this is no text of a model") from None
    _read_graph("onnx")(model.SerializeToString())


def _read_weights(suffix: str, packed: Callable[[bytes], bytes] = bytes) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        from gslang.formats.weights import open_weights

        path = _folder() / f"w{suffix}"
        path.write_bytes(packed(data))
        arrays = open_weights(path)
        for name in list(arrays)[:20]:
            if math.prod(arrays.type_of(name).shape or ()) < 10**6:
                arrays[name]

    return read


def _read_trace(data: bytes) -> None:
    from gslang.cli.trace_file import read_trace

    path = _folder() / "t.jsonl"
    path.write_bytes(data)
    list(read_trace(str(path)))


def _replay(data: bytes) -> None:
    from gslang.cli.trace_file import read_trace
    from gslang.engine.replay import ReplayError
    from gslang.formats.registry import graph_from_bytes

    path = _folder() / "t.jsonl"
    path.write_bytes(data)
    try:
        _rules_to_replay().replay(
            graph_from_bytes(GRAPH, "g.json", "json"), list(read_trace(str(path)))
        )
    except ReplayError:
        raise InputError("the trace does not fit") from None


@cache
def _rules_to_replay() -> RuleSet:
    from gslang import api

    return api.parse_rules(RULES.decode())


def _read_config(data: bytes) -> None:
    from gslang.lint.configuration import find_configuration

    path = _folder() / "gslang.toml"
    path.write_bytes(data)
    find_configuration(_folder())


def _read_cache(data: bytes) -> None:
    from gslang.base.plain_data import from_bytes

    try:
        from_bytes(data)
    except Exception:  # whatever it is: the result is computed again
        raise InputError("this is no result") from None


def _read_file(suffix: str, read: Callable[[str], object]) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        path = _folder() / f"f{suffix}"
        path.write_bytes(data)
        read(str(path))

    return run


def _read_egraph(path: str) -> None:
    from gslang.search.egraph_file import read_egraph
    from gslang.search.extract.greedy import greedy
    from gslang.search.extract.problem import Infeasible

    try:
        greedy(read_egraph(path).problem)
    except Infeasible:
        raise InputError("nothing can be extracted") from None


def _read_substitutions(path: str) -> None:
    from gslang.taso.read import read_substitutions

    read_substitutions(path)


def _read_pairs(path: str) -> None:
    from gslang.dialect.load import load_dialect
    from gslang.hosts.function_rule import NotSayable, rule_of
    from gslang.hosts.pairs import read_pairs

    for pair in read_pairs(path):
        with suppress(NotSayable):
            rule_of(pair, load_dialect("onnx"))


def _read_tensat(path: str) -> None:
    from gslang.hosts.tensat import read_tensat

    read_tensat(path)


def _read_costs(path: str) -> None:
    from gslang.search.cost.file_table import read_table

    read_table(path)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="gslang-fuzz-"))


def _as_npz(header: bytes) -> bytes:
    """An archive of one array with this header."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        text = header[:60_000] + b"\n"
        file.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(24))
    return stream.getvalue()


def _as_safetensors(header: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + bytes(32)


@cache
def _own() -> tuple[bytes, bytes]:
    """A trace and an e-graph that gslc wrote."""
    from gslang.cli.main import main

    folder = _folder()
    (folder / "r.gsl").write_bytes(RULES)
    (folder / "g.json").write_bytes(GRAPH)
    with redirect_stderr(io.StringIO()):
        given = [str(folder / "r.gsl"), str(folder / "g.json"), "-o", str(folder / "o.json")]
        assert main([*given, "--fold", "--trace", str(folder / "t.jsonl")]) == 0
        assert (
            main([
                "search", *given, "--require", "any", "--extract", "greedy", "--save-egraph",
                str(folder / "e.json"),
            ])
            == 0
        )
    return (folder / "t.jsonl").read_bytes(), (folder / "e.json").read_bytes()


@cache
def readers() -> dict[str, Reader]:
    """All readers by name; files have at most 3,000 bytes, rule files, which take longest, 1,000."""
    from google.protobuf import text_format
    from onnx import ModelProto

    hostile = corpus()

    def small(prefix: str, suffix: str = "", most: int = 3000) -> tuple[bytes, ...]:
        return tuple(
            data
            for name, data in sorted(hostile.items())
            if name.startswith(prefix) and name.endswith(suffix) and len(data) <= most
        )

    def texts() -> list[bytes]:
        found = []
        for data in small("onnx/"):
            try:
                found.append(text_format.MessageToString(ModelProto.FromString(data)).encode())
            except Exception:  # what is no model
                continue
        return [text for text in found if len(text) <= 6000]

    shipped = Path(__file__).parent.parent.parent / "stdlib_rules" / "relay"
    rules = [
        path.read_bytes()
        for path in sorted(shipped.glob("*.gsl")) if path.name not in ("ops.gsl", "passes.gsl")
    ]
    cut = tuple(
        b"dialect relay;\n" + item
        for text in rules
        for item in re.split(rb"\n(?=rule )", text) if len(item) < 700
    )
    trace, egraph = _own()
    return {
        "rules": Reader(6, (RULES, *cut, *small("rules/", most=1000)), _read_rules),
        "json": Reader(14, (GRAPH,) * 8 + small("json/"), _read_graph("json")),
        "relay": Reader(12, (RELAY,) * 8 + small("relay/"), _read_graph("relay")),
        "onnx": Reader(8, small("onnx/"), _read_graph("onnx")),
        "onnx as text": Reader(8, tuple(texts()), _read_onnx_text),
        "onnxtxt": Reader(3, (RELU.encode(),) * 4 + small("onnxtxt/"), _read_graph("onnxtxt")),
        "npz": Reader(6, small("weights/", ".npz"), _read_weights(".npz")),
        "npz, header": Reader(6, (NPY,), _read_weights(".npz", _as_npz)),
        "safetensors": Reader(5, small("weights/", ".safetensors"), _read_weights(".safetensors")),
        "safetensors, header": Reader(5, (SAFETENSORS,), _read_weights(".safetensors", _as_safetensors)),
        "traces": Reader(4, (trace,) * 4 + small("traces/"), _read_trace),
        "traces, replayed": Reader(3, (trace,), _replay),
        "configuration": Reader(7, (CONFIG,) * 4 + small("config/"), _read_config),
        "cache": Reader(3, small("cache/"), _read_cache),
        "e-graphs": Reader(3, (egraph,), _read_file(".json", _read_egraph)),
        "TASO's substitutions": Reader(2, (SUBSTITUTIONS,), _read_file(".json", _read_substitutions)),
        "onnxsim's pairs": Reader(2, small("hosts/onnxsim"), _read_file(".txt", _read_pairs)),
        "Tensat's rules": Reader(1, small("hosts/tensat"), _read_file(".rules", _read_tensat)),
        "cost tables": Reader(2, (COSTS,), _read_file(".tsv", _read_costs)),
    }
