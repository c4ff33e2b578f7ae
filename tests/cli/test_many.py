"""Several graphs at once: here, in processes, on a Dask cluster; what fails does not stop the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder

RULES = "dialect relay;\nrule relu_twice(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"


def graph() -> str:
    b = Builder(load_dialect("relay"))
    return write_json(b.finish(b.call("nn.relu", b.call("nn.relu", b.input("x", (2,))))))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "r.gsl").write_text(RULES)
    models = tmp_path / "models"
    models.mkdir()
    for name in ("a.json", "c.json"):
        (models / name).write_text(graph())
    (models / "bad.json").write_text("{")
    (models / "notes.txt").write_text("no graph")
    return tmp_path


def operators(path: Path) -> list[str]:
    return [node["op"] for node in json.loads(path.read_text())["nodes"] if "op" in node]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_folder_of_graphs(folder: Path, jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main([
            str(folder / "r.gsl"), str(folder / "models"), "-o", str(folder / "out"), "--check-numbers",
            "--jobs", jobs,
        ])
        == 3
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["a.json", "bad.json", "c.json"]
    assert "1 application" in lines[0] and "not JSON" in lines[1] and "1 application" in lines[2]
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["a.json", "c.json"]
    assert operators(folder / "out" / "a.json") == ["nn.relu"]


def test_options_for_one_file_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, models, out = str(folder / "r.gsl"), str(folder / "models"), ["-o", str(folder / "out")]
    for option in ("--report", "--trace", "--html", "--replay", "--inputs"):
        assert main(["apply", rules, models, *out, option, str(folder / "f")]) == 2
        assert f"{option} writes one file" in capsys.readouterr().err
    assert main(["apply", rules, models]) == 3
    assert main(["apply", "-", models, *out]) == 3
    assert "standard input" in capsys.readouterr().err
    (folder / "empty").mkdir()
    assert main(["apply", rules, str(folder / "empty"), *out]) == 3
    assert "no graphs in this folder" in capsys.readouterr().err


def test_a_cluster(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        assert (
            main([
                str(folder / "r.gsl"), str(folder / "models"), "-o", str(folder / "out"), "--cluster",
                address,
            ])
            == 3
        )
        assert sorted(path.name for path in (folder / "out").iterdir()) == ["a.json", "c.json"]
        (folder / "two.gsl").write_text(RULES + "rule wrong(x): nn.relu(x) => x;\n")
        assert main(["verify", str(folder / "two.gsl"), "--cluster", address]) == 1
        told = capsys.readouterr().out
        assert "proved" in told and "refuted" in told


def test_no_cluster(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    assert (
        main([
            str(folder / "r.gsl"), str(folder / "models"), "-o", str(folder / "out"), "--cluster", "nonsense",
        ])
        == 3
    )
    assert "no Dask scheduler answers" in capsys.readouterr().err
    assert main(["verify", str(folder / "r.gsl"), "--cluster", "nonsense"]) == 3
    assert "no Dask scheduler answers" in capsys.readouterr().err


def test_a_cluster_is_never_ignored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = str(folder / "models" / "a.json")
    for verb in ("apply", "search"):
        assert (
            main([verb, str(folder / "r.gsl"), one, "-o", str(folder / "o.json"), "--cluster", "here:1"]) == 3
        )
        assert "--cluster is for several graphs" in capsys.readouterr().err
