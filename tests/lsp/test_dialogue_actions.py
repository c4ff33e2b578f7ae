"""Dialogues about fixes_of and lenses: what is offered, and that the text is right after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from tests.lsp.client import Client, place
from tests.lsp.test_dialogue_view import after


def offered(
    client: Client, uri: str, text: str, only: list[str] | None = None, mark: str | None = None
) -> dict[str, str]:
    """Title → the text after the action, for the finding at `‸` (or all of the text)."""
    at = place(text, "‸") if "‸" in text else (0, 0)
    text = text.replace("‸", "")
    found = client.open(uri, text)
    end = at if at != (0, 0) else (1000, 0)
    given = {"start": {"line": at[0], "character": at[1]}, "end": {"line": end[0], "character": end[1]}}
    context: dict[str, Any] = {"diagnostics": [d for d in found if d["range"]["start"]["line"] == at[0]]}
    if only:
        context["only"] = only
    actions = client.on("codeAction", uri, range=given, context=context)
    return {a["title"]: after(text, a["edit"]["changes"][uri]) for a in actions if "edit" in a}


@pytest.mark.parametrize(
    ("text", "title", "result"),
    [
        ("rule r(x): nn.re‸llu(x) => exp(x);", "write `nn.relu`", "rule r(x): nn.relu(x) => exp(x);"),
        (
            "rule r(x, w): nn.conv2d(x, w, stride‸ = 1) => x;", "write `strides`",
            "rule r(x, w): nn.conv2d(x, w, strides = 1) => x;",
        ),
        (
            "rule r(x, weight) { a = nn.dense(x, weigt‸); exp(a) => a }", "write `weight`",
            "rule r(x, weight) { a = nn.dense(x, weight); exp(a) => a }",
        ),
        ("@onc‸ rule r(x): exp(x) => x;", "write `@once`", "@once rule r(x): exp(x) => x;"),
        ("dialect rellay‸;", "write `relay`", "dialect relay;"),
        ("use std.relay.comon‸;", "write `std.relay.common`", "use std.relay.common;"),
        (
            "rule r(x): exp(x) where x.ndim == 1 &‸& x.ndim == 2 => x;", "write `and`",
            "rule r(x): exp(x) where x.ndim == 1 and x.ndim == 2 => x;",
        ),
        (
            "rule r(x) {\n    a = exp(x)‸\n    exp(a) => a\n}", "insert `;`",
            "rule r(x) {\n    a = exp(x);\n    exp(a) => a\n}",
        ),
        (
            "rule r(x) {\n    a = exp(x)‸  # (\n    exp(a) => a\n}", "insert `;`",
            "rule r(x) {\n    a = exp(x);  # (\n    exp(a) => a\n}",
        ),
        (
            "rule r(x): nn.dense(‸exp(x), x => x;", "insert `)`", "rule r(x): nn.dense(exp(x), x) => x;",
        ),
        (
            "rule r(x)\n{‸ exp(x) => x\n\nrule s(x): exp(x) => x;", "insert `}`",
            "rule r(x)\n{ exp(x) => x}\n\nrule s(x): exp(x) => x;",
        ),
        ("rule r(x): exp‸ x) => x;", "insert `(`", "rule r(x): exp( x) => x;"),
        ("pass p { zz‸zz; }\nrule rule1(x): exp(x) => x;", None, ""),
        (
            (
                "rule r(x, w) {\n    d = nn.conv2d(exp(x), w);\n"
                "    c = nn.conv2d(x, w, strides = d.stri‸des);\n    c + d => x\n}"
            ),
            "move the constraint to the definition of `d`",
            (
                "rule r(x, w) {\n    d = nn.conv2d(exp(x), w, strides = c.strides);\n"
                "    c = nn.conv2d(x, w);\n    c + d => x\n}"
            ),
        ),
        (
            (
                "rule r(x, w) {\n    d = nn.conv2d(exp(x), w);\n"
                "    c = nn.conv2d(x, w, groups = d.gro‸ups + 1);\n    c + d where x.ndim == 4 => x\n}"
            ),
            "move the constraint to `where`",
            (
                "rule r(x, w) {\n    d = nn.conv2d(exp(x), w);\n    c = nn.conv2d(x, w);\n"
                "    c + d where x.ndim == 4, c.groups == d.groups + 1 => x\n}"
            ),
        ),
        (
            "rule r(w, v: var(shape = w.sha‸pe)): nn.dense(v, w) => w;",
            "move the constraint to the definition of `w`",
            "rule r(w: any(shape = v.shape), v: var): nn.dense(v, w) => w;",
        ),
        (
            "rule r(w: any?, v: var(dtype = w.dty‸pe, ndim = 2)): nn.dense(v, w) => w;",
            "move the constraint to `where`",
            "rule r(w: any?, v: var(ndim = 2)): nn.dense(v, w) where v.dtype == w.dtype => w;",
        ),
        ("rule r(x): e‸xp(front(x, 1)) => x;", None, ""),
        (
            "rule r(x): exp(fro‸nt(x, 1)) => x;", "import `front`: use std.relay.common;",
            "use std.relay.common;\nrule r(x): exp(front(x, 1)) => x;",
        ),
        (
            "## Doc.\nrule Ba‸d(x): exp(exp(x)) => x;",
            "silence L0107 here: @allow(L0107)", "## Doc.\n@allow(L0107)\nrule Bad(x): exp(exp(x)) => x;",
        ),
        (
            "## Doc.\n@allow(L0109)\nrule Ba‸d(x): exp(exp(x)) => x;",
            "silence L0107 here: @allow(L0107)",
            "## Doc.\n@allow(L0109, L0107)\nrule Bad(x): exp(exp(x)) => x;",
        ),
        ("rule b‸(x): exp(exp(x)) => x;", "add a doc comment", "## \nrule b(x): exp(exp(x)) => x;"),
    ],
)
def test_mends(client: Client, text: str, title: str | None, result: str) -> None:
    found = offered(client, "file:///nowhere/hint.gsl", text)
    if title is None:
        assert not any(t.startswith("write") for t in found)
        return
    assert title in found, sorted(found)
    assert found[title] == result


def test_fixes_of_lints_and_all_of_them(client: Client) -> None:
    text = (
        "## Doc.\n@allow(L0109)\nrule r(x) {\n    unused‸ = tanh(x);\n    exp(exp(x)) => x\n}\n\n## Doc.\n"
        "@allow(L0109)\nrule s(x) {\n    idle = tanh(x);\n    tanh(tanh(x)) => x\n}\n"
    )
    found = offered(client, "file:///nowhere/fix.gsl", text)
    assert "unused" not in found["remove the statement"] and "idle" in found["remove the statement"]
    everything = offered(client, "file:///nowhere/fixall.gsl", text.replace("‸", ""), ["source.fixAll"])
    ((title, result),) = everything.items()
    assert title == "hint 2 places in this file" and "unused" not in result and "idle" not in result
    assert check_source(Source("x", result)).ok


def test_a_mend_says_what_it_mends(client: Client) -> None:
    text = "rule r(x): nn.rellu(x) => exp(x);"
    uri = "file:///nowhere/which.gsl"
    (finding,) = [d for d in client.open(uri, text) if d["code"] == "E0301"]
    actions = client.on(
        "codeAction", uri, range=finding["range"], context={"diagnostics": [finding], "only": ["quickfix"]}
    )
    (action,) = [a for a in actions if a["title"] == "write `nn.relu`"]
    assert action["isPreferred"] and action["kind"] == "quickfix" and action["diagnostics"] == [finding]


TESTLESS = """\
## Doc.
rule sums(x, w1: var, w2: var(shape = w1.shape)) {
    c1 = nn.conv2d(x, w1, strides = [2, 2]);
    c2 = nn.conv2d(x, w2, c1.*);
    c1 + c2 => nn.conv2d(x, w1 + w2, c1.*)
}

