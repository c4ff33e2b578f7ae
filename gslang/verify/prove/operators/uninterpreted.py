"""Calls of operators of whose meaning the prover knows nothing, or too little: their results are the same
wherever operator, operands and attributes are.

Operands are the same if their elements at any place are the same terms: what is open about that place becomes
cases, in each of which the terms must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import AttributeSpec, Signature
from gslang.verify.prove.operators.domains import Unread
from gslang.verify.prove.operators.everywhere import any_place
from gslang.verify.prove.operators.infinities import finite
from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.operators.tensors import Tensor, Value, World
from gslang.verify.prove.terms.dtypes import Dtype, name_of
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import Real, Token
from gslang.verify.prove.terms.sizes import Number, Size, text_of
from gslang.verify.prove.terms.totals import up_to_date
from gslang.verify.prove.terms.uses import in_normal_form


def is_of_a_file(dialect: Dialect, operator: str) -> bool:
    """True if a file declares an operator that the dialect does not have: nothing else is known of it."""
    new = any(added.name == operator for added in dialect.added)
    return new and operator not in load_dialect(dialect.name).operators


def open_value(world: World, spec: AttributeSpec) -> object:
    """A value of an attribute that may be any. One that is a list, or may be absent, cannot be read."""
    name, choices = spec.name, world.facts.choices
    bases = {t.base for t in spec.types}
    if any(t.depth or t.optional for t in spec.types) or len(bases) != 1:
        return Unread(name)
    match next(iter(bases)):
        case "str":
            return Token(f"{name}#{world.facts.number()}", choices)
        case "int":
            return world.facts.size(name, None)
        case "float":
            return Real.named(f"{name}#{world.facts.number()}", choices)
        case "bool":
            return (False, True)[choices.choose(2)]
        case "dtype":
            return "" if spec.default == "" and choices.choose(2) else Dtype(choices)
    return Unread(name)


def uninterpreted(
    world: World, dialect: Dialect, operator: str, operands: Sequence[Value], attrs: Attrs
) -> Value:
    """The result of a call, a tensor or a tuple of them. Raises `NotProved` for a call of the target that the
    source does not have, and for operators whose results are not the same each time.
    """
    signature = dialect.operators[operator]
    if "stateful" in signature.traits or any(
        t.base == "graph" for spec in signature.attributes.values() for t in spec.types
    ):
        raise NotProved(f"`{operator}` is not supported")
    if isinstance(signature.results, str) and signature.results != "tensor":
        raise NotProved(f"any number of results of `{operator}` is not supported")
    if world.has_infinities:
        operands = finite(operator, operands)
    given = [f"{name} {said(value)}" for name, value in sorted(attrs.items())]
    key = (operator, *[_same(world, operand) for operand in operands], *given)
    if is_of_a_file(dialect, operator):  # what is shipped is known to
        world.notes.add(f"`{operator}` gives equal results for equal operands")
    if key not in world.slices:
        if not world.reading:
            raise NotProved(f"the target has a call of `{operator}` that the source does not have")
        world.kept.append(dict(attrs))
        world.slices[key] = _results(world, operator, signature)
    return world.slices[key]


def _results(world: World, operator: str, signature: Signature) -> Value:
    """Tensors of any shape and element type, one for each result."""
    names = ("",) if signature.results == "tensor" else signature.results
    leaves = [Leaf(world, f"{operator}#{world.facts.number()}") for _ in names]
    return leaves[0].resolved() if signature.results == "tensor" else tuple([x.resolved() for x in leaves])


def _same(world: World, value: Value) -> str:
    """A text that is the same for equal operands only."""
    if value is None:
        return "absent"
    if isinstance(value, tuple):
        return f"({', '.join(_same(world, part) for part in value)})"
    if not isinstance(value, Tensor):
        raise NotProved("operands of unsupported operators must be tensors")
    facts = world.facts
    there = all([facts.at_least(size, 1) for size in facts.normals(value.shape)])
    shape = facts.normals(value.shape)
    name = f"{said(value.dtype)}[{', '.join(map(text_of, shape))}]"
    return f"{name} {_any_element(world, value, shape)}" if there else name


def _any_element(world: World, value: Tensor, shape: Sequence[Number]) -> str:
    """The element at an arbitrary place. Raises `NotProved` for one of the target that may be undefined where
    that of the source is defined: it is computed, even if the result is the same for all others.
    """
    place, before = any_place(world, shape), (world.comparing, world.defined)

    def element(side: str) -> str:
        world.comparing = side
        with in_normal_form():
            return str(up_to_date(value.at(place), world.facts).key)

    try:
        if world.reading:
            world.defined = {}
            found = element("source")
            known = world.slices.setdefault(("defined", found), {})
            for condition, terms in world.defined.items():
                known.setdefault(condition, {}).update(terms)
            return found
        found = element("")
        world.defined = world.slices.get(("defined", found), {})
        return element("target")
    finally:
        world.comparing, world.defined = before


def said(value: object) -> str:
    """A text that is the same for equal attributes, and the same tensors, only."""
    if isinstance(value, Dtype):
        return str(name_of(value))
    if isinstance(value, Size) or type(value) is int:
        return text_of(value)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(said, value))})"
    if isinstance(value, (str, int, float)) or value is None:
        return repr(value)
    return f"#{id(value.leaf or value) if isinstance(value, Tensor) else id(value)}"
