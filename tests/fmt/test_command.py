"""`gslc fmt`: files, folders, standard input, exit codes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gslang.cli.main import main


def test_rewrites_only_what_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ugly, fine = tmp_path / "a.gsl", tmp_path / "b.gsl"
    ugly.write_bytes(b"rule r(x):x=>x;\r\n")
    fine.write_text("rule r(x): x => x;\n", encoding="utf-8")
    before = fine.stat().st_mtime_ns
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{ugly}\n"
    assert main(["fmt", "--diff", str(tmp_path)]) == 0
    assert "+rule r(x): x => x;" in capsys.readouterr().out
    assert ugly.read_bytes() == b"rule r(x):x=>x;\r\n"
    assert main(["fmt", str(tmp_path)]) == 0
    assert ugly.read_bytes() == fine.read_bytes() and fine.stat().st_mtime_ns == before
    assert main(["fmt", "--check", str(tmp_path)]) == 0


def test_a_wrong_file_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "a.gsl"
    wrong.write_text("rule r(x) x=>x;", encoding="utf-8")
    assert main(["fmt", str(wrong)]) == 1
    assert "error[E01" in capsys.readouterr().err
    assert wrong.read_text(encoding="utf-8") == "rule r(x) x=>x;"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"rule r(x):x=>x;")))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == "rule r(x): x => x;\n"


def test_bad_files_and_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", str(tmp_path / "none.gsl")]) == 3
    (tmp_path / "b.gsl").write_bytes(b"\xff")
    assert main(["fmt", str(tmp_path / "b.gsl")]) == 1
    assert (
        "b.gsl:1:1" in (said := capsys.readouterr().err) and "E0101" in said
        and "save the file as UTF-8" in said
    )
    assert main(["fmt", "--range", "3:1", str(tmp_path)]) == 2


def test_broken_standard_input_gives_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"rule r(x) x=>x;")))
    assert main(["fmt", "-"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "<stdin>:1:" in err


def test_check_and_diff_of_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"rule r(x):x=>x;")))
    assert main(["fmt", "--check", "--diff", "-"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("--- <stdin>") and "+rule r(x): x => x;" in out


def test_one_broken_file_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.gsl").write_text("rule r(x) x=>x;", encoding="utf-8")
    (tmp_path / "b.gsl").write_bytes(b"\xef\xbb\xbfrule r(x):x=>x;\r\n# end")
    assert main(["fmt", str(tmp_path)]) == 1
    assert (tmp_path / "a.gsl").read_text(encoding="utf-8") == "rule r(x) x=>x;"
    assert (tmp_path / "b.gsl").read_bytes() == b"rule r(x): x => x;\n# end\n"


def test_ranges(tmp_path: Path) -> None:
    path = tmp_path / "a.gsl"
    path.write_text("fn a( x )=x;\n\n\n\nfn b( x )=x;\n", encoding="utf-8")
    assert main(["fmt", "--range", "1:2", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == "fn a(x) = x;\n\n\n\nfn b( x )=x;\n"


def test_a_bug_leaves_the_file_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Were the formatter to lose something, its proof would fail, and nothing would be written."""
    path = tmp_path / "a.gsl"
    path.write_text("fn a( x )=x;  # kept\n", encoding="utf-8")
    monkeypatch.setattr("gslang.fmt.format_source.layout", lambda text, lines: "fn a(x) = x;\n")
    assert main(["fmt", str(path)]) == 4
    assert path.read_text(encoding="utf-8") == "fn a( x )=x;  # kept\n"
    assert "would not mean the same" in capsys.readouterr().err
