"""What the cache gives back is what was put in."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gslang.base import cache, plain_data, plain_writer
from gslang.base.diagnostics import Severity
from gslang.check.footprint import footprint
from gslang.check.modules import load_module
from gslang.dialect.tensor_type import UNKNOWN, TensorType


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    place: Place
    parts: tuple[Item, ...] = ()
    types: tuple[TensorType, ...] = ()


@dataclass(slots=True)
class Counted:
    start: int
    now: int = field(init=False, default=7)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    for kind in (Place, Item, Counted):  # classes of tests stand in no file of gslang's own
        monkeypatch.setattr(kind, "__module__", "gslang.base.in_this_test")
    monkeypatch.setitem(sys.modules, "gslang.base.in_this_test", sys.modules[__name__])
    return tmp_path


def test_dataclasses_of_all_kinds(folder: Path) -> None:
    shared = Place(3, "x")
    inner = Item(place=shared, types=(TensorType((2, UNKNOWN), "float32"),))
    counted = Counted(1)
    counted.now = 9
    value = [Item(place=shared, parts=(inner, inner)), counted, {"a": Place(1)}]
    assert cache.cached("test", ["key"], lambda: value) is value
    found = cache.cached("test", ["key"], lambda: pytest.fail("computed again"))
    assert found == value
    first, again, _ = found
    assert first.parts[0] is first.parts[1] and first.place is first.parts[0].place, (
        "what was one object is one again"
    )
    assert first.parts[0].types[0] is inner.types[0], "types stay unique"
    assert again.now == 9


@pytest.mark.parametrize("damage", [b"", b"\x80", b"garbage", b"{}", b"[]\n[]"])
def test_a_damaged_file_costs_time_only(folder: Path, damage: bytes) -> None:
    cache.cached("test", ["key"], lambda: Place(1))
    next(folder.glob("test-*")).write_bytes(damage)
    assert cache.cached("test", ["key"], lambda: Place(2)) == Place(2)
    assert cache.cached("test", ["key"], lambda: Place(3)) == Place(2)


def test_one_wrong_byte_is_noticed(folder: Path) -> None:
    cache.cached("test", ["key"], lambda: Place(17))
    file = next(folder.glob("test-*"))
    file.write_bytes(file.read_bytes().replace(b"17", b"18"))
    assert cache.cached("test", ["key"], lambda: Place(2)) == Place(2)


def test_a_pipe_or_a_folder_in_its_place_is_no_trap(folder: Path) -> None:
    for trap in (os.mkfifo, os.mkdir):
        cache.cached("test", ["key"], lambda: Place(1))
        file = next(folder.glob("test-*"))
        file.unlink()
        trap(file)
        assert cache.cached("test", ["key"], lambda: Place(2)) == Place(2)
        if file.is_dir():
            file.rmdir()


# ── which folder ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GSLANG_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def chosen() -> Path | None:
    return cache.cache_folder.__wrapped__()


def test_the_usual_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen() == home / ".cache" / "gslang"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert chosen() == home / "xdg" / "gslang"
    monkeypatch.setenv("GSLANG_CACHE", str(home / "own"))
    assert chosen() == home / "own"
    assert not (home / "own").stat().st_mode & 0o077
    monkeypatch.setenv("GSLANG_CACHE", "off")
    assert chosen() is None


@pytest.mark.parametrize("name", ["GSLANG_CACHE", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("value", [".", "cache", "../cache", "~/cache", ""])
def test_relative_folders_are_ignored(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert chosen() == home / ".cache" / "gslang"
    assert [p.name for p in home.iterdir()] == [".cache"]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o757])
def test_a_folder_that_others_can_write_is_not_used(
    home: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    (home / "own").mkdir()
    (home / "own").chmod(mode)
    monkeypatch.setenv("GSLANG_CACHE", str(home / "own"))
    assert chosen() is None


def test_a_folder_of_somebody_else_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen() is not None
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert chosen() is None


def test_what_is_no_folder_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    (home / "loop").symlink_to("loop")
    for name in ("file", "loop", "file/below", "x" * 300):
        monkeypatch.setenv("GSLANG_CACHE", str(home / name))
        assert chosen() is None
    monkeypatch.setenv("HOME", "here")
    monkeypatch.delenv("GSLANG_CACHE")
    assert chosen() is None


# ── plain data ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "value",
    [
        None, True, 1, 1.0, -0.0, 2**70, float("inf"), "é\ud800", b"\x00\xff", (), [], {},
        {"a": (1, 1.0, True)}, frozenset({1, "a"}), {3}, Severity.ERROR, UNKNOWN, TensorType(None, None),
    ],
)
def test_plain_data_comes_back(value: object) -> None:
    again = plain_data.from_bytes(plain_writer.to_bytes(value))
    assert again == value or again is value
    assert type(again) is type(value) and (isinstance(value, frozenset) or repr(again) == repr(value))


def test_what_is_given_is_not_stored() -> None:
    inner = ("x" * 1000,)
    data = plain_writer.to_bytes([inner, 1, [inner]], [inner])
    other = ("y",)
    assert len(data) < 200 and plain_data.from_bytes(data, [other]) == [other, 1, [other]]


def test_code_is_no_data() -> None:
    loop: list[object] = []
    loop.append(loop)
    for value in (print, lambda: 1, loop, object(), cache, [(print,)], Path("x")):
        with pytest.raises(plain_data.NotPlain):
            plain_writer.to_bytes(value)


@pytest.mark.parametrize(
    "name",
    [
        "os:system", "builtins:eval", "subprocess:Popen", "gslang.base.cache:os.system",
        "gslang.cli.main:main", "gslang.cli.main:Parser", "gslang.base.cache:Path",
        "gslang.base.cache:_write", "gslang.nothing:Here", "gslang.__main__:x", "", ":", "type", "object",
        "gslang",
    ],
)
def test_a_file_cannot_name_code(name: str) -> None:
    data = json.dumps({"kinds": [name], "scalars": ["touch x"], "objects": [[0, 0]], "root": 1}).encode()
    with pytest.raises((plain_data.NotPlain, ImportError)):
        plain_data.from_bytes(data)


def test_no_part_of_the_program_reads_pickles_from_files() -> None:
    package = Path(cache.__file__).parent.parent
    users = {
        p.relative_to(package).as_posix()
        for p in package.rglob("*.py")
        if re.search(r"\b(import|from) (pickle|marshal|shelve)\b", p.read_text(encoding="utf-8"))
    }
    assert users <= {"lsp/lint_process.py", "lsp/lint_worker.py"}, (
        "those two speak to each other, and to nobody else"
    )


def test_rules_are_read_when_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules.gsl").write_text(
        "dialect relay;\nrule one(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
        "rule two(x): nn.relu(negative(x)) => nn.relu(x);\n"
    )
    monkeypatch.setenv("GSLANG_CACHE", str(tmp_path / "cache"))
    cache.cache_folder.cache_clear()
    (first,), (again,) = (load_module(str(tmp_path / "rules.gsl")) for _ in range(2))
    cache.cache_folder.cache_clear()
    one = again.rules["one"]
    assert one.name == "one" and footprint(one) == footprint(first.rules["one"])
    assert hasattr(one, "_read") and one.nodes == first.rules["one"].nodes and not hasattr(one, "_read")
    assert hasattr(again.rules["two"], "_read") and repr(again.rules["two"]) == repr(first.rules["two"])
    with pytest.raises(AttributeError):
        _ = one.nothing  # type: ignore[attr-defined]
