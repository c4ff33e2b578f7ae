"""Rule files of a folder: what editors leave beside them is none."""

from __future__ import annotations

from pathlib import Path

from gslang.base.rule_files import rule_files
from gslang.check.modules import load_module
from tests.cli.test_cli import gslc


def test_hidden_files_are_no_rules(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "folder.gsl").mkdir()
    for name in ("b.gsl", "inner/a.gsl", ".git/c.gsl"):
        (tmp_path / name).write_text("dialect relay;\nrule a(x): exp(log(x)) => x;\n")
    (tmp_path / ".#b.gsl").symlink_to("nobody@host.1")
    assert rule_files(tmp_path) == [tmp_path / "b.gsl", tmp_path / "inner/a.gsl"]
    assert len(load_module(str(tmp_path))) == 2
    for verb in ("check", "lint", "fmt"):
        done = gslc(verb, str(tmp_path), cwd=tmp_path)
        assert (
            "Traceback" not in done.stderr and "internal error" not in done.stderr
            and done.returncode in (0, 1)
        ), done.stderr
