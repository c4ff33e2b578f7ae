"""`ops`, `explain`, `diff`, `match`, `test` and `convert`: what people ask of them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import gslang
from gslang.cli.main import ExitCode, main
from gslang.dialect.tensor_type import TensorType
from gslang.graph.correspond import correspondence
from gslang.graph.graph import Graph

RULES = """dialect relay;

## Twice is once.
@tags("cleanup")
@once
rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);

test "not here" for twice {
    x: input float32[2];
    nn.relu(tanh(x)) => nn.relu(x)
}

## Both read one tensor.
rule both(x) {
    a = exp(x);
    b = exp(x);
    a, b => a, a
}

op mine.convert(x: tensor) -> tensor;
"""


def calls(*operators: str, name: str = "x") -> Graph:
    graph, type_ = Graph("relay"), TensorType((2,), "float32")
    node = graph.add_input(name, type_)
    for k, operator in enumerate(operators):
        node = graph.add(operator, (node,), {}, type_, f"n{k}")
    graph.set_outputs([node])
    return graph


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("r.gsl").write_text(RULES)
    gslang.write(calls("exp", "nn.relu", "nn.relu", "tanh"), "a.json")
    gslang.write(calls("exp", "nn.relu", "tanh"), "b.json")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(list(words)) == code
    return capsys.readouterr().out


def names_in(text: str) -> list[str]:
    return [line.split("(")[0].removeprefix("op ") for line in text.splitlines() if line.startswith("op ")]


def test_ops_searches_all_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "ops", "conv")
    found = names_in(text)
    assert {"nn.conv2d", "Conv", "ConvTranspose"} <= set(found) and all(
        "conv" in name.lower() for name in found
    )
    assert "# dialect onnx" in text and "# dialect relay" in text
    assert names_in(printed(capsys, "ops", "conv", "--dialect", "onnx"))[0] == "Conv"


def test_ops_shows_an_exact_name_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert names_in(printed(capsys, "ops", "Conv")) == ["Conv"]
    assert names_in(printed(capsys, "ops", "nn.dense")) == ["nn.dense"]


def test_ops_follows_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {"mine.convert", "nn.conv2d"} <= set(names_in(printed(capsys, "ops", "conv", "r.gsl")))
    assert "Conv" not in names_in(printed(capsys, "ops", "conv", "a.json"))
    assert names_in(printed(capsys, "ops", "r.gsl"))[0] == "abs"
    main(["ops", "convv", "r.gsl"])
    assert "no operator contains `convv` in dialect `relay`" in capsys.readouterr().err


def test_explain_shows_annotations_and_tests(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "explain", "twice", "r.gsl")
    assert text.startswith('# r.gsl, line 6\n## Twice is once.\n@tags("cleanup")\n@once\nrule twice(x)')
    assert 'test "not here" for twice' in text and "rule both" not in text
    assert "@tags(" in printed(capsys, "explain", "transpose_transpose")


def test_explain_follows_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = printed(capsys, "explain", "transpose_transpose")
    Path("o.gsl").write_text("dialect onnx;\nrule r(x): Relu(Relu(x)) => Relu(x);\n")
    onnx = printed(capsys, "explain", "transpose_transpose", "o.gsl")
    assert onnx in both and onnx.startswith("# std.onnx.")
    main(["explain", "twic", "r.gsl"])
    assert "did you mean `twice`?" in capsys.readouterr().err


def test_diff_shows_all_differences(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "diff", "a.json", "b.json", code=1)
    assert "only in the first graph: nn.relu" in text
    table = json.loads(printed(capsys, "diff", "a.json", "b.json", "--format", "json", code=1))
    assert table["calls"]["nn.relu"] == [2, 1] and not table["equal"] and table["only_in_second"] == []
    assert printed(capsys, "diff", "a.json", "a.json") == ""
    wide = calls("exp")
    wide.set_outputs([wide.add("nn.leaky_relu", (1,), {"alpha": k / 64}, wide.types[1]) for k in range(30)])
    gslang.write(wide, "wide.json")
    for node in range(2, 32):
        wide.attrs[node] = {"alpha": 2.0}
    gslang.write(wide, "wider.json")
    assert len(printed(capsys, "diff", "wide.json", "wider.json", code=1).splitlines()) >= 30


def test_diff_as_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "diff", "a.json", "b.json", "--format", "html", "-o", "d.html", code=1) == ""
    assert Path("d.html").read_text().startswith("<!doctype html>")
    assert main(["diff", "a.json", "b.json", "-o", "b.json"]) == ExitCode.USAGE


def test_correspondence_pairs_what_is_equal() -> None:
    a, b = calls("exp", "nn.relu", "nn.relu", "tanh"), calls("exp", "nn.relu", "tanh")
    assert {a.op[x] for x in correspondence(a, b)} == {"%input", "exp", "nn.relu", "tanh"}
    assert len(correspondence(a, a.copy())) == len(a)
    assert correspondence(a, b) == {x: y for x, y in correspondence(a, b).items() if a.op[x] == b.op[y]}


def test_a_symmetric_match_is_listed_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = calls("exp")
    graph.set_outputs([1, graph.add("exp", (0,), {}, graph.types[0], "other")])
    gslang.write(graph, "two.json")
    assert len(printed(capsys, "match", "r.gsl", "two.json", "--rule", "both").splitlines()) == 1


def test_many_calls_of_one_value_are_listed_up_to_a_limit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = calls("exp")
    graph.set_outputs([1, *(graph.add("exp", (0,), {}, graph.types[0], f"e{k}") for k in range(2000))])
    gslang.write(graph, "many.json")
    # each first output has 2,000 others to choose from
    assert main(["match", "r.gsl", "many.json", "--rule", "both"]) == 0
    listed, said = capsys.readouterr()
    assert 100 < len(listed.splitlines()) < 2000 and "both: only the matches found in 230,030 steps" in said
    data = json.loads(printed(capsys, "match", "r.gsl", "many.json", "--rule", "both", "--format", "json"))
    assert data["stopped"] == {"both": 230_030}


def test_all_rules_share_the_steps_for_misses(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gslang.cli.match._STEPS", 6000)
    graph = calls("exp")
    graph.set_outputs([1, *(graph.add("exp", (0,), {}, graph.types[0], f"e{k}") for k in range(300))])
    gslang.write(graph, "many.json")
    Path("two.gsl").write_text(
        "dialect relay;\nrule few(x): exp(tanh(x)) => x;\nrule absent(x): erf(x) => x;\n"
        "rule many(x, f: op(elementwise, unary)) {\n    a = f(x);\n"
        "    a, f(x), f(x) where a.ndim == 9 => x, x, x\n}\n"
    )
    assert main(["match", "two.gsl", "many.json", "--why-not"]) == 0
    told, said = capsys.readouterr()
    assert "few at" in told and "many at" in told and said.startswith(
        "only the misses found in 10,530 steps, the limit for this graph: many\n"
    )
    data = json.loads(printed(capsys, "match", "two.gsl", "many.json", "--why-not", "--format", "json"))
    assert data["stopped"]["many"] == 10_530 and "few" not in data["stopped"]


def test_one_match_has_all_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("any.gsl").write_text(
        "dialect relay;\nrule merge(x) {\n    each branch in 2.. { y = exp(x); }\n"
        "    *branch.y\n  => *[branch[0].y for b in branch]\n}\n"
    )
    graph = calls("exp")
    graph.set_outputs([1, *(graph.add("exp", (0,), {}, graph.types[0], f"e{k}") for k in range(2000))])
    gslang.write(graph, "many.json")
    data = json.loads(printed(capsys, "match", "any.gsl", "many.json", "--format", "json"))
    assert "stopped" not in data and [len(match["outputs"]) for match in data["matches"]] == [2001]


def test_a_failing_test_says_why_the_rule_did_not_apply(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "test", "r.gsl", code=1)
    assert "the rule was not applied" in text and "expected `nn.relu`" in text and "found    `tanh`" in text
    (outcome,) = json.loads(printed(capsys, "test", "r.gsl", "--format", "json", code=1))["tests"]
    assert outcome["why_not"]["reason"] == "operator" and outcome["why_not"]["line"] == 6
    failure = ElementTree.fromstring(printed(capsys, "test", "r.gsl", "--format", "junit", code=1)).find(
        "testcase/failure"
    )
    assert failure is not None and "expected `nn.relu`" in failure.attrib["message"]


def test_convert_draws(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "a.json", "-o", "a.svg"]) == 0
    picture = ElementTree.parse("a.svg").getroot()
    assert "".join(picture.itertext()).count("nn.relu") >= 2
    assert main(["convert", "a.json", "-o", "a.html"]) == 0 and Path("a.html").read_text().startswith(
        "<!doctype html>"
    )
    assert main(["convert", "a.json", "-o", "none/a.html"]) == ExitCode.BAD_INPUT
    assert main(["convert", "a.svg", "-o", "b.json"]) == ExitCode.BAD_INPUT


def test_convert_draws_png(folder: Path) -> None:
    pytest.importorskip("PIL")
    assert main(["convert", "a.json", "-o", "a.png"]) == 0
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


def test_hostile_names_in_pictures(folder: Path) -> None:
    gslang.write(calls("exp", name="</text><script>&\x00\x1b"), "h.json")
    assert main(["convert", "h.json", "-o", "h.svg"]) == 0
    picture = ElementTree.parse("h.svg").getroot()
    assert "</text><script>&" in "".join(picture.itertext())


@pytest.mark.parametrize(
    "words", [["r.gsl", "a.json", "-o", "o.json"], ["cost", "a.json"], ["test", "r.gsl"]], ids=" ".join
)
def test_colours_on_request_only(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    main(words)
    plain = "".join(capsys.readouterr())
    main([*words, "--color", "always"])
    coloured = "".join(capsys.readouterr())
    assert "\x1b[" not in plain and "\x1b[" in coloured


def test_explain_reads_shipped_rules_only_if_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import gslang.check.modules as modules

    load, loaded = modules.load_module, []
    monkeypatch.setattr(modules, "load_module", lambda name, *more: loaded.append(name) or load(name, *more))
    (tmp_path / "r.gsl").write_text("dialect relay;\nrule r(a): nn.relu(a) => a;\n")
    assert main(["explain", "r", str(tmp_path / "r.gsl")]) == 0
    assert "rule r(a)" in capsys.readouterr().out and "std.relay" not in loaded
