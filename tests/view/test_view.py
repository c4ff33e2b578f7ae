"""The page of `gslc view`: what it knows, what it lets through, and that it is the same each time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gslang
from examples.models.inception_v3 import build
from gslang.cli.main import ExitCode, main
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.graph.builder import Builder
from gslang.graph.graph import DEAD, Graph
from gslang.view.families import FAMILIES, family_of
from gslang.view.history import History
from gslang.view.page import json_text, page
from gslang.view.page_data import graph_data, run_data

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\u2028\u2029<!--"
RULES = """dialect relay;
## No need to do it twice.
rule relu_relu(x) { nn.relu(nn.relu(x)) => nn.relu(x) }
"""


def chain(names: list[str]) -> Graph:
    """`relu` four times, over an input."""
    graph = Graph("relay")
    type_ = TensorType((2, 3), "float32")
    node = graph.add_input(names[0], type_)
    for name in names[1:]:
        node = graph.add("nn.relu", (node,), {}, type_, name)
    graph.set_outputs([node])
    return graph


def data_of(text: str) -> dict[str, Any]:
    """The data that a browser's parser would find in the page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def recorded(rules: gslang.RuleSet, graph: Graph, **options: Any) -> tuple[History, gslang.Result]:
    history = History()
    result = rules.apply(graph, watch=history.watch, **options)
    return history.finish(result.graph), result


def last_state(history: History) -> tuple[set[int], dict[int, tuple[int, ...]], list[int]]:
    """Living nodes, their operands and the outputs, when all changes are done as the page does them."""
    alive, operands, outputs = (
        set(range(history.first)), {n: e.operands for n, e in enumerate(history.entries)},
        history.first_outputs,
    )
    for change in history.changes:
        assert alive.issuperset(change.removed) and alive.isdisjoint(change.added)
        alive = (alive - set(change.removed)) | set(change.added)
        operands.update(change.rewired)
        outputs = change.outputs if change.outputs is not None else outputs
        assert all(o == -1 or o in alive for n in alive for o in operands[n]), change
    return alive, operands, outputs


def shape_of(
    operators: dict[int, str], operands: dict[int, tuple[int, ...]], outputs: list[int]
) -> list[Any]:
    """The graph below the outputs, with numbers in the order in which they are met."""
    seen: dict[int, int] = {}
    rows: list[Any] = []

    def visit(start: int) -> None:
        stack = [(start, False)]
        while stack:
            node, done = stack.pop()
            if done:
                seen[node] = len(rows)
                rows.append((operators[node], [seen[o] if o >= 0 else -1 for o in operands[node]]))
            elif node not in seen:
                seen[node] = -2
                stack.append((node, True))
                stack += [(o, False) for o in reversed(operands[node]) if o >= 0 and o not in seen]

    for output in outputs:
        visit(output)
    return [*rows, [seen[o] for o in outputs]]


def assert_ends_in(history: History, graph: Graph) -> None:
    alive, operands, outputs = last_state(history)
    assert len(alive) == sum(op is not DEAD for op in graph.op)
    found = shape_of({n: history.entries[n].op for n in alive}, operands, outputs)
    assert found == shape_of(dict(enumerate(graph.op)), dict(enumerate(graph.operands)), graph.outputs)


@pytest.mark.parametrize("options", [{}, {"fold": True}, {"stop_after": 7}, {"once": True}], ids=str)
def test_the_history_ends_in_the_result(options: dict[str, Any]) -> None:
    graph = build(size=75, width=0.1)
    history, result = recorded(gslang.load("std.relay"), graph, **options)
    assert_ends_in(history, result.graph)
    assert sum(change.rule is not None for change in history.changes) == result.applications


@pytest.mark.parametrize("model", ["bert.ts17.dynamic.sdpa.mask.f32"])
def test_the_history_of_an_export(model: str) -> None:
    path = Path(__file__).parents[3] / "shared" / "data" / "exports" / f"{model}.onnx"
    if not path.is_file():
        pytest.skip("needs ../shared")
    history, result = recorded(gslang.load("std.onnxruntime"), gslang.read(str(path)), fold=True)
    assert result.applications
    assert_ends_in(history, result.graph)


def test_the_data_of_a_run() -> None:
    rules = gslang.parse_rules(RULES)
    history, result = recorded(rules, chain(["x", "a", "b", "c", "d"]))
    data = run_data(history, "chain", rules, result)
    assert [rule["name"] for rule in data["rules"]] == ["relu_relu"]
    rule = data["rules"][0]
    assert (rule["applications"], rule["effect"], rule["doc"]) == (3, -3, "No need to do it twice.")
    assert rule["text"].startswith("rule relu_relu(x)")
    assert data["totals"]["nodes"] == [5, 2] and ["nn.relu", 4, 1] in data["totals"]["operators"]
    assert all(
        change["rule"] == "relu_relu" and change["removed"] and change["bindings"]
        for change in data["changes"]
    )


