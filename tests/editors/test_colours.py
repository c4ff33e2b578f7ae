"""Vim, Neovim, Emacs and Sublime Text's files colour each token of the corpus as what the compiler takes it
for.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.editors.corpus import ROOT, Token, corpus, text_of, tokens

EDITORS = ROOT / "editors"
pytestmark = pytest.mark.editors

# What a token of each kind may be, as a regular expression over names of groups, faces or scopes.
VIM = {
    "comment": r"gslang(Comment|Doc|DocText)",
    "string": r"gslang(String|Escape)",
    "number": "gslangNumber",
    "constant": "gslangConstant",
    "keyword": r"gslang(Item|Keyword|Kind)",
    "field": r"gslang(Field|Call|Declared)",
    "name": r"gslang(Name|Call|Parameter|Declared|Kind|Builtin|Type|Hole|Annotation)",
    "sign": r"gslang(Operator|Delimiter|Annotation|Field|Call|Declared)",
}
EMACS = {
    "comment": r"font-lock-(comment|doc|comment-delimiter)-face",
    "string": "font-lock-string-face",
    "number": "None",
    "constant": "font-lock-constant-face",
    "keyword": r"font-lock-(keyword|type)-face",
    "field": r"None|font-lock-(function-name|constant)-face",
    "name": r"None|font-lock-(variable-name|function-name|constant|type|builtin|preprocessor)-face",
    "sign": r"None|font-lock-(preprocessor|constant|function-name)-face",
}
SCOPES = {
    "comment": r"comment\.",
    "string": r"string\.quoted|punctuation\.definition\.string|constant\.character\.escape",
    "number": r"constant\.numeric",
    "constant": r"constant\.language",
    "keyword": r"keyword\.|storage\.type",
    "field": r"variable\.other\.property|entity\.name",
    "name": r"variable\.|entity\.|support\.|storage\.type",
    "sign": r"keyword\.operator|punctuation\.|support\.type|entity\.name\.namespace",
}


@lru_cache(maxsize=1)
def everything() -> dict[Path, list[Token]]:
    return {path: tokens(text_of(path)) for path in corpus()}


def compare(path: Path, found: list[tuple[Token, Any]], allowed: dict[str, str]) -> None:
    for token, name in found:
        place = f"{path.name}:{token.line}:{token.column + 1}"
        assert re.match(rf"(?:{allowed[token.kind]})", str(name)), (
            f"{place}: {token.kind} `{token.text}` is {name}"
        )


@pytest.mark.parametrize("editor", ["vim", "nvim"])
def test_vim(editor: str, tmp_path: Path) -> None:
    asked = {}
    for path, listed in everything().items():
        lines = text_of(path).split("\n")
        asked[str(path)] = [
            [
                t.line, len(lines[t.line - 1][: t.column].encode()),
                len(lines[t.line - 1][t.column :][: t.length].encode()),
            ]
            for t in listed
        ]
    groups = in_vim(editor, "dump_groups.vim", asked, tmp_path)
    for path, listed in everything().items():
        pairs = groups[str(path)]
        compare(
            path, [(token, group) for token, pair in zip(listed, pairs, strict=True) for group in pair], VIM
        )


def in_vim(editor: str, script: str, asked: Any, folder: Path) -> Any:
    """What a script answers, in an editor with only the shipped files."""
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    start = [
        "-u", "NONE", "-i", "NONE", "-n", "--cmd", f"set runtimepath^={EDITORS / 'vim'}", "--cmd",
        "filetype plugin indent on | syntax on",
    ]
    names = ["--cmd", f"let g:input = '{folder}/asked.json' | let g:output = '{folder}/answer.json'"]
    mode = ["--headless"] if editor == "nvim" else ["-N", "-es", "--not-a-term"]
    command = [editor, *mode, *start, *names, "-S", str(Path(__file__).parent / script), "-c", "qa!"]
    environment = {**os.environ, "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL, env=environment
    )
    assert (folder / "answer.json").is_file(), done.stderr + done.stdout
    return json.loads((folder / "answer.json").read_text(encoding="utf-8"))


def test_vim_shows_what_is_unknown(tmp_path: Path) -> None:
    rules = tmp_path / "wrong.gsl"
    rules.write_text("rule r(x): § => x;\n", encoding="utf-8")
    assert (
        in_vim("vim", "dump_groups.vim", {str(rules): [[1, 11, 2]]}, tmp_path)[str(rules)][0][0]
        == "gslangError"
    )


def test_vim_make_fills_the_quickfix_list(tmp_path: Path) -> None:
    rules = tmp_path / "it's wrong.gsl"
    rules.write_text("# one\nrule r(x): nn.rellu(x) => x;\n", encoding="utf-8")
    script = tmp_path / "make.vim"
    script.write_text(
        f"edit {str(rules).replace(' ', chr(92) + ' ')}\nsilent make!\n"
        "call writefile([json_encode(map(getqflist(), {_, f -> [f.lnum, f.col, f.text]}))], g:output)\n",
        encoding="utf-8",
    )
    found = in_vim("vim", str(script), None, tmp_path)
    assert [2, 12, "E0301 unknown operator `nn.rellu`"] in found


def test_files_of_the_other_language_can_be_kept_out(tmp_path: Path) -> None:
    """iMatix GSL has the same suffix; these are the lines of docs/editors.md."""
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (tmp_path / "old").mkdir()
    other, own = tmp_path / "old" / "a.gsl", tmp_path / "a.gsl"
    for path in (other, own):
        path.write_text(".template 0\n", encoding="utf-8")
    autocommand = re.search(r"`(autocmd [^`]+old/[^`]+)`", page)
    setup, answer = tmp_path / "vimrc", tmp_path / "answer"
    assert autocommand
    setup.write_text(
        f"{autocommand[1]}\nset runtimepath^={EDITORS / 'vim'}\nfiletype plugin indent on\n", encoding="utf-8"
    )
    show = f"call writefile([&filetype], '{answer}', 'a')"
    command = [
        "vim", "-N", "-es", "--not-a-term", "-u", setup, "-i", "NONE", other, "-c", show, "-c", f"edit {own}",
        "-c", show, "-c", "qa!",
    ]
    subprocess.run(command, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    assert answer.read_text(encoding="utf-8").split() == ["text", "gslang"]

    form = re.search(r"`(\(add-to-list 'auto-mode-alist [^`]+)`", page)
    assert form
    show = (
        f'(princ (mapcar (lambda (file) (with-current-buffer (find-file file) major-mode)) (list "{other}" '
        f'"{own}")))'
    )
    command = [
        "emacs", "-Q", "--batch", "-l", EDITORS / "emacs" / "gsl-mode.el", "--eval", form[1], "--eval", show,
    ]
    assert (
        subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        == "(text-mode gsl-mode)"
    )


def test_emacs(tmp_path: Path) -> None:
    asked = {str(path): [token[:3] for token in listed] for path, listed in everything().items()}
    faces = in_emacs("gsl-dump", asked, tmp_path)
    for path, listed in everything().items():
        compare(
            path,
            [(token, face) for token, pair in zip(listed, faces[str(path)], strict=True) for face in pair],
            EMACS,
        )


def in_emacs(function: str, asked: Any, folder: Path) -> Any:
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    load = ["-l", str(EDITORS / "emacs" / "gsl-mode.el"), "-l", str(Path(__file__).parent / "dump_faces.el")]
    call = f'({function} "{folder}/asked.json" "{folder}/answer.json")'
    done = subprocess.run(
        ["emacs", "-Q", "--batch", *load, "--eval", call], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "answer.json").read_text(encoding="utf-8"))


def test_emacs_mode_compiles_without_a_warning(tmp_path: Path) -> None:
    mode = tmp_path / "gsl-mode.el"
    mode.write_text((EDITORS / "emacs" / "gsl-mode.el").read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(
        ["emacs", "-Q", "--batch", "-f", "batch-byte-compile", str(mode)], capture_output=True, text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr


def test_emacs_lists_items(tmp_path: Path) -> None:
    rules = tmp_path / "a.gsl"
    rules.write_text(
        'fn f(x) = x;\n## r\nrule one(x): x => x;\ntest "a title" for one {\n}\npass both { one; }\n',
        encoding="utf-8",
    )
    show = (
        "(progn (require 'imenu) (princ (mapcar (lambda (group) (mapcar #'car (cdr group))) (cdr "
        "(imenu--make-index-alist)))))"
    )
    command = [
        "emacs", "-Q", "--batch", "-l", str(EDITORS / "emacs" / "gsl-mode.el"), str(rules), "--eval", show,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert set(re.findall(r"[a-z ]+", done.stdout)) >= {"one", "f", "both", "a title"}


def test_emacs_formats(tmp_path: Path) -> None:
    rules = tmp_path / "a.gsl"
    rules.write_text("rule one( x ):x=>x;\n", encoding="utf-8")
    command = [
        "emacs", "-Q", "--batch", "-l", str(EDITORS / "emacs" / "gsl-mode.el"), str(rules), "-f",
        "gsl-format-buffer", "-f", "save-buffer",
    ]
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "PATH": path}
    )
    assert rules.read_text(encoding="utf-8") == "rule one(x): x => x;\n"


# ── Sublime Text: its engine is not to be had, so a small one of ours reads the definition ──


def sublime_scopes(definition: dict[str, Any], text: str) -> Iterator[list[str]]:
    """For each character of the text, in order and line by line, its innermost scope ("" for none)."""
    stack: list[list[dict[str, Any]]] = [definition["contexts"]["main"]]
    metas: list[str] = [""]
    for line in text.split("\n"):
        scopes, at, idle = [""] * len(line), 0, 0
        while at <= len(line):
            rules = list(flat(definition, stack[-1]))
            best: tuple[re.Match[str], dict[str, Any]] | None = None
            for rule in rules:
                found = re.compile(rule["match"]).search(line, at)
                if found and (best is None or found.start() < best[0].start()):
                    best = found, rule
            stop = best[0].start() if best else len(line)
            scopes[at:stop] = [metas[-1]] * (stop - at)
            if best is None:
                break
            found, rule = best
            inner = metas[-1]
            if "push" in rule:
                inner = next((entry["meta_scope"] for entry in rule["push"] if "meta_scope" in entry), inner)
            scopes[found.start() : found.end()] = [rule.get("scope", inner)] * (found.end() - found.start())
            for group, scope in rule.get("captures", {}).items():
                if found[group] is not None:
                    scopes[found.start(group) : found.end(group)] = [scope] * (
                        found.end(group) - found.start(group)
                    )
            if "push" in rule:
                stack.append([entry for entry in rule["push"] if "meta_scope" not in entry])
                metas.append(inner)
            elif "pop" in rule:
                stack.pop()
                metas.pop()
            idle = idle + 1 if found.end() == at else 0
            assert idle < 10, f"no progress at {line!r}, column {at}"
            at = found.end() if "push" in rule or "pop" in rule else max(found.end(), at + 1)
        yield scopes


def flat(definition: dict[str, Any], entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if "include" in entry:
            yield from flat(definition, definition["contexts"][entry["include"]])
        else:
            yield entry


def test_sublime() -> None:
    import yaml

    text = (EDITORS / "sublime" / "gslang.sublime-syntax").read_text(encoding="utf-8")
    definition = yaml.safe_load(text.removeprefix("%YAML 1.2\n"))
    assert definition["scope"] == "source.gslang" and definition["file_extensions"] == ["gsl"]
    for path, listed in everything().items():
        scopes = list(sublime_scopes(definition, text_of(path)))
        compare(
            path,
            [(t, scope) for t in listed for scope in scopes[t.line - 1][t.column : t.column + t.length]],
            SCOPES,
        )
    assert "invalid.illegal.gslang" in next(sublime_scopes(definition, "a § b"))


def in_vim_indented(paths: list[str], folder: Path) -> dict[str, list[str]]:
    return dict(in_vim("vim", "dump_indentation.vim", paths, folder))


def in_emacs_indented(paths: list[str], folder: Path) -> dict[str, list[str]]:
    return {
        path: text.split("\n")[:-1] for path, text in in_emacs("gsl-dump-indentation", paths, folder).items()
    }


@pytest.mark.parametrize("indented", [in_vim_indented, in_emacs_indented])
def test_indentation_is_that_of_the_formatter(
    indented: Callable[[list[str], Path], dict[str, list[str]]], tmp_path: Path
) -> None:
    """The shipped rules are formatted.

    Editors see lines, not trees: what differs is inside of broken conditions.
    """
    paths = [str(path) for path in sorted((ROOT / "stdlib_rules").rglob("*.gsl"))]
    lines = different = 0
    for path, found in indented(paths, tmp_path).items():
        expected = Path(path).read_text(encoding="utf-8").split("\n")[:-1]
        lines += len(expected)
        different += sum(a != b for a, b in zip(expected, found, strict=True))
    assert lines > 3000 and different / lines < 0.02, f"{different} of {lines}"
