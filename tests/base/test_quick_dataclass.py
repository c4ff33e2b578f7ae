"""Classes of `quick_dataclass` behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from typing import Any

import pytest

from gslang.base.quick_dataclass import _dataclass, dataclass

SHAPES = [
    {}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False}, {"kw_only": True},
]


def classes(make: Callable[..., Any], given: dict[str, bool]) -> tuple[Any, Any]:
    @make(**given)
    class Point:
        x: int
        y: int = 2
        seen: list[int] = field(default_factory=list, compare=False)
        hidden: str = field(default="h", repr=False)
        made: int = field(default=5, init=False)

    @make(**given)
    class Point3(Point):
        z: int = 3

        def __post_init__(self) -> None:
            self.seen.append(self.z)

    Point.__qualname__, Point3.__qualname__ = "Point", "Point3"
    return Point, Point3


@pytest.mark.parametrize("given", SHAPES)
def test_as_the_library(given: dict[str, bool]) -> None:
    for ours, theirs in zip(classes(_dataclass, given), classes(dataclasses.dataclass, given)):
        assert [f.name for f in fields(ours)] == [f.name for f in fields(theirs)]
        assert ours.__match_args__ == theirs.__match_args__ and is_dataclass(ours)
        (a, b, c), (p, q, r) = [
            [kind(x=1), kind(x=1, y=2, seen=[9]), kind(x=3, hidden="i")] for kind in (ours, theirs)
        ]
        assert list(map(repr, (a, b, c))) == list(map(repr, (p, q, r)))
        assert [(s == t, s != t) for s in (a, b, c) for t in (a, b, c)] == [
            (s == t, s != t) for s in (p, q, r) for t in (p, q, r)
        ]
        assert a != 1 and hasattr(a, "__dict__") == hasattr(p, "__dict__")
        assert repr(replace(c, y=7)) == repr(replace(r, y=7))
        assert repr(copy.copy(c)) == repr(c) == repr(copy.deepcopy(c))
        assert (ours.__hash__ is None) == (theirs.__hash__ is None)
        if ours.__hash__ is not None and given.get("eq", True):
            assert hash(a) == hash(b) == hash(p)
        for wrong in ({}, {"x": 1, "q": 2}):
            with pytest.raises(TypeError, match="__init__"):
                ours(**wrong)
        if given.get("frozen"):
            with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
                a.x = 4
            with pytest.raises(FrozenInstanceError):
                del a.x
        else:
            a.x = 4
            assert a.x == 4


@dataclass(frozen=True, slots=True)
class Stored:
    a: int
    b: tuple[int, ...] = ()

    def __hash__(self) -> int:
        return self.a

    def __repr__(self) -> str:
        return "stored"


def test_own_methods_stay_and_pickles_come_back() -> None:
    one = Stored(1, (2,))
    assert hash(one) == 1 and repr(one) == "stored" and one == Stored(1, (2,))
    assert pickle.loads(pickle.dumps(one)) == one
    match one:
        case Stored(a, b):
            assert (a, b) == (1, (2,))
