"""Names of nodes in conditions, and what rules attach to the nodes that they make (`@attach`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gslang.api as api
from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.fmt.format_source import layout
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.graph.annotations import annotations_of
from gslang.graph.compare import differences
from gslang.highlight import words
from gslang.verify.verdict import Settings, verify_now

ATTACHED = {"backend": "npu", "stage": 2, "weight": -0.5, "fast": True}
RULE = """@attach(backend = "npu", stage = 2, weight = -0.5) @attach(fast = true)
rule to_npu(x): tanh(x) => exp(negative(x));
"""


def graph(*nodes: dict[str, object], outputs: tuple[str, ...]) -> str:
    x = {"id": "x", "kind": "input", "shape": [2, 3], "dtype": "float32"}
    return json.dumps({
        "format": "gsl-graph",
        "version": 1,
        "dialect": "relay",
        "nodes": [x, *nodes],
        "outputs": list(outputs),
    })


def call(name: str, op: str, *inputs: str, **more: object) -> dict[str, object]:
    return {"id": name, "kind": "call", "op": op, "inputs": list(inputs), **more}


SMALL = graph(call("y", "tanh", "x"), call("z", "sin", "y"), outputs=("z",))


@pytest.mark.parametrize("readable", [False, True])
def test_new_operators_carry_it(readable: bool) -> None:
    from contextlib import nullcontext

    from tests.engine.readable import readable_only

    with readable_only() if readable else nullcontext():
        after = api.parse_rules(RULE).apply(read_json(SMALL)).graph
    found = {after.op[n]: dict(annotations_of(after, n)) for n in after.nodes() if after.is_call(n)}
    assert found == {"negative": ATTACHED, "exp": ATTACHED, "sin": {}}
    assert write_json(read_json(write_json(after))) == write_json(after)


def test_several_outputs_and_stamps() -> None:
    """Each of many applications attaches, also those that are laid down from what the first one made."""
    nodes = [call(f"y{k}", "tanh", "x") for k in range(5)]
    after = (
        api.parse_rules(RULE).apply(read_json(graph(*nodes, outputs=tuple(f"y{k}" for k in range(5))))).graph
    )
    assert [dict(annotations_of(after, n)) for n in after.nodes() if after.is_call(n)] == [ATTACHED] * 10
    two = (
        '@attach(part = "both")\nrule two(x) { exp(x), tanh(x) => both = negative(x); sin(both), cos(both) }'
    )
    after = (
        api.parse_rules(two)
        .apply(read_json(graph(call("a", "exp", "x"), call("b", "tanh", "x"), outputs=("a", "b"))))
        .graph
    )
    assert [annotations_of(after, n).get("part") for n in after.nodes() if after.is_call(n)] == ["both"] * 3


def test_equal_calls_with_other_annotations_stay_apart() -> None:
    text = graph(
        call("a", "exp", "x", annotations={"backend": "npu"}), call("b", "exp", "x"),
        call("c", "exp", "x", annotations={"backend": "npu"}), outputs=("a", "b", "c"),
    )
    read = read_json(text)
    assert merge_equal_calls(read, load_dialect("relay")) == 1 and len({*read.outputs}) == 2


def test_diff_and_view_show_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.gsl").write_text(RULE)
    (tmp_path / "g.json").write_text(SMALL)
    assert (
        main([
            "apply", str(tmp_path / "r.gsl"), str(tmp_path / "g.json"), "-o", str(tmp_path / "a.json"),
            "--html", str(tmp_path / "a.html"),
        ])
        == 0
    )
    (tmp_path / "b.json").write_text((tmp_path / "a.json").read_text().replace('"stage": 2', '"stage": 3'))
    capsys.readouterr()
    assert main(["diff", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 1
    assert "annotation `stage` of exp `y`: 2 against 3" in capsys.readouterr().out
    assert not differences(
        read_json((tmp_path / "a.json").read_text()), read_json((tmp_path / "b.json").read_text())
    )
    assert "@backend" in (tmp_path / "a.html").read_text()
    assert (
        main(["view", str(tmp_path / "a.json"), "-o", str(tmp_path / "v.html")]) == 0
        and "@backend" in (tmp_path / "v.html").read_text()
    )
    capsys.readouterr()


@pytest.mark.parametrize(
    ("given", "place"),
    [("npu", "annotations"), ({"a": [{}]}, "annotations/a"), ({"a": None}, "annotations/a")],
)
def test_wrong_annotations_in_json(given: object, place: str) -> None:
    with pytest.raises(InputError, match=f"/nodes/1/{place}: expected"):
        read_json(graph(call("y", "tanh", "x", annotations=given), outputs=("y",)))


def test_onnx_keeps_it_in_metadata_props(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    value = [helper.make_tensor_value_info(name, 1, [2]) for name in ("x", "z")]
    nodes = [helper.make_node("Tanh", ["x"], ["y"], name="first"), helper.make_node("Relu", ["y"], ["z"])]
    nodes[1].metadata_props.add(key="exporter", value="kept")
    model = helper.make_model(
        helper.make_graph(nodes, "g", value[:1], value[1:]), opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )
    onnx.save(model, tmp_path / "m.onnx")
    rule = RULE.replace("tanh(x) => exp(negative(x))", "Tanh(x) => Exp(Neg(x))")
    (tmp_path / "r.gsl").write_text(f"dialect onnx;\n{rule}")
    assert (
        main(["apply", str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "-o", str(tmp_path / "o.onnx")])
        == 0
    )
    written = {
        node.op_type: {p.key: p.value for p in node.metadata_props}
        for node in onnx.load(tmp_path / "o.onnx").graph.node
    }
    assert written["Relu"] == {"exporter": "kept"} and written["Exp"] == written["Neg"]
    assert {k: v for k, v in written["Exp"].items() if "." not in k} == {
        "backend": "npu",
        "stage": "2",
        "weight": "-0.5",
        "fast": "true",
    }
    for way in (("o.onnx", "c.json"), ("c.json", "c.onnx"), ("c.onnx", "d.json")):
        assert main(["convert", str(tmp_path / way[0]), "-o", str(tmp_path / way[1])]) == 0
        assert main(["diff", str(tmp_path / "o.onnx"), str(tmp_path / way[1])]) == 0
    read = read_json((tmp_path / "d.json").read_text())
    assert [dict(annotations_of(read, n)) for n in read.nodes() if read.op[n] == "Exp"] == [ATTACHED]
    capsys.readouterr()


NAMED = """rule one(x) { y = tanh(x); y where y.name == "y" => -x }
rule part(x) { y = sin(x); y where "z" in y.name and x.name != "other" => cos(x) }
rule nameless(x) { y = negative(x); y where y.name == none => x }
rule told(x) { y = exp(x); y where y.name == "e" => my.named(y.name, x) }
""".replace("my.named(y.name, x)", "my.named(x, tag = y.name)")
NAMED = "op my.named(x: tensor, tag: str) -> tensor { shape = x.shape, dtype = x.dtype };\n" + NAMED


def test_names_decide() -> None:
    rules = api.parse_rules(NAMED)
    applied = {
        name: rules.apply(read_json(SMALL), rules=[name]).applications for name in ("one", "part", "nameless")
    }
    assert applied == {"one": 1, "part": 1, "nameless": 0}
    both = rules.apply(read_json(SMALL), rules=["one", "nameless"])
    # it has the name of what it replaces
    assert both.applications == 1 and any(both.graph.op[n] == "negative" for n in both.graph.nodes())


def test_a_name_as_an_attribute_of_the_target() -> None:
    """Not taken from the first application: names differ where types and attributes do not."""
    rules = api.parse_rules(NAMED.replace(' where y.name == "e"', ""))
    after = rules.apply(
        read_json(graph(call("e", "exp", "x"), call("f", "exp", "x"), outputs=("e", "f"))), rules=["told"]
    ).graph
    assert [after.attrs[n]["tag"] for n in after.outputs] == ["e", "f"]


def test_tests_and_verdicts_know_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """rule r(x) { y = tanh(-x); y where "attn" in y.name => -tanh(x) }
rule s(x) { y = tanh(-x); y where y.name == "attn" => tanh(x) }
test "named" for r { x: input float32[2]; attn_1 = tanh(-x); attn_1 => -tanh(x) }
test "otherwise" for r { x: input float32[2]; mlp = tanh(-x); mlp => unchanged }
"""
    (tmp_path / "r.gsl").write_text(text)
    assert main(["test", str(tmp_path / "r.gsl")]) == 0
    rules = api.parse_rules(text)
    assert [
        verify_now(rules.own[name], Settings(seconds=3, proof_steps=0)).verdict for name in ("r", "s")
    ] == ["tested", "refuted"]
    capsys.readouterr()


COMPUTED = """@attach(backend = "npu", rows = x.shape[0], was = y.name)
@attach(none_here = x.name if x.shape[0] > 9 else none)
@attach(b, backend = "cpu", at = x.shape, kind = y.dtype)
rule r(x) { y = tanh(x); y => a = exp(x); b = negative(a) + abs(x); sin(b) }
@attach(d, place = x.shape)
rule choice(x) { sin(x) => d = cos(x) if x.shape[0] == 2 else exp(cos(x)); d }
"""


@pytest.mark.parametrize("readable", [False, True])
def test_statements_and_computed_values(readable: bool, tmp_path: Path) -> None:
    """By both engines, more than once, and kept as they are in JSON."""
    from contextlib import nullcontext

    from tests.engine.readable import readable_only

    typed = {"shape": [2, 3], "dtype": "float32"}
    nodes = [call("t", "tanh", "x", **typed), call("u", "tanh", "t", **typed), call("v", "sin", "u")]
    with readable_only() if readable else nullcontext():
        after = api.parse_rules(COMPUTED).apply(read_json(graph(*nodes, outputs=("v",))), rules=["r"]).graph
        chosen = (
            api.parse_rules(COMPUTED)
            .apply(read_json(graph(call("v", "sin", "x"), outputs=("v",))), rules=["choice"])
            .graph
        )
    found = [(after.op[n], dict(annotations_of(after, n))) for n in after.nodes() if after.is_call(n)]
    both, extra = (
        {"backend": "npu", "rows": 2},
        {"backend": "cpu", "rows": 2, "at": (2, 3), "kind": "float32"},
    )
    for name in ("t", "u"):
        for expected in (
            ("exp", {**both, "was": name}),
            ("negative", {**extra, "was": name}),
            ("add", {**extra, "was": name}),
            ("sin", {**both, "was": name}),
        ):
            assert expected in found
    assert [dict(annotations_of(chosen, n)) for n in chosen.nodes() if chosen.op[n] == "cos"] == [
        {"place": (2, 3)}
    ]
    again = read_json(write_json(after))
    assert write_json(again) == write_json(after) and not differences(after, again, annotations=True)


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("@attach(stage = y)", "expected a value, found a node"),
        ("@attach(z, stage = 1)", "`z` is not a statement of the target"),
        ("@attach(y, stage = 1)", "`y` is not a statement of the target"),
        ("@attach(out)", "needs at least one annotation"),
        ("@attach(stage = none)", "`stage` cannot be attached"),
        ("@attach(a = 1, a = 2)", "`a` is attached twice"),
        ("@attach(out, a = 1) @attach(out, a = 2)", "`a` is attached twice"),
        ("@attach(a = 1, out)", "the name of a statement first"),
        ("@attach(n, a = 1)", "`n` creates no operator"),
        ("@attach(1)", "not the name of a statement"),
        ("@attach(a = out.shape)", "`a` reads the type of a new node"),
        ("@attach(a = 1e308 * 10)", "`a` cannot be attached"),
        ("@attach(a = q)", "unknown name `q`"),
    ],
)
def test_wrong_attachments(mark: str, message: str) -> None:
    with pytest.raises(api.RuleError, match=message):
        api.parse_rules(f"{mark}\nrule r(x) {{ y = tanh(x); y => n = x.ndim; out = exp(x); out + n }}")


def test_what_cannot_be_attached_fails_with_a_message() -> None:
    rules = api.parse_rules("@attach(value = c.value)\nrule r(x, c: const) { x * c => x + c }")
    data = {"id": "c", "kind": "const", "shape": [2], "dtype": "float32", "value": [1.0, 2.0]}
    text = graph(data, call("y", "multiply", "x", "c"), outputs=("y",)).replace("[2, 3]", "[2, 2]")
    result = rules.apply(read_json(text))
    assert result.applications == 0 and "cannot be attached" in result.failures[0].message


@pytest.mark.parametrize("word", words.words())
def test_every_word_of_the_language_names_one(word: str) -> None:
    text = f"@attach(stage = 1, {word} = 2)\nrule to_npu(x): tanh(x) => exp(x);\n"
    after = api.parse_rules(text).apply(read_json(SMALL)).graph
    (made,) = [n for n in after.nodes() if after.is_call(n) and after.op[n] == "exp"]
    assert dict(annotations_of(after, made)) == {"stage": 1, word: 2}
    assert layout(text) == text


def test_texts_without_a_place_for_it_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, before, after = tmp_path / "r.gsl", tmp_path / "g.json", tmp_path / "h.json"
    rules.write_text(RULE)
    before.write_text(SMALL)
    assert main(["apply", str(rules), str(before), "-o", str(tmp_path / "h.relay")]) == 0
    warning = "warning: Relay text cannot represent what is attached to nodes: `backend`, `stage`, "
    assert capsys.readouterr().err.count(warning) == 1
    assert main(["apply", str(rules), str(before), "-o", str(after)]) == 0
    assert "warning" not in capsys.readouterr().err
    assert main(["convert", str(after), "-o", str(tmp_path / "i.relay")]) == 0
    assert capsys.readouterr().err.count(warning) == 1


def test_so_does_the_text_form_of_onnx(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    rules, model = tmp_path / "r.gsl", tmp_path / "m.onnxtxt"
    rules.write_text('dialect onnx; @attach(backend = "npu") rule r(x): Tanh(x) => Exp(Neg(x));')
    model.write_text(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 3] y) { y = Tanh (x) }'
    )
    assert main(["apply", str(rules), str(model), "-o", str(tmp_path / "o.onnxtxt")]) == 0
    warning = "warning: ONNX's text form cannot represent what is attached to nodes: `backend`"
    assert capsys.readouterr().err.count(warning) == 1