## Two users of one node.
rule shared(x): nn.relu(nn.relu(x)) => nn.relu(x);
"""


@pytest.mark.parametrize("name", ["sums", "shared"])
def test_a_test_is_written(client: Client, name: str) -> None:
    """The test that is put into the file passes, and the finding is gone."""
    uri = f"file:///nowhere/testless_{name}.gsl"
    found = client.open(uri, TESTLESS)
    line, character = place(TESTLESS, f"rule {name}", 6)
    spot = {"line": line, "character": character}
    assert [d["code"] for d in found] == ["L0109", "L0109"]
    actions = client.on("codeAction", uri, range={"start": spot, "end": spot}, context={"diagnostics": found})
    (command,) = [a["command"] for a in actions if a["title"] == "add a test that passes"]
    client.ask("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})
    edit = client.requests[-1]
    assert edit["method"] == "workspace/applyEdit"
    text = after(TESTLESS, edit["params"]["edit"]["changes"][uri])
    assert (
        check_source(Source("x", text)).ok and f'}}\n\ntest "an instance" for {name}' in text
        or name == "shared"
    )
    left = client.open(uri, text)
    assert [d["code"] for d in left] == ["L0109"] and left[0]["range"]["start"]["line"] != line
    assert client.ask(
        "workspace/executeCommand", {"command": "gslang.runTests", "arguments": [uri, name]}
    ) == {"passed": 1, "failed": 0}


def test_conditions_of_a_refuted_rule_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GSLANG_CACHE", str(tmp_path))  # no verdict is known yet
    client = Client()
    uri, text = (
        "file:///nowhere/refuted.gsl",
        "dialect relay;\n\n## A sum with nothing.\nrule zero(x, z: const): x + z => x;\n",
    )
    client.open(uri, text)
    line, character = place(text, "rule zero", 6)
    spot = {"line": line, "character": character}

    def offered() -> list[Any]:
        return [
            a
            for a in client.on(
                "codeAction", uri, range={"start": spot, "end": spot}, context={"diagnostics": []}
            )
            if "find the conditions" in a["title"]
        ]

    assert offered() == []
    assert (
        client.ask("workspace/executeCommand", {"command": "gslang.verify", "arguments": [uri, "zero"]})[
            "verdict"
        ]
        == "refuted"
    )
    (action,) = offered()
    made = client.ask(
        "workspace/executeCommand",
        {"command": action["command"]["command"], "arguments": action["command"]["arguments"]},
    )
    now = after(text, client.requests[-1]["params"]["edit"]["changes"][uri])
    assert "z.value == 0" in made and now == text.replace("rule zero(x, z: const): x + z => x;", made)
    assert check_source(Source("x", now)).ok
    assert client.close() == 0 and client.stderr == ""


def test_no_test_for_what_has_no_instance(client: Client) -> None:
    client.open("untitled:none", "## Doc.\nrule none_such(x): exp(x) where 1 == 2 => x;\n")
    assert (
        client.ask(
            "workspace/executeCommand",
            {"command": "gslang.addTest", "arguments": ["untitled:none", "none_such"]},
        )
        == ""
    )
    assert any("no graph was found" in n["params"].get("message", "") for n in client.notices)


# ── lenses ──

RULES = """\
## Doc.
rule relu_twice(x): nn.relu(nn.relu(x)) => nn.relu(x);

