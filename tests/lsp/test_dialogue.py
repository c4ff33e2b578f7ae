"""Dialogues about one text: diagnostics, symbols, hovers, completion, signatures."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.client import Client, place

RULES = """\
#! Rules of the test.
dialect relay;

## Twice the same.
rule relu_twice(x): nn.relu(nn.relu(x)) => nn.relu(x);

fn front(axis, ndim) = axis if axis >= 0 else axis + ndim;

## A sum of convolutions.
@tags("fusion")
rule sum_of_two(x, w1: var, w2: var(shape = w1.shape)) {
    c1 = nn.conv2d(x, w1);
    c2 = nn.conv2d(x, w2, c1.*);
    c1 + c2 where front(c1.groups, 2) == 1
  =>
    rank = x.ndim + 1;
    nn.conv2d(x, w1 + w2, c1.*, groups = rank)
}

## Any number of branches.
rule many(x) {
    each branch in 2.. {
        w    = var(shape = first.w.shape);
        conv = nn.conv2d(x, w);
    }
    *branch.conv
  =>
    both = nn.conv2d(x, concatenate([b.w for b in branch], axis = 0));
    *split(both, axis = 1, indices_or_sections = [1])
}

op my.scale(x: tensor, by: float) -> tensor is elementwise;

pass all_of_it {
    relu_twice;
    fold;
}

