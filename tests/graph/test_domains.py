"""Values of attributes that no call of their operator has, in graphs that are read: a warning, and nothing
else.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslang.cli.main import main
from gslang.formats.registry import read_graph


def graph(*nodes: dict[str, object]) -> str:
    x = {"id": "x", "kind": "input", "shape": [2, 3], "dtype": "float32"}
    return json.dumps({
        "format": "gsl-graph",
        "version": 1,
        "dialect": "relay",
        "nodes": [x, *nodes],
        "outputs": [str(nodes[-1]["id"])],
    })


def call(name: str, op: str, *inputs: str, **attrs: object) -> dict[str, object]:
    return {"id": name, "kind": "call", "op": op, "inputs": list(inputs), "attrs": attrs}


@pytest.mark.parametrize(
    ("node", "warning"),
    [
        (
            call("y", "nn.pad", "x", pad_width=[[0, 0], [1, 1]], pad_mode="constnt"),
            '`nn.pad` of `y`: `pad_mode` cannot be `"constnt"`; did you mean `"constant"`?',
        ),
        (call("y", "nn.softmax", "x", axis=-1), None),
        (call("y", "nn.pad", "x", pad_width=[[0, 0], [1, 1]], pad_mode="edge"), None),
    ],
)
def test_json(
    node: dict[str, object], warning: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.json"
    path.write_text(graph(node))
    found = read_graph(path).meta.get("warnings", [])
    assert found == ([] if warning is None else [f"{path}: {warning}"])
    assert main(["convert", str(path), "-o", str(tmp_path / "o.json")]) == 0
    assert ("warning" in capsys.readouterr().err) == (warning is not None)


def test_each_value_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(graph(
        *(call(f"y{k}", "nn.pad", "x", pad_width=[[0, 0], [1, 1]], pad_mode="constnt") for k in range(5)),
        {"id": "t", "kind": "tuple", "inputs": [f"y{k}" for k in range(5)]},
    ))
    assert len(read_graph(path).meta["warnings"]) == 1


def test_onnx(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    value = [helper.make_tensor_value_info(name, 1, [1, 1, 4, 4]) for name in ("x", "y")]
    node = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], auto_pad="SAME_UPER")
    onnx.save(
        helper.make_model(
            helper.make_graph([node], "g", value[:1], value[1:]), opset_imports=[helper.make_opsetid("", 20)]
        ),
        tmp_path / "m.onnx",
    )
    assert any(
        '`auto_pad` cannot be `"SAME_UPER"`; did you mean `"SAME_UPPER"`?' in text
        for text in read_graph(tmp_path / "m.onnx").meta["warnings"]
    )
