"""Dialogues about names in several files: definition, references, highlights, rename, links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.client import Client, place

COMMON = """\
#! What both files share.
fn twice(x: tensor) = x + x;

## Doc.
rule shared(a): exp(exp(a)) => exp(a);

op my.scale(x: tensor, by: float) -> tensor;
"""
MAIN = """\
use std.relay.common;
use "./common.gsl";

## Uses the function and the operator.
@allow(L0109)
rule local_rule(x, w: var) {
    c = nn.conv2d(x, w);
    exp(c) where front(c.groups, 2) == 1
  => my.scale(twice(c), by = 2.0)
}

pass both {
    shared;
    local_rule;
}

test "t" for shared {
    a: input float32[2];
    exp(exp(a)) => exp(a)
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project é")
    (folder / "common.gsl").write_text(COMMON)
    (folder / "main.gsl").write_text(MAIN)
    (folder / "third.gsl").write_text('use "./main.gsl";\npass third { local_rule; shared; }\n')
    (folder / "unrelated.gsl").write_text("rule shared(a): tanh(tanh(a)) => a;\n")
    return folder


@pytest.fixture(scope="module")
def project(folder: Path) -> Iterator[Client]:
    client = Client(folder)
    assert client.open((folder / "main.gsl").as_uri(), MAIN) == []
    yield client
    assert client.close() == 0 and client.stderr == ""


def uri(folder: Path, name: str) -> str:
    return (folder / name).as_uri()


def shown(locations: list[dict[str, Any]]) -> set[tuple[str, int, int]]:
    return {
        (loc["uri"].rsplit("/", 1)[-1], loc["range"]["start"]["line"], loc["range"]["start"]["character"])
        for loc in locations
    }


@pytest.mark.parametrize(
    ("mark", "skip", "expected"),
    [
        ("shared;", 1, ("common.gsl", 4, 5)), ("local_rule;", 1, ("main.gsl", 5, 5)),
        ("twice(c)", 1, ("common.gsl", 1, 3)), ("my.scale", 4, ("common.gsl", 6, 3)),
        ("c.groups", 0, ("main.gsl", 6, 4)), ("(x, w);", 1, ("main.gsl", 5, 16)),
        ("for shared", 5, ("common.gsl", 4, 5)), ("./common.gsl", 3, ("common.gsl", 0, 0)),
        ("std.relay.common", 5, ("common.gsl", 0, 0)), ("by = 2.0", 1, ("common.gsl", 6, 23)),
    ],
)
def test_definition(
    project: Client, folder: Path, mark: str, skip: int, expected: tuple[str, int, int]
) -> None:
    assert shown(project.at("definition", uri(folder, "main.gsl"), *place(MAIN, mark, skip))) == {expected}


def test_definition_in_the_shipped_library(project: Client, folder: Path) -> None:
    (there,) = project.at("definition", uri(folder, "main.gsl"), *place(MAIN, "front(", 1))
    assert there["uri"].endswith("stdlib_rules/relay/common.gsl")
    (there,) = project.at("definition", uri(folder, "main.gsl"), *place(MAIN, "nn.conv2d", 5))
    assert there["uri"].endswith("stdlib_rules/relay/ops.gsl")
    line = (
        Path(there["uri"].removeprefix("file://")).read_text().splitlines()[there["range"]["start"]["line"]]
    )
    assert line.startswith("op nn.conv2d(")


def test_attributes_lead_to_the_declaration_of_their_operator(project: Client, folder: Path) -> None:
    (there,) = project.at("definition", uri(folder, "main.gsl"), *place(MAIN, "groups", 1))
    line = (
        Path(there["uri"].removeprefix("file://")).read_text().splitlines()[there["range"]["start"]["line"]]
    )
    assert line[there["range"]["start"]["character"] :].startswith("groups: int")


def test_what_nobody_defines(project: Client, folder: Path) -> None:
    assert project.at("definition", uri(folder, "main.gsl"), *place(MAIN, "var)", 1)) == []
    assert (
        project.at(
            "references", uri(folder, "main.gsl"), *place(MAIN, "groups", 1),
            context={"includeDeclaration": True},
        )
        == []
    )


def test_references_across_files(project: Client, folder: Path) -> None:
    at = place(MAIN, "shared;", 1)
    found = shown(
        project.at("references", uri(folder, "main.gsl"), *at, context={"includeDeclaration": True})
    )
    assert found == {("common.gsl", 4, 5), ("main.gsl", 12, 4), ("main.gsl", 16, 13), ("third.gsl", 1, 25)}
    without = shown(
        project.at("references", uri(folder, "main.gsl"), *at, context={"includeDeclaration": False})
    )
    assert without == found - {("common.gsl", 4, 5)}


def test_highlights(project: Client, folder: Path) -> None:
    found = project.at("documentHighlight", uri(folder, "main.gsl"), *place(MAIN, "c = nn"))
    assert [(h["range"]["start"]["line"], h["kind"]) for h in found] == [(6, 3), (7, 2), (7, 2), (8, 2)]


def test_an_open_text_counts_before_its_file(project: Client, folder: Path) -> None:
    changed = "\n\n" + COMMON.replace("fn twice", "fn thrice")
    project.open(uri(folder, "common.gsl"), changed)
    late = project.until(lambda n: (
        n["method"].endswith("publishDiagnostics") and n["params"]["uri"].endswith("main.gsl")
        and bool(n["params"]["diagnostics"])
    ))
    assert "twice" in late["params"]["diagnostics"][0]["message"]
    assert shown(project.at("definition", uri(folder, "main.gsl"), *place(MAIN, "shared;", 1))) == {
        ("common.gsl", 6, 5)
    }
    project.say("textDocument/didClose", {"textDocument": {"uri": uri(folder, "common.gsl")}})
    assert shown(project.at("definition", uri(folder, "main.gsl"), *place(MAIN, "shared;", 1))) == {
        ("common.gsl", 4, 5)
    }


def apply(texts: dict[str, str], edit: dict[str, Any]) -> dict[str, str]:
    """The texts after a workspace edit (ASCII texts)."""
    result = dict(texts)
    for where, edits in edit["changes"].items():
        name = where.rsplit("/", 1)[-1]
        for change in sorted(
            edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True
        ):
            lines = result[name].splitlines(keepends=True)
            start, end = (
                "".join(lines[: p["line"]]) + lines[p["line"]][: p["character"]]
                for p in (change["range"]["start"], change["range"]["end"])
            )
            result[name] = start + change["newText"] + result[name][len(end) :]
    return result


@pytest.mark.parametrize(
    ("mark", "skip", "old", "new", "files"),
    [
        ("shared;", 1, "shared", "common_rule", {"common.gsl": 1, "main.gsl": 2, "third.gsl": 1}),
        ("twice(c)", 1, "twice", "doubled", {"common.gsl": 1, "main.gsl": 1}),
        ("my.scale", 4, "my.scale", "mine.times", {"common.gsl": 1, "main.gsl": 1}),
        ("c = nn", 0, "c", "conv", {"main.gsl": 4}), ("x, w: var", 0, "x", "data", {"main.gsl": 2}),
    ],
)
def test_rename(
    project: Client, folder: Path, mark: str, skip: int, old: str, new: str, files: dict[str, int]
) -> None:
    at = place(MAIN, mark, skip)
    assert project.at("prepareRename", uri(folder, "main.gsl"), *at)["placeholder"] == old
    edit = project.at("rename", uri(folder, "main.gsl"), *at, newName=new)
    assert {where.rsplit("/", 1)[-1]: len(edits) for where, edits in edit["changes"].items()} == files
    texts = {path.name: path.read_text() for path in folder.glob("*.gsl")}
    after = apply(texts, edit)
    assert after["unrelated.gsl"] == texts["unrelated.gsl"]
    (folder / "after").mkdir(exist_ok=True)
    for name, text in after.items():
        (folder / "after" / name).write_text(text)
    from tests.rule_files import check_file

    assert check_file(folder / "after" / "third.gsl").diagnostics == ()
    for path in (folder / "after").iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("mark", "skip", "new", "why"),
    [
        ("shared;", 1, "local_rule", "already"), ("c = nn", 0, "x", "already"),
        ("twice(c)", 1, "exp", "operator `exp` already"), ("twice(c)", 1, "len", "built-in"),
        ("my.scale", 4, "nn.relu", "already"), ("c = nn", 0, "2c", "not a name"),
        ("c = nn", 0, "where", "keyword"), ("c = nn", 0, "var", "is reserved"),
        ("front(", 1, "back", "shipped library"), ("nn.conv2d", 5, "nn.conv9d", "shipped library"),
        ("groups", 1, "group", "not introduced"), ("  =>", 1, "x", "no name here"),
    ],
)
def test_renames_that_are_refused(
    project: Client, folder: Path, mark: str, skip: int, new: str, why: str
) -> None:
    line, character = place(MAIN, mark, skip)
    params = {
        "textDocument": {"uri": uri(folder, "main.gsl")},
        "position": {"line": line, "character": character},
        "newName": new,
    }
    assert why in project.ask("textDocument/rename", params, fails=True)["message"]


def test_links_of_imports(project: Client, folder: Path) -> None:
    found = project.on("documentLink", uri(folder, "main.gsl"))
    assert [link["target"].rsplit("/", 2)[-2:] for link in found][0] == ["relay", "common.gsl"]
    assert found[1]["target"] == uri(folder, "common.gsl")
    assert found[1]["range"] == {"start": {"line": 1, "character": 5}, "end": {"line": 1, "character": 17}}


def test_files_outside_of_a_workspace(folder: Path) -> None:
    client = Client()
    client.open(uri(folder, "main.gsl"), MAIN)
    assert shown(client.at("definition", uri(folder, "main.gsl"), *place(MAIN, "shared;", 1))) == {
        ("common.gsl", 4, 5)
    }
    assert client.close() == 0 and client.stderr == ""
