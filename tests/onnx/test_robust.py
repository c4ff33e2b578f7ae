"""Damaged, odd and hostile models: a clear error or a result, never a traceback."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

import gslang
from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from tests.onnx.models import branching, model, value

node = helper.make_node
RULES = (
    "dialect onnx;\nrule neg(x): Neg(Neg(x)) => x; rule relu(x): Relu(x) => Max(x, 0.0); rule gemm(a, b, c: "
    "const): MatMul(a, b) + c => Gemm(a, b, c);"
    " rule shape(x) { s = Squeeze(x); s where s.axes == (0,) => Reshape(x, s.shape) } rule zero(x): x + "
    "splat(0.0) => x;"
)


def chain() -> Any:
    nodes = [
        node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["a"]), node("Relu", ["a"], ["r"]),
        node("Neg", ["r"], ["n"]), node("Neg", ["n"], ["y"]),
    ]
    return model(
        nodes, [value("x")], [value("y", (2, 4))],
        {"w": np.ones((3, 4), np.float32), "b": np.zeros(4, np.float32)},
    )


def outcome(data: bytes, folder: Path) -> str:
    """What became of a file: "error" or "written". Anything else raises."""
    (folder / "m.onnx").write_bytes(data)
    try:
        graph = gslang.read(folder / "m.onnx")
        result = rules().apply(graph, fold=True)
        gslang.write(result.graph, folder / "o.onnx")
    except InputError as error:
        assert str(error).strip() and "Traceback" not in str(error)
        return "error"
    return "written"


_RULES: list[Any] = []


def rules() -> Any:
    if not _RULES:
        _RULES.append(gslang.parse_rules(RULES))
    return _RULES[0]


def changed(change: Callable[[Any], None], start: Callable[[], Any] = chain) -> bytes:
    found = start()
    change(found)
    data: bytes = found.SerializeToString()
    return data


def _nan(m: Any) -> None:
    m.graph.initializer[0].raw_data = np.full((3, 4), np.nan, np.float32).tobytes()


def _cycle(m: Any) -> None:
    m.graph.node[0].input[0] = "r"


def _itself(m: Any) -> None:
    m.graph.node[0].input[0] = "m"


def _dims(*dims: int) -> Callable[[Any], None]:
    def change(m: Any) -> None:
        m.graph.initializer[0].dims[:] = dims

    return change


def _drop(field: str) -> Callable[[Any], None]:
    return lambda m: m.ClearField(field) if field != "graph.node" else m.graph.ClearField("node")


ODD: dict[str, tuple[Callable[[Any], None], str]] = {
    "NaN weights": (_nan, "written"),
    "two makers of a value": (lambda m: m.graph.node.append(node("Relu", ["x"], ["a"])), "error"),
    "two inputs of one name": (lambda m: m.graph.input.append(value("x")), "error"),
    "two initializers of one name": (lambda m: m.graph.initializer.append(m.graph.initializer[0]), "written"),
    "an input that a node makes too": (lambda m: m.graph.node.append(node("Relu", ["m"], ["x"])), "error"),
    "no nodes": (
        lambda m: (
            m.graph.ClearField("node"), m.graph.ClearField("output"), m.graph.output.append(value("x")),
        ),
        "written",
    ),  # type: ignore[dict-item, func-returns-value]
    "an empty graph": (lambda m: (m.graph.Clear(), m.graph.SetInParent()), "written"),  # type: ignore[dict-item, func-returns-value]
    "no graph": (_drop("graph"), "error"),
    "no operator set": (_drop("opset_import"), "error"),
    "an operator set from the future": (lambda m: setattr(m.opset_import[0], "version", 9999), "written"),
    "operator set zero": (lambda m: setattr(m.opset_import[0], "version", 0), "written"),
    "a negative operator set": (lambda m: setattr(m.opset_import[0], "version", -3), "written"),
    "no IR version": (_drop("ir_version"), "written"),
    "a cycle": (_cycle, "error"),
    "a node that reads itself": (_itself, "error"),
    "an undefined value": (lambda m: m.graph.node[0].input.__setitem__(0, "nowhere"), "error"),
    "an undefined output": (lambda m: m.graph.output.append(value("nowhere")), "error"),
    "an unknown operator": (lambda m: setattr(m.graph.node[2], "op_type", "Frobnicate"), "written"),
    "no operator": (lambda m: m.graph.node[2].ClearField("op_type"), "error"),
    "an unknown domain": (lambda m: setattr(m.graph.node[2], "domain", "com.nobody"), "written"),
    "an unknown attribute": (
        lambda m: m.graph.node[2].attribute.append(helper.make_attribute("zeal", 3)), "written",
    ),
    "an attribute without a type": (lambda m: m.graph.node[2].attribute.add(name="alpha"), "written"),
    "an attribute of another type": (
        lambda m: m.graph.node[3].attribute.append(helper.make_attribute("axis", "one")), "written",
    ),
    "too many operands": (lambda m: m.graph.node[2].input.extend(["m", "m", "m"]), "written"),
    "too few operands": (lambda m: m.graph.node[1].input.pop(), "written"),
    "too many results": (lambda m: m.graph.node[2].output.append("more"), "error"),
    "element types that differ": (
        lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", TensorProto.INT64), "written",
    ),
    "an unknown element type": (lambda m: setattr(m.graph.initializer[0], "data_type", 99), "written"),
    "an element type of zero": (
        lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 0), "written",
    ),
    "huge dimensions": (_dims(2**40, 2**40), "any"),
    "negative dimensions": (_dims(-3, -4), "any"),
    "dimensions that overflow": (_dims(2**62, 4), "any"),
    "more data than the shape": (_dims(1, 1), "any"),
    "less data than the shape": (_dims(300, 400), "any"),
    "a negative input dimension": (
        lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_value", -7), "written",
    ),
    "an input without a type": (lambda m: m.graph.input[0].ClearField("type"), "written"),
    "an input without a name": (lambda m: m.graph.input.add(), "any"),
    "a shape that contradicts": (lambda m: m.graph.value_info.append(value("a", (7, 7, 7))), "written"),
    "a very long name": (lambda m: setattr(m.graph.node[2], "name", "n" * 10**6), "written"),
    "control characters in names": (lambda m: setattr(m.graph.node[2], "name", "a\x00\n\x1b[31m"), "written"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_models(name: str, tmp_path: Path) -> None:
    change, expected = ODD[name]
    found = outcome(changed(change), tmp_path)
    assert expected in ("any", found)
    if found == "written":
        gslang.read(tmp_path / "o.onnx")


@pytest.mark.parametrize("name", ODD)
def test_odd_models_on_the_command_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").write_bytes(changed(ODD[name][0]))
    (tmp_path / "r.gsl").write_text(RULES)
    command = [
        str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "-o", str(tmp_path / "o.onnx"), "--check-numbers",
        "--fold",
    ]
    assert main(command) in (0, 1, 3)
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"PK\x03\x04", b"{}", b"\xff" * 100, b"\x08\x08", b"onnx", bytes(range(256))],
    ids=repr,
)
def test_what_is_no_model(data: bytes, tmp_path: Path) -> None:
    assert outcome(data, tmp_path) == "error"


def test_cut_off_at_every_byte(tmp_path: Path) -> None:
    data = changed(lambda m: None)
    for end in range(0, len(data), 7):
        outcome(data[:end], tmp_path)


def test_external_data_elsewhere(tmp_path: Path) -> None:
    for location in ("../w", "/etc/passwd", "a/../../w", "", "C:\\w", "..\\w", "\x00"):
        found = chain()
        tensor = found.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
        assert outcome(found.SerializeToString(), tmp_path) == "error", location


def test_external_data_that_is_not_there(tmp_path: Path) -> None:
    """Only who reads it needs it."""
    for key, text in (
        ("length", "48"), ("offset", "99999"), ("length", "x"), ("offset", "-1"), ("length", "-5"),
    ):
        found = chain()
        tensor = found.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.data")
        tensor.external_data.add(key=key, value=text)
        (tmp_path / "w.data").write_bytes(bytes(8))
        outcome(found.SerializeToString(), tmp_path)


def test_a_long_chain(tmp_path: Path) -> None:
    nodes = [node("Neg" if k % 2 else "Abs", [f"v{k}"], [f"v{k + 1}"]) for k in range(20_000)]
    assert outcome(model(nodes, [value("v0")], [value("v20000")]).SerializeToString(), tmp_path) == "written"


# ── random damage ───────────────────────────────────────────────────────────────────────────────────────────


def _bases() -> list[bytes]:
    found = [chain().SerializeToString(), branching().SerializeToString()]
    with_sparse = chain()
    with_sparse.graph.sparse_initializer.add().values.name = "s"
    with_sparse.functions.append(helper.make_function(
        "com.me", "F", ["a"], ["b"], [node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 17)]
    ))
    return [*found, with_sparse.SerializeToString()]


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(
    base=st.integers(0, 2),
    places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_changed_bytes(tmp_path: Path, base: int, places: list[tuple[int, int]]) -> None:
    data = bytearray(_bases()[base])
    for place, byte in places:
        data[place % len(data)] = byte
    outcome(bytes(data), tmp_path)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(base=st.integers(0, 2), seed=st.integers(0, 10**9))
def test_moved_bytes(tmp_path: Path, base: int, seed: int) -> None:
    """Pieces dropped, doubled and exchanged."""
    data = _bases()[base]
    random_ = random.Random(seed)
    for _ in range(random_.randrange(1, 4)):
        a, b = sorted(random_.randrange(len(data)) for _ in range(2))
        data = random_.choice(
            [data[:a] + data[b:], data[:b] + data[a:b] + data[b:], data[:a] + data[a:b][::-1] + data[b:]]
        )
    outcome(data, tmp_path)


@pytest.mark.long
def test_damaged_real_models(tmp_path: Path) -> None:
    light = sorted(Path(onnx.__file__).parent.glob("backend/test/data/light/*.onnx"))
    for path in light[:4]:
        data = path.read_bytes()
        random_ = random.Random(path.name)
        for _ in range(60):
            damaged = bytearray(data)
            for _ in range(random_.randrange(1, 6)):
                damaged[random_.randrange(len(damaged))] = random_.randrange(256)
            outcome(bytes(damaged), tmp_path)


def test_documentation_that_is_no_text_stays_as_it_is(tmp_path: Path) -> None:
    """Written in Latin-1 by some old tool; names must be texts, documentation and metadata need not."""
    found = model([node("Neg", ["x"], ["a"]), node("Neg", ["a"], ["y"])], [value("x")], [value("y")])
    found.doc_string = found.graph.doc_string = "Gr__e" * 40
    found.producer_name = "Gr__e"
    found.metadata_props.add(key="Gr__e", value="gslang.")
    found.graph.node[0].metadata_props.add(key="gslang.rule", value="Gr__e")
    data = found.SerializeToString(deterministic=True).replace(b"Gr__e", b"Gr\xfc\xdfe")
    (tmp_path / "m.onnx").write_bytes(data)
    graph = gslang.read(tmp_path / "m.onnx")
    gslang.write(graph, tmp_path / "o.onnx")
    assert onnx.load(tmp_path / "o.onnx") == onnx.load(tmp_path / "m.onnx")
    rules = gslang.parse_rules("dialect onnx;\nrule r(x): Neg(Neg(x)) => x;")
    gslang.write(rules.apply(graph).graph, tmp_path / "p.onnx")
    after = onnx.load(tmp_path / "p.onnx")
    assert [n.op_type for n in after.graph.node] == [
        "Identity"
    ] and after.doc_string == b"Gr\xfc\xdfe" * 40 == after.graph.doc_string


def test_an_attribute_of_another_kind() -> None:
    """`axes` is an operand today, and was a list of numbers; as a text it cannot be brought to today's form.
    """
    found = model(
        [node("Squeeze", ["x"], ["y"], name="s", axes="no")], [value("x", (1, 3))], [value("y", (3,))],
        opset=11,
    )
    with pytest.raises(InputError, match="`axes` of `Squeeze` is neither a number nor a list of numbers"):
        gslang.from_onnx(found)


@pytest.mark.parametrize("suffix, code", [("json", 3), ("dot", 0), ("svg", 0), ("onnx", 0)])
def test_text_that_is_not_utf8(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str, code: int
) -> None:
    texts = node("Constant", [], ["y"], value_strings=[b"a", b"\xff"])
    onnx.save(model([texts], [], [value("y", None, TensorProto.STRING)]), tmp_path / "m.onnx")
    assert main(["convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / f"out.{suffix}")]) == code
    assert ("not UTF-8" in capsys.readouterr().err) == bool(code)


@pytest.mark.parametrize("length, good", [(None, True), (24, True), (20, False), (1 << 40, False)])
def test_external_data_are_as_long_as_their_shape_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], length: int | None, good: bool
) -> None:
    """The file is larger: what lies behind the data is neither read nor copied."""
    found = model([node("Add", ["x", "w"], ["y"])], [value("x", (2, 3))], [value("y", (2, 3))])
    weight = TensorProto(name="w", data_type=1, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.data")
    if length is not None:
        weight.external_data.add(key="length", value=str(length))
    found.graph.initializer.append(weight)
    (tmp_path / "m.onnx").write_bytes(found.SerializeToString())
    with (tmp_path / "w.data").open("wb") as file:
        file.truncate(1 << 41)
    out = tmp_path / "out.onnx"
    words = ["convert", str(tmp_path / "m.onnx"), "-o", str(out), "--external", "copy"]
    assert main(words) == (0 if good else 3)
    assert good or "its shape needs 24" in capsys.readouterr().err
    assert not good or (tmp_path / "out.onnx.data").stat().st_size == 24
