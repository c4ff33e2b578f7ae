"""What the cache gives back is what was put in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gslang.base import cache
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
    assert first.parts[0] is first.parts[1] and first.place is first.parts[0].place, "what was one object is one again"
    assert first.parts[0].types[0] is inner.types[0], "types stay unique"
    assert again.now == 9


@pytest.mark.parametrize("damage", [b"", b"\x80", b"garbage"])
def test_a_damaged_file_costs_time_only(folder: Path, damage: bytes) -> None:
    cache.cached("test", ["key"], lambda: Place(1))
    next(folder.glob("test-*")).write_bytes(damage)
    assert cache.cached("test", ["key"], lambda: Place(2)) == Place(2)
    assert cache.cached("test", ["key"], lambda: Place(3)) == Place(2)