def test_times_are_shown_when_asked_for(folder: Path) -> None:
    assert main(["view", "g.json", "r.gsl", "--times", "-o", "a.html"]) == 0
    assert main(["r.gsl", "g.json", "-o", "out.json", "--html", "b.html", "--times"]) == 0
    for name in ("a.html", "b.html"):
        data = data_of(Path(name).read_text())
        assert set(data["seconds"]) == {rule["name"] for rule in data["rules"]}
        assert all(seconds > 0 for seconds in data["seconds"].values())


def test_values_of_small_constants_are_shown() -> None:
    b = Builder(load_dialect("relay"))
    graph = b.finish(b.call("add", b.input("x", (2,)), b.const(0.5)))
    assert "0.5" in graph_data(History(graph), "")["values"].values()


@pytest.mark.parametrize(
    ("operator", "family"),
    [
        ("nn.conv2d", "contraction"), ("Conv", "contraction"), ("MatMul", "contraction"),
        ("nn.batch_norm", "normalization"), ("LayerNormalization", "normalization"),
        ("nn.relu", "activation"), ("Softmax", "activation"), ("nn.max_pool2d", "reduction"),
        ("ReduceMean", "reduction"), ("Add", "elementwise"), ("add", "elementwise"), ("Reshape", "movement"),
        ("concatenate", "movement"), ("Gather", "movement"), ("QuantizeLinear", "quantization"),
        ("DequantizeLinear", "quantization"), ("qnn.conv2d", "quantization"), ("If", "control"),
        ("%input", "leaf"), ("Frobnicate", "other"), ("com.microsoft.Attention", "contraction"),
    ],
)
def test_families(operator: str, family: str) -> None:
    assert family_of(operator) == family
    assert family in FAMILIES


def test_hostile_names_are_data_only() -> None:
    graph = chain([HOSTILE, "a" + HOSTILE, "b"])
    graph.attrs[1] = {HOSTILE: HOSTILE}
    text = page(graph_data(History(graph), HOSTILE))
    assert (
        "<script>alert" not in text and "<img" not in text and "\u2028" not in text and "\u2029" not in text
    )
    assert text.count("<script") == 3 and text.count("</script>") == 3
    data = data_of(text)
    assert data["label"][0] == HOSTILE and data["title"] == HOSTILE
    assert data["attributes"][data["attrs"][1]] == [[HOSTILE, HOSTILE]]


def test_marks_of_the_template_are_names_like_others() -> None:
    text = page(graph_data(History(chain(["@@program@@", "@@data@@", "b"])), "@@policy@@"))
    assert data_of(text)["label"][:2] == ["@@program@@", "@@data@@"]


def test_json_text_is_json() -> None:
    value = {"<&>": ["\u2028", "é", "]]>", '"', "\ud800"]}
    json_text(value).encode()
    assert json.loads(json_text(value)) == value
    assert not set("<>&\u2028\u2029") & set(json_text(value))


def test_the_page_asks_for_nothing() -> None:
    text = page(graph_data(History(chain(["x", "a", "b"])), "chain"))
    assert not re.search(r"https?:|//cdn|@import|\burl\(|src=", text)
    assert "default-src &#x27;none&#x27;" in text
    assert "Copyright (c) 2012-2014 Chris Pettitt" in json.loads(
        re.search(r'id="worker">(.*?)</script>', text, re.DOTALL)[1]
    )  # type: ignore[index]


def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    gslang.write(chain(["x", "a", "b", "c"]), str(tmp_path / "g.json"))
    (tmp_path / "r.gsl").write_text(RULES)
    pages = []
    for seed in ("0", "7"):
        run = [sys.executable, "-m", "gslang", "view", "g.json", "r.gsl"]
        pages.append(
            subprocess.run(
                run, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
            ).stdout
        )
    assert pages[0] == pages[1] and pages[0].startswith(b"<!doctype html>")
    assert str(tmp_path).encode() not in pages[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    gslang.write(chain(["x", "a", "b", "c"]), "g.json")
    Path("r.gsl").write_text(RULES)
    return tmp_path


def test_apply_writes_the_same_page(folder: Path) -> None:
    assert main(["r.gsl", "g.json", "-o", "out.json", "--html", "a.html", "--trace", "t.jsonl"]) == 0
    assert main(["view", "g.json", "r.gsl", "-o", "b.html"]) == 0
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()
    assert main(["r.gsl", "g.json", "-o", "out2.json", "--html", "c.html", "--replay", "t.jsonl"]) == 0
    assert data_of(Path("c.html").read_text())["changes"] == data_of(Path("a.html").read_text())["changes"]
    assert Path("t.jsonl").read_text().count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["view", "r.gsl", "g.json", "-o", "p.html"], ExitCode.USAGE, "the graph comes first"),
        (["view", "g.json", "--open"], ExitCode.USAGE, "--open needs a file"),
        (["view", "g.json", "--rule", "relu_relu"], ExitCode.USAGE, "need rules"),
        (
            ["view", "g.json", "r.gsl", "--rule", "relu_rel", "-o", "p.html"], ExitCode.USAGE,
            "did you mean `relu_relu`?",
        ),
        (["view", "g.json", "-o", "g.json"], ExitCode.USAGE, "would overwrite"),
        (["view", "g.json", "r.gsl", "-o", "r.gsl"], ExitCode.USAGE, "would overwrite"),
        (["view", "-", "-"], ExitCode.BAD_INPUT, "cannot both come from standard input"),
        (["view", "none.json", "-o", "p.html"], ExitCode.BAD_INPUT, "none.json"),
        (["view", "g.json", "-o", "no/p.html"], ExitCode.BAD_INPUT, "no folder"),
        (["r.gsl", "g.json", "-o", "o.json", "--html", "-"], ExitCode.USAGE, "a page must be written"),
        (["r.gsl", "g.json", "-o", "o.json", "--html", "o.json"], ExitCode.USAGE, "would overwrite"),
    ],
)
def test_refusals(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, says: str
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main(arguments) == code
    assert says in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_run_that_hits_its_limit_is_shown_and_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "g.json", "r.gsl", "--limit", "1", "-o", "p.html"]) == ExitCode.FINDINGS
    assert "stopped at the given limit" in capsys.readouterr().err
    assert data_of(Path("p.html").read_text())["totals"]["stop"] == "application limit"