test "two become one" for relu_twice {
    x: input float32[2, 3];
    y = nn.relu(x);
    nn.relu(y) => nn.relu(x)
}
"""
URI = "file:///nowhere/rules.gsl"


@pytest.fixture(scope="module", autouse=True)
def opened(client: Client) -> None:
    client.open(URI, RULES)


# ── diagnostics ──


def test_findings_of_checker_and_linter(client: Client) -> None:
    found = {
        d["code"]: d
        for d in client.open(
            "untitled:1",
            "rule Bad(x) {\n    a = exp(x);\n    exp(x) => tanh(x)\n}\nrule r(x): exq(x) => x;\n",
        )
    }
    assert set(found) == {"E0301", "L0101", "L0107"}
    error, lint = found["E0301"], found["L0101"]
    assert error["severity"] == 1 and error["range"] == {
        "start": {"line": 4, "character": 11},
        "end": {"line": 4, "character": 14},
    }
    assert "did you mean `exp`?" in error["message"] and error["codeDescription"]["href"].endswith("E0301.md")
    assert lint["severity"] == 2 and lint["tags"] == [1] and lint["source"] == "gslang"


def test_places_that_belong_to_a_finding(client: Client) -> None:
    (found,) = [
        d
        for d in client.open("untitled:2", "rule a(x): exp(x) => tanh(x);\nrule a(x): exp(x) => tanh(x);\n")
        if d["code"] == "E0208"
    ]
    (related,) = found["relatedInformation"]
    assert related["location"] == {
        "uri": "untitled:2",
        "range": {"start": {"line": 0, "character": 5}, "end": {"line": 0, "character": 6}},
    }


def test_diagnostics_follow_each_edit(client: Client) -> None:
    uri = "file:///nowhere/edited.gsl"
    before = client.open(uri, RULES)
    line, character = place(RULES, "nn.conv2d(x, w1);", 3)
    where = {
        "start": {"line": line, "character": character},
        "end": {"line": line, "character": character + 6},
    }
    (found,) = [d for d in client.change(uri, {"range": where, "text": "conv3e"}) if d["code"] == "E0301"]
    assert found["range"]["start"]["line"] == line
    assert client.change(uri, {"range": where, "text": "conv2d"}) == before


def test_several_changes_at_once_apply_in_order(client: Client) -> None:
    uri = "untitled:changes"
    client.open(uri, "rule r(x): exp(x) => x;")
    start = {"line": 0, "character": 0}
    changes = [
        {"range": {"start": start, "end": start}, "text": "## Doc.\n"},
        {
            "range": {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 14}},
            "text": "tanq",
        },
    ]
    assert [(d["code"], d["range"]["start"]["line"]) for d in client.change(uri, *changes)] == [("E0301", 1)]


def test_costly_lints_come_when_nobody_types(client: Client, tmp_path: Any) -> None:
    (tmp_path / "gslang.toml").write_text('[lint]\nselect = ["L0203", "L0204"]\n')
    uri = (tmp_path / "loop.gsl").as_uri()
    assert client.open(uri, "rule there(x): exp(x) => tanh(x);\nrule back(x): tanh(x) => exp(x);\n") == []
    late = client.until(lambda n: (
        n["method"].endswith("publishDiagnostics") and n["params"]["uri"] == uri
        and bool(n["params"]["diagnostics"])
    ))
    assert {d["code"] for d in late["params"]["diagnostics"]} == {"L0203"}


def test_closing_takes_the_findings_away(client: Client) -> None:
    uri = "untitled:closing"
    assert client.open(uri, "rule")
    client.say("textDocument/didClose", {"textDocument": {"uri": uri}})
    client.until(lambda n: (
        n["method"].endswith("publishDiagnostics") and n["params"]["uri"] == uri
        and not n["params"]["diagnostics"]
    ))


# ── symbols ──


def test_symbols(client: Client) -> None:
    found = client.on("documentSymbol", URI)
    assert [(s["name"], s["detail"]) for s in found] == [
        ("relu_twice", "rule"), ("front", "fn"), ("sum_of_two", "rule"), ("many", "rule"), ("my.scale", "op"),
        ("all_of_it", "pass"), ("two become one", "test for relu_twice"),
    ]
    assert [c["name"] for c in found[2]["children"]] == ["x", "w1", "w2", "c1", "c2", "rank"]
    for symbol in found:
        assert (
            symbol["range"]["start"]["line"] <= symbol["selectionRange"]["start"]["line"]
            <= symbol["range"]["end"]["line"]
        )


def test_symbols_of_a_broken_file(client: Client) -> None:
    uri = "file:///nowhere/broken.gsl"
    broken = RULES.replace("c1 = nn.conv2d(x, w1);", "c1 = nn.conv2d(x, ;;").replace("fold;\n}", "fold;")
    assert {d["code"] for d in client.open(uri, broken)} == {"E0105"}
    names = [s["name"] for s in client.on("documentSymbol", uri)]
    assert names == ["relu_twice", "front", "sum_of_two", "many", "my.scale", "all_of_it", "two become one"]
    value = client.at("hover", uri, *place(broken, "rule relu_twice", 6))["contents"]["value"]
    assert "Twice the same." in value
    labels = [i["label"] for i in client.at("completion", uri, *place(broken, "c1 + c2"))["items"]]
    assert {"c1", "c2", "w1", "front"} <= set(labels)


def test_workspace_symbols_reach_the_shipped_library(client: Client) -> None:
    found = client.ask("workspace/symbol", {"query": "sum_of_t"})
    assert ("sum_of_two", URI) in [(s["name"], s["location"]["uri"]) for s in found]
    assert any(
        s["location"]["uri"].endswith("relay/conv.gsl")
        for s in client.ask("workspace/symbol", {"query": "diamond"})
    )


# ── hover ──


@pytest.mark.parametrize(
    ("mark", "skip", "expected"),
    [
        ("nn.conv2d(x, w1);", 4, ["op nn.conv2d(", "strides: (int >= 1)[1 | 2] = (1, 1)"]),
        ("rule sum_of_two", 7, ["A sum of convolutions.", "0 tests", "tags: fusion"]),
        ("relu_twice {", 2, ["Twice the same.", "1 test"]),
        ("c1.*", 1, ["**c1**", "a call of `nn.conv2d`", "c1 = nn.conv2d(x, w1)"]),
        ("w2: var", 0, ["input", "`var` with `shape = w1.shape`"]),
        ("var(shape = w1", 1, ["An input or a parameter"]),
        ("c1.groups", 4, ["groups: int >= 1 = 1", "attribute of `nn.conv2d`"]),
        ("groups = rank", 2, ["groups: int >= 1 = 1"]),
        ("rank = x", 1, ["a value: `int`"]),
        ("x.ndim", 3, ["The number of axes"]),
        ("front(c1", 2, ["fn front(axis, ndim) = axis if axis >= 0"]),
        ("where front", 2, ["tested once the whole source is matched"]),
        ("branch.conv", 2, ["the instances of a template"]),
        ("*branch.conv", 9, ["**conv**", "a call of `nn.conv2d`"]),
        ("first.w", 1, ["the first instance"]),
        ("my.scale", 4, ["op my.scale(x: tensor, by: float) -> tensor is elementwise;"]),
        ("elementwise;", 2, ["Element i of the result", "operators"]),
        ("by: float", 5, ["A number."]),
        ("tags(", 1, ["@tags"]),
        ("dialect relay", 9, ["operators"]),
        ("y = nn.relu", 0, ["type: `float32[2, 3]`"]),
        ("float32[2", 0, []),
        ("all_of_it", 3, ["pass all_of_it {", "relu_twice;"]),
        ("fold;", 1, ["Built in"]),
    ],
)
def test_hover(client: Client, mark: str, skip: int, expected: list[str]) -> None:
    answer = client.at("hover", URI, *place(RULES, mark, skip))
    if not expected:
        assert answer is None
        return
    for part in expected:
        assert part in answer["contents"]["value"]
    line, character = place(RULES, mark, skip)
    assert (
        answer["range"]["start"]["line"] == line
        and answer["range"]["start"]["character"] <= character <= answer["range"]["end"]["character"]
    )


def test_hover_tells_the_verdict_that_is_known(client: Client) -> None:
    before = client.at("hover", URI, *place(RULES, "relu_twice"))["contents"]["value"]
    answer = client.ask(
        "workspace/executeCommand", {"command": "gslang.verify", "arguments": [URI, "relu_twice"]}
    )
    assert answer["verdict"] in ("exact", "tested", "proved")
    after = client.at("hover", URI, *place(RULES, "relu_twice"))["contents"]["value"]
    assert f"verify: {answer['verdict']}" in after and "errors" not in before


FAMILY = """rule fuse(x) for (Op, e) in (add, 0), (subtract, 1) {
    chain c in 2.. from x { f = op(unary); b = any(); y = f(prev.y); where y.ndim == b.ndim; }
    Op(c[-1].y, e) => nn.relu(x)
}
"""


@pytest.mark.parametrize(
    ("mark", "skip", "expected"),
    [
        ("(Op, e)", 1, "name of the table; in each row another item: `add`, `subtract`"),
        ("Op(c", 0, "name of the table"),
        ("chain c", 0, "a run of any length"),
        ("from x", 0, "from which a `chain` starts"),
        ("op(unary", 3, "One operand."),
        ("any()", 0, "an input of the rule without constraints"),
    ],
)
def test_hover_in_families_and_chains(client: Client, mark: str, skip: int, expected: str) -> None:
    client.open("untitled:family", FAMILY)
    found = client.at("hover", "untitled:family", *place(FAMILY, mark, skip))
    assert expected in found["contents"]["value"]


def test_hover_beside_words(client: Client) -> None:
    assert client.at("hover", URI, 1, 300) is None
    assert client.at("hover", URI, 2, 0) is None
    assert client.at("hover", URI, 10_000, 0) is None


# ── completion ──


def labels(client: Client, uri: str, text: str) -> dict[str, Any]:
    """Completions at `‸` in a text."""
    at = place(text, "‸")
    client.open(uri, text.replace("‸", ""))
    return {i["label"]: i for i in client.at("completion", uri, *at)["items"]}


def test_attributes_with_types_and_defaults(client: Client) -> None:
    found = labels(client, "untitled:c1", "rule r(x, w) {\n    nn.conv2d(x, w, groups = 1, ‸\n")
    assert found["strides ="]["detail"] == "strides: (int >= 1)[1 | 2] = (1, 1)" and "groups =" not in found
    assert "x" in found and found["x"]["sortText"] > found["strides ="]["sortText"]


def test_operators_of_the_dialect(client: Client) -> None:
    relay = labels(client, "untitled:c2", "rule r(x): nn.con‸")
    assert "nn.conv2d" in relay and relay["nn.conv2d"]["textEdit"]["range"]["start"]["character"] == 11
    onnx = labels(client, "untitled:c3", "dialect onnx;\nrule r(x): Ge‸")
    assert "Gemm" in onnx and "nn.conv2d" not in onnx
    document = client.ask("completionItem/resolve", onnx["Gemm"])["documentation"]["value"]
    assert "op Gemm(" in document


def test_attributes_behind_a_dot(client: Client) -> None:
    found = labels(
        client, "untitled:c4", "rule r(x, w) {\n    c = nn.conv2d(x, w);\n    c where c.‸ == 1\n  => x\n}"
    )
    assert {"strides", "groups", "shape", "ndim"} <= set(found) and "nn.conv2d" not in found


def test_names_of_a_template(client: Client) -> None:
    text = (
        "rule r(x) {\n    each b in 2.. {\n        w = var();\n        c = nn.conv2d(x, w);\n    }\n"
        "    *b.‸\n  => x\n}"
    )
    assert set(labels(client, "untitled:c5", text)) == {"w", "c"}
    first = labels(
        client, "untitled:c6", text.replace("var()", "var(shape = first.‸)").replace("*b.‸", "*b.c")
    )
    assert {"w", "c"} <= set(first)


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("‸", {"rule", "rule block", "test", "use"}), ("rule a(x): exp(x) => x;\nru‸", {"rule", "fn"}),
        ("@‸", {"tags", "allow", "once"}), ("@allow(‸) rule a(x): exp(x) => x;", {"L0108", "L0201"}),
        ("dialect ‸", {"relay", "onnx"}), ("use ‸", {"std.relay", "std.relay.common"}),
        ("use std.relay.common (‸", {"front", "same_type"}),
        ("rule a(x): exp(x) => x;\npass p { ‸ }", {"a", "fold", "cse", "repeat"}),
        ('rule a(x): exp(x) => x;\ntest "t" for ‸', {"a"}),
        ('test "t" for a { x: ‸', {"input", "param", "const"}),
        ('test "t" for a { x: input ‸', {"float32", "int64"}),
        ("rule a(x, w: ‸", {"any", "var", "const", "op"}), ("rule a(x, w: var(‸", {"shape =", "dtype ="}),
        ("op a(x: ‸", {"tensor", "int"}), ("op a(x: tensor) -> tensor is ‸", {"elementwise", "commutative"}),
        ("fn f(a) = a;\nrule r(x): exp(x) where ‸", {"f", "x", "len", "not", "exp"}),
        ("rule r(x) {\n    ‸", {"each", "x", "keep"}),
        ("rule r(x) {\n    each b in 2.. { w = var(shape = ‸", {"first", "index", "x"}),
        ("dialect onnx;\nrule r(x): Exp(x) where ‸", {"opset", "Exp"}),
        ("rule r(x): nn.pad(x, pad_width = ((0, 0),), pad_mode = ‸", {'"constant"', '"edge"', '"reflect"'}),
        (
            'rule r(x): nn.pad(x, pad_width = ((0, 0),), pad_mode = "edge" | ‸) => x;',
            {'"constant"', '"reflect"'},
        ),
        ("dialect onnx;\nrule r(x): AveragePool(x, auto_pad = ‸", {'"SAME_UPPER"', '"VALID"'}),
        (
            "rule r(x) { y = nn.pad(x, pad_width = _); y where y.pad_mode == ‸ => x }",
            {'"constant"', '"reflect"'},
        ),
        ("@‸", {"changes", "attach", "extern"}),
        ("@attach(‸\nrule r(x) { y = tanh(x); y => a = exp(x); a }", {"a", "x", "y"}),
        ("@attach(a, stage = y.‸)\nrule r(x) { y = tanh(x); y => a = exp(x); a }", {"shape", "name"}),
        ("@attach(k = ‸)\nrule r(x) for (F, e) in (abs, 0), (exp, 1): F(x) + e => x;", {"e", "x"}),
        ("param t: ‸", {"int", "float", "str"}),
        ("rule r(x, f: op(‸): f(x) => x;", {"elementwise", "exp"}),
        ("rule r(x) { chain c in 2.. from x { f = op(‸); y = f(prev.y); } c[-1].y => x }", {"unary", "exp"}),
        ("rule r(x) { y = exp(x); y where users(y, ‸) == 1 => x }", {"elementwise", "tanh"}),
        (
            "dialect onnx;\nrule r(c, x) { y = If(c, x); y.0 where calls(y.then_branch, ‸) == 0 => x }",
            {"reduction", "Relu"},
        ),
        (
            "dialect onnx;\nrule r(c, x) { y = If(c, x); y.0 where calls(y.‸) == 0 => x }",
            {"then_branch", "else_branch"},
        ),
    ],
)
def test_completion_by_place(client: Client, text: str, some: set[str]) -> None:
    assert some <= set(labels(client, "untitled:place", text))


def test_nothing_is_offered_in_comments_and_strings_that_may_be_any(client: Client) -> None:
    assert labels(client, "untitled:c7", "# a comment ‸") == {}
    assert labels(client, "untitled:c8", '@changes("fl‸") rule r(x): exp(x) => x;') == {}
    assert labels(client, "untitled:c8", 'rule r(x): exp(x) where x.name == "fl‸" => x;') == {}


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ('rule r(x): nn.pad(x, pad_width = _, pad_mode = "‸") => x;', {"constant", "edge", "reflect"}),
        ('rule r(x): nn.pad(x, pad_width = _, pad_mode = "ed‸ge") => x;', {"constant", "edge"}),
        ('rule r(x): nn.pad(x, pad_width = _, pad_mode = "edge" | "‸") => x;', {"constant", "reflect"}),
        ('rule r(x) { y = nn.pad(x, pad_width = _); y where y.pad_mode != "‸" => x }', {"constant"}),
        ('rule r(x): cast(x, dtype = "fl‸") => x;', {"float32", "int8"}),
        ('rule r(x): exp(x) where x.dtype == "‸" => x;', {"float32", "bool"}),
    ],
)
def test_texts_inside_of_quotes(client: Client, text: str, some: set[str]) -> None:
    """What is chosen replaces all that stands between the quotes."""
    found = labels(client, "untitled:quotes", text)
    assert some <= set(found)
    edit = found[min(some)]["textEdit"]["range"]
    line = text.replace("‸", "")
    inner = line[edit["start"]["character"] : edit["end"]["character"]]
    assert '"' not in inner and line[edit["start"]["character"] - 1] == '"' == line[edit["end"]["character"]]


def test_paths_of_imports(client: Client, tmp_path: Any) -> None:
    (tmp_path / "other.gsl").write_text("")
    (tmp_path / "sub").mkdir()
    found = labels(client, (tmp_path / "me.gsl").as_uri(), 'use "./‸";')
    assert set(found) == {"other.gsl", "sub/"}
    assert set(labels(client, (tmp_path / "me2.gsl").as_uri(), 'use "‸";')) == {
        "./other.gsl", "./sub/", "../",
    }


# ── signatures ──


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        ("rule r(x, w): nn.conv2d(x, ‸", "op nn.conv2d(", "weight: tensor"),
        ("rule r(x, w): nn.conv2d(x, w, groups = ‸", "op nn.conv2d(", "groups: int >= 1 = 1"),
        (
            "rule r(x, w): nn.conv2d(x, w, strides = (1, ‸", "op nn.conv2d(",
            "strides: (int >= 1)[1 | 2] = (1, 1)",
        ),
        ("rule r(x, w): nn.conv2d(exp(x), ‸", "op nn.conv2d(", "weight: tensor"),
        ("fn f(a, b: tensor) = a;\nrule r(x): f(x, ‸", "fn f(a, b: tensor)", "b: tensor"),
        ("rule r(x): exp(x) where close(x.ndim, ‸", "close(a, b, rtol)", "b"),
        ("rule r(f: op(nn.relu | exp), x): f(‸", "op nn.relu(data: tensor)", "data: tensor"),
    ],
)
def test_signature_help(client: Client, text: str, label: str, active: str) -> None:
    at = place(text, "‸")
    client.open("untitled:signature", text.replace("‸", ""))
    answer = client.at("signatureHelp", "untitled:signature", *at)
    signature = answer["signatures"][answer["activeSignature"]]
    start, end = signature["parameters"][answer["activeParameter"]]["label"]
    assert signature["label"].startswith(label) and signature["label"][start:end] == active


def test_no_signature_outside_of_calls(client: Client) -> None:
    assert client.at("signatureHelp", URI, 0, 3) is None