## Wrong on purpose.
rule wrong(x): exp(x) => tanh(x);

test "good" for relu_twice {
    x: input float32[2, 3];
    nn.relu(nn.relu(x)) => nn.relu(x)
}
test "bad" for wrong {
    x: input float32[2, 3];
    exp(x) => tanh(x)
}
"""


def lenses(client: Client, uri: str) -> list[dict[str, Any]]:
    return [
        found if "command" in found else client.ask("codeLens/resolve", found)
        for found in client.on("codeLens", uri)
    ]


def titles(client: Client, uri: str) -> list[str]:
    return [lens["command"]["title"] for lens in lenses(client, uri)]


def test_tests_are_run(client: Client) -> None:
    uri = "file:///nowhere/lenses.gsl"
    client.open(uri, RULES)
    assert titles(client, uri)[0] == "run 1 test" and titles(client, uri).count("run test") == 2
    lens = [found for found in lenses(client, uri) if found["command"]["title"] == "run test"]
    results = [
        client.ask(
            "workspace/executeCommand",
            {"command": found["command"]["command"], "arguments": found["command"]["arguments"]},
        )
        for found in lens
    ]
    assert results == [{"passed": 1, "failed": 0}, {"passed": 0, "failed": 1}]
    assert titles(client, uri)[4] == "✓ passed" and titles(client, uri)[-1].startswith("✗ the numbers differ")
    assert any(
        "1 failed" in n["params"]["message"] for n in client.notices if n["method"] == "window/showMessage"
    )


def test_an_edit_makes_results_old(client: Client) -> None:
    uri = "file:///nowhere/old.gsl"
    client.open(uri, RULES)
    client.ask(
        "workspace/executeCommand", {"command": "gslang.runTests", "arguments": [uri, "relu_twice", "good"]}
    )
    assert "✓ passed" in titles(client, uri)
    line, character = place(RULES, "=> nn.relu(x);", 3)
    start = {"line": line, "character": character}
    client.change(uri, {"range": {"start": start, "end": start}, "text": "keep_it_different(x) + "})
    assert "✓ passed" not in titles(client, uri)


def test_the_client_is_asked_to_look_again() -> None:
    client = Client(capabilities={"workspace": {"codeLens": {"refreshSupport": True}}})
    client.open("untitled:refresh", RULES)
    client.ask(
        "workspace/executeCommand",
        {"command": "gslang.runTests", "arguments": ["untitled:refresh", "relu_twice"]},
    )
    client.ask("workspace/symbol", {"query": "no such name"})
    assert [r["method"] for r in client.requests] == ["workspace/codeLens/refresh"]
    assert client.close() == 0 and client.stderr == ""


def test_rules_are_verified(client: Client) -> None:
    uri = "file:///nowhere/verify.gsl"
    client.open(uri, RULES)
    answer = client.ask("workspace/executeCommand", {"command": "gslang.verify", "arguments": [uri, "wrong"]})
    assert answer["verdict"] == "refuted"
    assert "verify: refuted" in titles(client, uri)
    assert any(
        "wrong: refuted" in n["params"]["message"] and n["params"]["type"] == 1
        for n in client.notices if n["method"] == "window/showMessage"
    )


def test_a_verdict_is_remembered_where_no_cache_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GSLANG_CACHE", "off")
    client = Client()
    client.open("untitled:verdict", RULES)
    client.ask(
        "workspace/executeCommand", {"command": "gslang.verify", "arguments": ["untitled:verdict", "wrong"]}
    )
    assert "verify: refuted" in titles(client, "untitled:verdict")
    assert client.close() == 0 and client.stderr == ""


@pytest.mark.parametrize("where", ["gslang.toml", "pyproject.toml"])
def test_matches_in_the_model_of_the_project(client: Client, tmp_path: Path, where: str) -> None:
    relay = (
        "def @main(%x: Tensor[(2, 3), float32]) {\n  %0 = nn.relu(%x);\n  %1 = nn.relu(%0);\n  nn.relu(%1)\n"
        "}\n"
    )
    (tmp_path / "net.relay").write_text('#[version = "0.0.5"]\n' + relay)
    (tmp_path / where).write_text(
        ("[tool.gslang]\n" if where == "pyproject.toml" else "") + 'model = ["net.relay", "missing.json"]\n'
    )
    uri = (tmp_path / "rules.gsl").as_uri()
    client.open(uri, RULES)
    found = titles(client, uri)
    assert "2 matches in net.relay" in found and "0 matches in net.relay" in found
    assert any(title.startswith("missing.json cannot be read") for title in found)
    answer = client.ask(
        "workspace/executeCommand",
        {"command": "gslang.countMatches", "arguments": [uri, "relu_twice", str(tmp_path / "net.relay")]},
    )
    assert answer == "2 matches in net.relay"


@pytest.mark.parametrize(
    "command",
    ["gslang.runTests", "gslang.verify", "gslang.countMatches", "gslang.addTest", "gslang.findConditions"],
)
@pytest.mark.parametrize(
    "arguments", [[], ["file:///no/such.gsl"], ["file:///no/such.gsl", "x", "y", "z"], [1, None], None]
)
def test_commands_with_wrong_arguments(client: Client, command: str, arguments: Any) -> None:
    client.ask("workspace/executeCommand", {"command": command, "arguments": arguments})
    assert json.dumps(arguments) is not None
