"""Completion scripts, in the shells themselves: what each offers at the end of a command line."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from gslang.cli import completion_table
from gslang.cli.completion_bash import script as bash
from gslang.cli.completion_fish import script as fish
from gslang.cli.completion_table import Kind, Names, Verb
from gslang.cli.completion_zsh import script as zsh
from gslang.cli.main import VERBS, main
from gslang.lint.codes import LINTS

RULES = "rule one(x): x => x;\nfn f(x) = x;\n  rule two(x) {\n}\npass both { one; two; }\n"
Complete = Callable[[str], list[str]]


@lru_cache(maxsize=1)
def names() -> Names:
    return completion_table.names()


@lru_cache(maxsize=1)
def verbs() -> tuple[Verb, ...]:
    return completion_table.verbs()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my.gsl").write_text(RULES, encoding="utf-8")
    (tmp_path / "net.relay").touch()
    (tmp_path / "net.json").touch()
    (tmp_path / "notes.txt2").touch()
    (tmp_path / "with space.gsl").touch()
    (tmp_path / "sub").mkdir()
    return tmp_path


def in_bash(folder: Path) -> Complete:
    script = folder / "sub" / "gslc.bash"
    script.write_text(bash(verbs(), names()), encoding="utf-8")
    # As readline does it: words end at spaces, and `=` is a word of its own. `compopt` has no line to act
    # upon here.
    ask = r"""
        source "$1"; compopt() { :; }
        IFS=' ' read -r -a COMP_WORDS <<< "${2//=/ = }"
        [[ $2 == *" " || $2 == *= ]] && [[ $2 != *= ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _gslc; printf '%s\n' "${COMPREPLY[@]}"
    """

    def complete(line: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", ask, "bash", script, line], cwd=folder, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return sorted(done.stdout.split("\n")[:-1])

    return complete


def in_fish(folder: Path) -> Complete:
    script = folder / "sub" / "gslc.fish"
    script.write_text(fish(verbs(), names()), encoding="utf-8")

    def complete(line: str) -> list[str]:
        command = [
            "fish", "--no-config", "-c", "source $argv[1]; complete --do-complete $argv[2]", str(script),
            line,
        ]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True,
            env={**os.environ, "HOME": str(folder)},
        )
        assert done.stderr == ""
        found = [offered.split("\t")[0] for offered in done.stdout.splitlines()]
        return sorted(
            word.rpartition("=")[2] if word.startswith("-") and "=" in word else word for word in found
        )

    return complete


def in_zsh(folder: Path) -> Complete:
    script = folder / "sub" / "_gslc"
    script.write_text(zsh(verbs(), names()), encoding="utf-8")
    # A zsh at a terminal of its own; what would be inserted or listed goes through `compadd`, which notes it
    # here.
    ask = r"""
        zmodload zsh/zpty
        zpty inner zsh -f -i
        zpty -w inner "PS1= ; cd $PWD; fpath=($1:h \$fpath); autoload -Uz compinit; compinit -u -D; source $1"
        zpty -w inner 'compadd() {
            if (( ${@[(I)-[OAD]]} )); then builtin compadd "$@"; return; fi
            typeset -a found; builtin compadd -A found "$@"
            (($#found)) && print -rl -- ${IPREFIX}${^found} >> $OFFERED
            builtin compadd "$@"
        }'
        zpty -w inner "OFFERED=$PWD/sub/offered; bindkey '^I' complete-word; setopt no_beep; LISTMAX=100000"
        zpty -w inner "print -r 'rea''dy'"
        zpty -m inner out '*ready*'
        zpty -w -n inner "$2"$'\t'
        integer k; for ((k = 0; k < 100; k++)); do sleep 0.05; [[ -s sub/offered ]] && break; done; sleep 0.3
        zpty -d inner
        sort -u sub/offered
    """

    def complete(line: str) -> list[str]:
        (folder / "sub" / "offered").unlink(missing_ok=True)
        done = subprocess.run(
            ["zsh", "-f", "-c", ask, "zsh", script, line], cwd=folder, capture_output=True, text=True,
            check=True, timeout=60,
        )
        return sorted(
            word.rpartition("=")[2] if word.startswith("-") and "=" in word else word
            for word in done.stdout.splitlines()
        )

    return complete


SHELLS = {"bash": in_bash, "fish": in_fish, "zsh": in_zsh}


@pytest.fixture(params=[pytest.param(shell, marks=pytest.mark.editors) for shell in SHELLS])
def complete(request: pytest.FixtureRequest, folder: Path) -> Complete:
    assert shutil.which(request.param), f"{request.param} is missing: apt-get install {request.param}"
    return SHELLS[request.param](folder)


def test_verbs_and_rule_files_come_first(complete: Complete) -> None:
    found = complete("gslc ")
    assert set(VERBS) <= set(found)
    assert {"my.gsl", "std.relay.conv"} <= set(found) and "net.relay" not in found
    assert complete("gslc exp") == ["explain"]


def test_the_formatter_takes_files_only(complete: Complete) -> None:
    found = complete("gslc fmt ")
    assert {"my.gsl", "with space.gsl"} <= {word.replace("\\", "") for word in found}
    assert not {"std.relay", "net.json"} & set(found)


def test_options_of_the_verb(complete: Complete) -> None:
    assert complete("gslc lint my.gsl --st") == ["--statistics"]
    assert complete("gslc my.gsl net.json --check-n") == ["--check-numbers"]
    assert "--exit-zero" not in complete("gslc check --")


def test_values_of_options(complete: Complete) -> None:
    assert complete("gslc lint --format s") == ["sarif"]
    assert complete("gslc lint --format=s") == ["sarif"]
    assert set(complete("gslc check --format ")) == {"text", "concise", "json", "sarif", "github"}
    assert complete("gslc convert net.json --output-format o") == ["onnx"]


def test_names_of_rules_are_those_of_the_files(complete: Complete) -> None:
    assert complete("gslc test my.gsl --rule ") == ["one", "two"]
    assert complete("gslc my.gsl net.json --pass ") == ["both"]
    assert "diamond_conv_add" in complete("gslc match std.relay net.json --rule d")


def test_codes(complete: Complete) -> None:
    assert complete("gslc explain L011") == [code for code in LINTS if code.startswith("L011")]
    assert complete("gslc explain diamond_c") == ["diamond_conv_add"]
    assert set(complete("gslc lint --select L0101,L020")) == {
        f"L0101,{code}" for code in LINTS if code.startswith("L020")
    }


def test_second_arguments_are_graphs(complete: Complete) -> None:
    found = [word.rstrip("/") for word in complete("gslc match my.gsl net")]
    assert found == ["net.json", "net.relay"]
    assert [word.rstrip("/") for word in complete("gslc my.gsl --seed 3 net.r")] == ["net.relay"]
    assert "my.gsl" not in complete("gslc run ")


def test_operators(complete: Complete) -> None:
    assert complete("gslc ops nn.conv2d_t") == ["nn.conv2d_transpose"]


def test_every_option_is_in_every_script() -> None:
    table = verbs()
    texts = (bash(table, names()), zsh(table, names()), fish(table, names()))
    for verb in table:
        assert {"-h", "--help", "--color"} <= {name for option in verb.options for name in option.names}
        for option in verb.options:
            assert (
                option.names[-1] in texts[0] and option.names[-1] in texts[1]
                and f"-l {option.names[-1][2:]} " in texts[2]
            )
    assert [verb.name for verb in table] == list(VERBS)
    assert not any(
        verb.name in ("lint", "match") and Kind.RULES is not verb.arguments[0].kind for verb in table
    )


def test_the_verb_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == 0
    assert capsys.readouterr().out == fish(verbs(), names())
    assert main(["completion", "tcsh"]) == 2
