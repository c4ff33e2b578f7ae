"""An installed wheel holds every package and data file, and each extra brings what its commands need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.sessions import play

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
EXTRAS = {  # what runs with an extra and not without it: arguments of Python
    "safetensors": ["-c", "import safetensors.numpy"],
    "onnx": ["-c", "import onnx"],
    "onnxruntime": ["-c", "import onnx, onnxruntime"],
    "dask": ["-c", "import distributed"],
    "search": ["-c", "import highspy"],
    "highlight": ["-c", "from pygments.lexers import get_lexer_by_name; get_lexer_by_name('gsl')"],
    "png": ["-c", "import PIL.Image"],
    "lsp": ["-c", "import gslang.lsp.server"],
    "all": ["-c", "import onnx, onnxruntime, highspy, pygls, PIL, pygments, safetensors"],
}


def test_each_package_is_in_the_wheel() -> None:
    on_disk = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "gslang").rglob("*.py")}
    declared = {name for name in SETUPTOOLS["packages"] if not name.startswith("gslang._data")}
    assert declared == on_disk
    rules = {path.parent.relative_to(ROOT) for path in (ROOT / "stdlib_rules").rglob("*.gsl")}
    assert {Path(folder) for folder in SETUPTOOLS["package-dir"].values()} >= rules


def test_each_data_file_is_in_the_wheel() -> None:
    folders = {
        name: ROOT / SETUPTOOLS["package-dir"].get(name, name.replace(".", "/"))
        for name in SETUPTOOLS["packages"]
    }
    left = []
    for name, folder in folders.items():
        globs = SETUPTOOLS["package-data"].get(name, [])
        below = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
        nearest = [
            path
            for path in below
            if not any(
                other != folder and other.is_relative_to(folder) and path.is_relative_to(other)
                for other in folders.values()
            )
        ]
        left += [
            str(path.relative_to(ROOT))
            for path in nearest if not any(fnmatch(str(path.relative_to(folder)), glob) for glob in globs)
        ]
    assert [path for path in left if not path.startswith("stdlib_rules/README")] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)],
        check=True,
    )
    return next(folder.glob("*.whl"))


def installed(wheel: Path, folder: Path, extra: str = "") -> Path:
    """The programs of a new environment with the wheel and one of its extras."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    target = f"{wheel}[{extra}]" if extra else str(wheel)
    subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", target], check=True)
    return folder / "bin"


@pytest.mark.long
def test_wheel(wheel: Path, tmp_path: Path) -> None:
    programs = installed(wheel, tmp_path / "venv")

    def run(*command: str) -> str:
        return subprocess.run(
            [str(programs / "gslc"), *command], check=True, capture_output=True, text=True, cwd=tmp_path
        ).stdout

    assert "0 failed" in run("test", "std.relay")
    for verb in ("check", "lint", "fmt"):  # of rules over ONNX, without its package
        run(verb, *(["--check"] if verb == "fmt" else []), str(ROOT / "stdlib_rules/onnx/cast.gsl"))
    verbs = [line.split()[0] for line in run("--help").splitlines() if line.startswith("  ")]
    assert "discover" in verbs and "generalize" in verbs
    for verb in verbs:
        run(verb, "--help")


@pytest.mark.long
@pytest.mark.parametrize("extra", EXTRAS)
def test_extra(wheel: Path, tmp_path: Path, extra: str) -> None:
    programs = installed(wheel, tmp_path / "venv", extra)
    subprocess.run([str(programs / "python"), *EXTRAS[extra]], check=True, capture_output=True, cwd=tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", ["tutorial-onnx", "tutorial-relay"])
def test_the_tutorial_in_a_new_environment(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """With nothing but what the page says is installed, and no variable of this one's environment."""
    page = ROOT / "docs" / f"{name}.md"
    extras = re.search(r"pip install 'gslang\[([\w,]+)\]'", page.read_text(encoding="utf-8"))
    programs = installed(wheel, tmp_path / "venv", extras[1] if extras else "")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    environment = {"PATH": f"{programs}{os.pathsep}{os.defpath}", "HOME": str(home), "PYTHONUNBUFFERED": "1"}

    def run(line: str) -> list[str]:
        done = subprocess.run(
            line, shell=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode in (0, 1), f"{line}\n{done.stdout}"
        return [part.rstrip() for part in done.stdout.splitlines()]

    play(page, run)