GALLERY = """dialect relay;
## Twice <b>is</b> once.
@tags("cleanup")
rule twice(x): nn.relu(nn.relu(x)) where x.ndim == 2 => nn.relu(x);
## Wrong.
rule wrong(x): exp(x) => tanh(x);
test "fails" for twice {
    x: input float32[2];
    nn.relu(nn.relu(x)) => nn.relu(x)
}
"""


def test_rules_alone_are_a_gallery(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("g.gsl").write_text(GALLERY)
    assert main(["view", "g.gsl", "-o", "rules.html"]) == 0
    text = Path("rules.html").read_text()
    assert (
        text.count("<article") == 2 and text.count("<svg") == 2 and "&lt;b&gt;is" in text
        and "<b>" not in text
    )
    assert (
        'class="verdict refuted"' in text and "counterexample" in text and "x.ndim == 2" in text
        and "the rule was not applied" in text
    )
    assert not re.search(r"(?<!xmlns=\")https?:|@import|\burl\((?!#a)|src=", text)
    assert main(["view", "g.gsl", "-o", "again.html"]) == 0 and Path("again.html").read_text() == text
    assert (
        main(["view", "g.gsl", "--rule", "twice", "-o", "one.html"]) == 0
        and Path("one.html").read_text().count("<article") == 1
    )
    assert main(["view", "g.gsl", "-o", "g.gsl"]) == ExitCode.USAGE and Path("g.gsl").read_text() == GALLERY
    assert main(["view", "std.relay.nothing", "-o", "n.html"]) == ExitCode.BAD_INPUT


def test_without_time_verdicts_are_not_found(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("g.gsl").write_text(GALLERY.replace("Wrong", "Not seen before"))
    monkeypatch.setattr("gslang.verify.verdict.known_verdict", lambda key, seconds: None)
    assert main(["view", "g.gsl", "--seconds", "0", "-o", "r.html"]) == 0
    assert (
        Path("r.html").read_text().count("not verified") == 2
        and "2 rules without a verdict" in capsys.readouterr().err
    )


def test_hostile_rules_in_a_gallery(folder: Path) -> None:
    text = (
        'dialect relay;\n## </script><script>alert(1)</script> @@program@@ \u2028\n'
        '@tags("<img src=x onerror=alert(1)>")\nrule r(x): nn.relu(x) => x;\n'
    )
    Path("h.gsl").write_text(text, encoding="utf-8")
    assert main(["view", "h.gsl", "--seconds", "0", "-o", "h.html"]) == 0
    page_text = Path("h.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page_text and "<img" not in page_text and page_text.count("<script>") == 1


def test_near_misses_of_a_run() -> None:
    rules = gslang.parse_rules("dialect relay;\nrule far(x): exp(nn.relu(x)) => exp(x);")
    history, result = recorded(rules, chain(["x", "a", "b"]))
    (miss,) = run_data(history, "chain", rules, result)["misses"]
    assert (
        miss["rule"] == "far" and miss["expected"] == "`exp`"
        and history.entries[miss["node"]].op == "nn.relu"
    )
    assert 'stroke="#d6336c"' in miss["picture"]


def test_totals_have_work() -> None:
    graph = build(size=75, width=0.1)
    rules = gslang.load("std.relay")
    history = History()
    result = rules.apply(graph, gslang.Options(rules=["conv_mul", "diamond_conv_add"]), watch=history.watch)
    history.finish(result.graph)
    data = run_data(history, "inception", rules, result)
    before, after = data["totals"]["work"]
    assert before["macs"] > 0 and before["bytes"] > 0 and after["macs"] > 0
    assert sum(rule["macs"] for rule in data["rules"]) == after["macs"] - before["macs"]


def test_search_writes_a_page(folder: Path) -> None:
    Path("s.gsl").write_text(RULES)
    assert main(["search", "s.gsl", "g.json", "-o", "o.json", "--html", "s.html", "--require", "any"]) == 0
    assert data_of(Path("s.html").read_text())["totals"]["nodes"][0] == 4
