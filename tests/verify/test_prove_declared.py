"""Proofs by what declared operators compute, and by element types that are taken to be equal."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.prove.terms.dtypes import Dtype, compared
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import Budget, Choices, NotProved

DECLARED = """
op my.scale(x: tensor, by: float) -> tensor { shape = x.shape, dtype = x.dtype, value = x * by };
op my.dense_relu(data: tensor, weight: tensor) -> tensor { value = nn.relu(nn.dense(data, weight)) };
op my.twice(data: tensor, weight: tensor) -> tensor {
    value = my.dense_relu(my.dense_relu(data, weight), weight)
};
op my.joined(parts: tuple, axis: int = 0) -> tensor { value = concatenate(parts, axis = axis) };
op my.bent(x: tensor, up: bool = true) -> tensor { value = nn.relu(x) if up else -nn.relu(-x) };
op my.square(x: tensor) -> tensor { shape = (x.shape[0], x.shape[0]), value = x };
"""
PRODUCT = (
    'fn product(a, b) = nn.matmul(a, b, transpose_a = false, transpose_b = false, out_dtype = "");\n'
)


def proof(text: str) -> Proof | None:
    rules = api.parse_rules(DECLARED + PRODUCT + text)
    assert rules.diagnostics == ()
    try:
        return prove(rules.own["r"])
    except NotProved:
        return None


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x: any(shape = (_, _))) { a = my.scale(x); b = my.scale(a); b "
        "=> my.scale(x, by = a.by * b.by) }",
        "rule r(x: any(shape = (_, _))) { a = my.scale(x); a => x * a.by }",
        'rule r(x, w: var): nn.relu(nn.dense(x, w, out_dtype = "")) => my.dense_relu(x, w);',
        "rule r(x, w: var): my.twice(x, w) => nn.relu(nn.dense(nn.relu(nn.dense(x, w)), w));",
        "rule r(x: any(shape = (_, _))): my.bent(x, up = false) => -nn.relu(-x);",
        "rule r(x: any(shape = (_, _))) { b = my.bent(x); b => my.bent(x, b.*) }",
        "rule r(x, y, z): my.joined((my.joined((x, y), axis = 0), z), axis = 0) "
        "=> concatenate((x, y, z), axis = 0);",
        "rule r(x: any(shape = ((a := _), _))) { y = my.square(x); y where x.shape[1] == a => x }",
        # what the source demands holds: the tensor is a square
        "rule r(x: any(shape = ((a := _), (b := _)))) { y = my.square(x); y "
        "=> reshape(x, newshape = (b, a)) }",
    ],
)
def test_by_what_is_declared(rule: str) -> None:
    assert proof(rule) is not None


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x: any(shape = (_, _))) { a = my.scale(x); b = my.scale(a); b "
        "=> my.scale(x, by = a.by + b.by) }",
        'rule r(x, w: var): nn.relu(nn.dense(x, w, out_dtype = "")) => my.dense_relu(-x, w);',
        "rule r(x, w: var): my.twice(x, w) => nn.relu(nn.dense(nn.dense(x, w), w));",
        "rule r(x: any(shape = (_, _))) { b = my.bent(x); b => nn.relu(x) }",
        # the target is not defined for what is no square
        "rule r(x: any(shape = (_, _))): nn.relu(x) => my.square(nn.relu(x));",
    ],
)
def test_wrong_by_what_is_declared(rule: str) -> None:
    assert proof(rule) is None


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x, y, z: any(shape = (_, _))): product(product(x, y), z) => product(x, product(y, z));",
        "rule r(x, y, z: any(shape = y.shape)): product(x, y) + product(x, z) => product(x, y + z);",
        "rule r(x, y, z): concatenate((product(x, y), product(x, z)), axis = 1) "
        "=> product(x, concatenate((y, z), axis = 1));",
        "rule r(x, y, z) { a = nn.matmul(x, y); nn.relu(a) + z => z + nn.relu(nn.matmul(x, y, a.*)) }",
    ],
)
def test_products_of_matrices(rule: str) -> None:
    """Whatever `units` says: it can only be the number of columns."""
    assert proof(rule.replace("(x, y, z)", "(x: any(shape = (_, _)), y, z)")) is not None


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x, y, z: any(shape = (_, _))): product(product(x, y), z) => product(product(x, z), y);",
        "rule r(x: any(shape = (_, _)), y, z) { a = product(x, y); b = nn.matmul(x, z, a.*, units = _); "
        "concatenate((a, b), axis = 1) => nn.matmul(x, concatenate((y, z), axis = 1), a.*) }",
        "rule r(x: any(shape = (_, _)), y) { a = product(x, y); a => nn.matmul(x, y, a.*, units = 2) }",
    ],
)
def test_wrong_products_of_matrices(rule: str) -> None:
    assert proof(rule) is None


@pytest.mark.parametrize(("dtype", "holds"), [("int32", True), ("float32", False)])
def test_a_number_is_converted_when_a_tensor_is_filled(dtype: str, holds: bool) -> None:
    """Twice a half that became 0 is no 1."""
    rule = f'rule r(v: const(shape = (), dtype = "{dtype}")) {{ f = full(v, dtype = "int32"); f + f '
    found = proof(rule + '=> full(v + v, shape = f.shape, dtype = "int32") }')
    assert (found is not None) is holds


def test_types_are_joined_by_way_of_others() -> None:
    """Without a case in which they differ."""
    choices = Choices([], Budget(10))
    world = World(Facts(choices), 2)
    a, b, c, other = (Dtype(choices) for _ in range(4))
    world.mostly_alike = [(a, a, "itself"), (b, a, "first"), (other, other, "apart"), (c, b, "second")]
    assert world.same_dtype(c, a) and compared(a, b) and not choices.taken
    assert world.notes == {"first", "second"} and not world.same_dtype(a, other)


def test_the_types_of_factors_are_named() -> None:
    """The weights of two products with the same data are joined by way of its type."""
    found = proof(
        "rule r(x: any(shape = (_, _)), y, z): concatenate((product(x, y), product(x, z)), axis = 1) "
        "=> product(x, concatenate((y, z), axis = 1));"
    )
    assert found is not None and "the factors of a product have the same element type" in found.claim
    assert not found.floats
    apart = 'rule r(x: any(shape = (_, _)), y, z): nn.matmul(x, y, out_dtype = "int32") + nn.matmul(x, z, '
    assert proof(apart + 'out_dtype = "int32") => nn.matmul(x, y + z, out_dtype = "int32");') is None
