"""Formats by suffix and name, standard streams, dialects, weights, and writing whole or not at all."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from gslang.base.diagnostics import InputError
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.formats.registry import format_of, graph_text, read_graph, write_graph
from gslang.formats.weights import write_weights
from gslang.graph.compare import differences
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_types

DIALECT = load_dialect("relay")


def sample(rows: object = 4) -> Graph:
    graph = Graph()
    x = graph.add_input("x", TensorType((2, 3), "float32"))
    w = graph.add_param("w", TensorType((rows, 3), "float32"))  # type: ignore[arg-type]
    graph.set_outputs([graph.add("nn.relu", [graph.add("nn.dense", [x, w], {"units": None})])])
    assert infer_types(graph, DIALECT) == []
    return graph


class Stream:
    """A standard stream with bytes below."""

    def __init__(self, data: bytes = b"") -> None:
        self.buffer = io.BytesIO(data)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("name", ["g.json", "g.relay", "g.txt", "G.JSON"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    write_graph(sample(), tmp_path / name)
    assert differences(sample(), read_graph(tmp_path / name), DIALECT, across_formats=True) == []
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_format_can_be_named(tmp_path: Path) -> None:
    write_graph(sample(), tmp_path / "g.dat", "json")
    assert differences(sample(), read_graph(tmp_path / "g.dat", input_format="json"), DIALECT) == []
    with pytest.raises(InputError, match="did you mean `relay`"):
        read_graph(tmp_path / "g.dat", input_format="rely")
    assert format_of("a.onnx") == "onnx"
    assert format_of("a.onnx", "json") == "json"


@pytest.mark.parametrize(
    ("name", "message", "help"),
    [
        ("g.jsn", "cannot infer the format from the file name", "did you mean `.json`?"),
        (
            "g", "cannot infer the format from the file name",
            "use .json, .relay or .onnx, or state the format",
        ),
        ("g.onnx", "this is not an ONNX model: it has no graph", "is the file complete?"),
        ("g.dot", "`dot` files can be written, but not read", "formats: json, relay, onnx, onnxtxt"),
    ],
)
def test_formats_that_cannot_be_read(tmp_path: Path, name: str, message: str, help: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(InputError) as caught:
        read_graph(tmp_path / name)
    assert (caught.value.message, caught.value.help, caught.value.path) == (
        message, help, str(tmp_path / name),
    )


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    write_graph(sample(), tmp_path / "graph.json")
    with pytest.raises(InputError, match="no such file\n  help: did you mean `.*graph.json`"):
        read_graph(tmp_path / "grpah.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="cannot be read: is a directory"):
        read_graph(tmp_path / "folder.json")
    (tmp_path / "bad.relay").write_bytes(b"\xff")
    with pytest.raises(InputError, match="bad.relay:1:1: byte 0xff is not UTF-8"):
        read_graph(tmp_path / "bad.relay")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.json"
    path.write_text("old")
    with pytest.raises(InputError, match="a graph of dialect `relay` cannot be an ONNX model"):
        write_graph(sample(), path, "onnx")

    def full(source: str, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InputError, match="cannot be written: no space left on device"):
        write_graph(sample(), path)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("g.json", "old")]
    with pytest.raises(InputError, match="cannot be written: no such file"):
        write_graph(sample(), tmp_path / "none" / "g.json")


@pytest.mark.parametrize("format", ["json", "relay"])
def test_standard_streams(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = Stream()
    monkeypatch.setattr(sys, "stdout", out)
    write_graph(sample(), "-", format)
    data = out.buffer.getvalue()
    assert data.decode() == graph_text(sample(), format)
    monkeypatch.setattr(sys, "stdin", Stream(b"\xef\xbb\xbf" + data))
    assert differences(sample(), read_graph("-"), DIALECT, across_formats=True) == []
    monkeypatch.setattr(sys, "stdin", Stream(b"{"))
    with pytest.raises(InputError, match="^<stdin>:1:2: not JSON"):
        read_graph("-")


MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { y = Relu(x) }
"""


@pytest.mark.parametrize("format", ["onnx", "onnxtxt"])
def test_models_on_standard_input(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = onnx.parser.parse_model(MODEL).SerializeToString() if format == "onnx" else MODEL.encode()
    monkeypatch.setattr(sys, "stdin", Stream(data))
    graph = read_graph("-")
    assert [graph.op[node] for node in graph.outputs] == ["Relu"]
    monkeypatch.setattr(sys, "stdin", Stream(data))
    with pytest.raises(InputError, match="begin the rule file with `dialect onnx;`.* `std.onnx`"):
        read_graph("-", dialect=DIALECT)


def test_standard_output_gets_the_format_of_the_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    for dialect, start in (("relay", b"#[version"), ("other", b"{")):
        graph, out = sample(), Stream()
        graph.dialect = dialect
        monkeypatch.setattr(sys, "stdout", out)
        write_graph(graph)
        assert out.buffer.getvalue().startswith(start)


def test_dialects(tmp_path: Path) -> None:
    graph = sample()
    graph.dialect = "rleay"
    write_graph(graph, tmp_path / "g.json")
    with pytest.raises(InputError, match="/dialect: unknown dialect `rleay`"):
        read_graph(tmp_path / "g.json")
    with pytest.raises(InputError, match="cannot be Relay text"):
        write_graph(graph, tmp_path / "g.relay")
    write_graph(sample(), tmp_path / "g.relay")
    with pytest.raises(InputError, match="rules are of dialect `other`\n  help: .*std.relay"):
        read_graph(tmp_path / "g.relay", dialect=Dialect("other", {}))


def test_weights_come_with_the_graph(tmp_path: Path) -> None:
    write_graph(sample(rows=UNKNOWN), tmp_path / "g.json")
    write_weights(tmp_path / "p.npz", {"w": np.ones((5, 3), "float32")})
    graph = read_graph(tmp_path / "g.json", params=tmp_path / "p.npz")
    assert str(graph.types[graph.outputs[0]]) == "float32[2, 5]"
    assert graph.value(1).sum() == 15


def test_weights_whose_shapes_the_operators_refuse(tmp_path: Path) -> None:
    graph = Graph()
    x, w = (
        graph.add_input("x", TensorType((2, 3), "float32")),
        graph.add_param("w", TensorType(None, "float32")),
    )
    graph.set_outputs([graph.add("nn.dense", [x, w], name="d")])
    write_graph(graph, tmp_path / "g.json")
    write_weights(tmp_path / "p.npz", {"w": np.ones((5, 4), "float32")})
    with pytest.raises(InputError, match="`nn.dense` of `d`, with the shapes of .*p.npz: "):
        read_graph(tmp_path / "g.json", params=tmp_path / "p.npz")


def test_dot() -> None:
    graph = sample()
    graph.name = 'a "name"\\'
    text = graph_text(graph, "dot")
    assert text.startswith('digraph "a \\"name\\"\\\\" {\n')
    assert text.count("->") == 3
    assert '[label="float32[2, 4]"' in text
    assert text.count("{") == text.count("}") == 1
