"""Domains of attributes: what declarations say, membership, values in every spelling, text."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.dialect.bounds import Call
from gslang.dialect.declarations import signature_of
from gslang.dialect.domain import Domain, contains, literals
from gslang.dialect.domain_text import domain_text
from gslang.dialect.domain_values import choices, draw
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse

SHAPED = Call({"data": (2, 3, 4)}, {"groups": 2, "axes": (0, 1)}, {"fields": 3})


def declared(type: str) -> tuple[Domain, list[str]]:
    """The domain of a type as an attribute of an operator with `data`, `fields`, `groups` and `axes`, and
    what is wrong with it.
    """
    text = f"op t(data: tensor, fields: tuple, a: {type}, groups: int = 1, axes: int[] = ()) -> tensor;"
    parsed = parse(Source("t.gsl", text))
    assert not parsed.diagnostics, parsed.diagnostics
    item = parsed.program.items[0]
    assert isinstance(item, n.OpDecl)
    signature, found = signature_of(item)
    return signature.attributes["a"].domain, [d.message for d in found]


def domain(type: str) -> Domain:
    found, problems = declared(type)
    assert not problems
    return found


MEMBERS: list[tuple[str, list[Any], list[Any]]] = [
    ('"constant" | "edge"', ["constant", "edge"], ["constnt", "", None, 1]),
    ("0 | 1 | -1", [0, 1, -1], [2, True, "0", 0.0]), ("int >= 1", [1, 100], [0, -1, 1.0, True]),
    ("int > 1", [2], [1]), ("int < 1", [0, -9], [1]), ("int in 0..3", [0, 3], [4, -1]),
    ("int in 0 ..< 3", [0, 2], [3]), ("int in -rank(data) ..< rank(data)", [-3, 0, 2], [3, -4]),
    ("int in -rank(data) - 1 .. rank(data)", [-4, 3], [4, -5]), ("int in 1..data.shape[-1]", [1, 4], [5, 0]),
    ("int in 0 ..< len(fields) * groups", [0, 5], [6]), ("float > 0", [0.5, 2], [0.0, -1.0, "x", True]),
    ("float in 0 ..< 1", [0.0, 0.5], [1.0, 1]), ("bool", [True, False], [0, None]),
    ("dtype", ["float32", "int4"], ["", "flot32", 1]),
    ("dtype(float | int8)", ["float16", "int8"], ["int32", "bool"]), ("int?", [None, 3], ["x"]),
    ("(int >= 1)?", [None, 1], [0]), ("int >= 1 | none", [None, 1], [0]),
    ("(int >= 0)[2]", [(0, 1)], [(0,), (0, -1), 0]),
    ("(int >= 0)[1 | len(axes)]", [(0,), (0, 1)], [(), (0, 1, 2)]), ("int[1..]", [(1,), (1, 2, 3)], [()]),
    ("int[1..2]", [(1,)], [(), (1, 2, 3)]),
    (
        "(int >= 0, int >= 0)[rank(data)]", [((0, 1), (0, 0), (2, 2))],
        [((0, 1),), ((0, -1),) * 3, ((0,),) * 3],
    ),
    ("distinct(int in -rank(data) ..< rank(data))[]", [(), (0, -1), (1, 0, 2)], [(0, 0), (2, -1), (3,)]),
    ("distinct(int in -rank(data) ..< rank(data))[rank(data)]", [(0, -1, 1)], [(0, 1), (0, 1, -2)]),
    ('layout("NCHW" | "NHWC")', ["NCHW", "CHWN", "NCHW4c"], ["NCH", "NCHWW", "nchw", "", "NCHW0c", "NCHWc"]),
    ('"" | layout("NCHW")', ["", "NHWC"], ["NCW"]), ('int | "all"', [1, "all"], ["some"]),
    ("int | int[]", [1, (1, 2)], ["x", (1.0,)]),
]


@pytest.mark.parametrize(("type", "inside", "outside"), MEMBERS)
def test_membership(type: str, inside: list[Any], outside: list[Any]) -> None:
    found = domain(type)
    for value in inside:
        assert contains(found, value, SHAPED) is True, value
    for value in outside:
        assert contains(found, value, SHAPED) is False, value


@pytest.mark.parametrize("type", [type for type, _, _ in MEMBERS])
def test_listed_and_drawn_values_are_members(type: str) -> None:
    found = domain(type)
    listed = choices(found, SHAPED)
    assert listed
    rng = Random(1)
    for value in (*listed, *(draw(found, rng, SHAPED) for _ in range(200))):
        assert contains(found, value, SHAPED) is True, value


@pytest.mark.parametrize("type", [type for type, _, _ in MEMBERS])
def test_text_is_the_same_type(type: str) -> None:
    found = domain(type)
    assert domain(domain_text(found)) == found


def test_unknown_ranks_leave_membership_open() -> None:
    axis = domain("int in -rank(data) ..< rank(data)")
    assert contains(axis, 1) is None
    assert contains(axis, "x") is False
    assert contains(domain("int[rank(data)]"), (1, 2)) is None
    assert contains(domain("int >= 0 | none"), -1) is False
    assert choices(axis) == ()


def test_every_spelling_of_axes_is_listed_and_drawn() -> None:
    axes = domain("distinct(int in -rank(data) ..< rank(data))[rank(data)]?")
    rng = Random(0)
    for found in (choices(axes, SHAPED), [draw(axes, rng, SHAPED) for _ in range(200)]):
        lists = [value for value in found if value is not None]
        assert None in found
        assert any(all(a >= 0 for a in axes) for axes in lists)
        assert any(all(a < 0 for a in axes) for axes in lists)
        assert any(min(axes) < 0 <= max(axes) for axes in lists)
        assert len({tuple(a % 3 for a in axes) for axes in lists}) == 6
    some = domain("distinct(int in -rank(data) ..< rank(data))[]")
    assert {len(axes) for axes in choices(some, SHAPED)} == {0, 1, 2, 3}


def test_ends_and_literals_are_listed() -> None:
    assert set(choices(domain("int in 0..3"))) == {0, 1, 2, 3}
    assert {0, 99} <= set(choices(domain("int in 0..99")))
    assert choices(domain('"a" | "b" | none')) == ("a", "b", None)
    assert {0.0, 1.0} <= set(choices(domain("float in 0..1")))
    assert literals(domain('"a" | ("b" | "c")[] | int')) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("flot", "unknown type `flot`"),
        ("int in 3..1", "no number lies in this range"),
        ("int in 3 ..< 3", "no number lies in this range"),
        ("str >= 1", "`str` has no order"),
        ("int >= 0.5", "the bounds of an `int` are integers"),
        ("int >= rank(dta)", "`dta` is not an operand of this operator"),
        ("int >= rank(groups)", "`groups` is not an operand of this operator"),
        ("int in 0 ..< group", "`group` is not an attribute of this operator"),
        ("int >= len(x)", "`x` is not a parameter of this operator"),
        ('int >= "a"', "expected a number"),
        ('"a" | "a"', '"a" occurs twice in this type'),
        ("int[-1]", "no list has such a length"),
        ("int[3..1]", "no list has such a length"),
        ("distinct(int)", "`distinct` applies to the items of a list"),
        ("int(float)", "`int` takes no arguments"),
        ("dtype(flot32)", "expected a data type or a class of data types"),
        ("layout(1)", "a layout is given by strings"),
        ('layout("NCHW" | "NCW")', "`NCW` has other axes than `NCHW`"),
        ('layout("nchw")', "`nchw` is not a layout"),
    ],
)
def test_wrong_types(type: str, message: str) -> None:
    assert message in declared(type)[1]


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ('mode: "a" | "b" = "c"', "the default of `mode` does not match its type"),
        ("n: int >= 1 = 0", "the default of `n` does not match its type"),
        ("n: (int >= 1)[2] = (1,)", "the default of `n` does not match its type"),
        ("n: int = f(1)", "the default of `n` is not a constant"),
        ("x: tensor(flot)", "expected a data type or a class of data types"),
    ],
)
def test_wrong_parameters(parameter: str, message: str) -> None:
    (item,) = parse(Source("t.gsl", f"op t(data: tensor, {parameter}) -> tensor;")).program.items
    assert isinstance(item, n.OpDecl)
    assert message in [d.message for d in signature_of(item)[1]]


def test_signatures_print_as_declarations() -> None:
    text = (
        "op nn.pad(data: tensor(float | int8), pad_value: tensor | float = 0.0, pad_width: (int >= 0, int >= "
        "0)[rank(data)], "
        'pad_mode: "constant" | "edge" | "reflect" = "constant") -> tensor(bool);'
    )
    (item,) = parse(Source("t.gsl", text)).program.items
    assert isinstance(item, n.OpDecl)
    signature, found = signature_of(item)
    assert not found
    assert signature.operands[0].dtypes == ("float", "int8")
    assert str(signature) == text.replace("tensor(bool)", "tensor")
