"""Calls that say more than their operator's declaration knows become opaque; attributes that may be operands
become operands.

An opaque call has a name of its own, `nn.pad{pad_mood}`, which no dialect declares: no rule matches it,
nothing computes it, its type is what the file states. Written, it has its true name and all that was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from operator import gt
from sys import intern, maxsize
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import OperandSpec, Signature
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import ABSENT, CONST, Graph

# in `extras` of a constant: the value of the attribute that it stands for
FROM_ATTRIBUTE: Final = "attribute"
# the part of a call that has the name of an operator, but may be one of a function that the model defines
LOCAL_FUNCTION: Final = "local function"


def true_name(op: str) -> str:
    """The operator of a call, also of an opaque one."""
    return op.partition("{")[0] if is_opaque(op) else op


def is_opaque(op: str) -> bool:
    """True for the name of a call that says more than its operator's declaration knows."""
    return op.endswith("}")


def name_elsewhere(op: str) -> str:
    """The name of a call's operator in a file of another format: where its local function does not go along,
    it is no operator's name.
    """
    return f"local.{true_name(op)}" if op.endswith(f"{{{LOCAL_FUNCTION}}}") else true_name(op)


def opaque_name(op: str, unknown: Iterable[str]) -> str:
    """The name of an operator's call with something that its declaration does not know."""
    return f"{op}{{{', '.join(unknown)}}}"


def unknown_parts(signature: Signature, operands: tuple[int, ...], attrs: Attrs) -> list[str]:
    """Attributes of a call that its operator does not declare, and `operand k` for each operand too many.

    An attribute with the name of an operand is known if it stands for it, or repeats it without a value of
    its own (Relay's `arange(a, b, c, start=meta[…][0])`).
    """
    found = [
        name
        for name, value in attrs.items()
        if name not in signature.attributes and not _stands_for_operand(signature, operands, name, value)
    ]
    if len(operands) > len(signature.operands) and not any(spec.variadic for spec in signature.operands):
        found += [f"operand {k}" for k in range(len(signature.operands), len(operands)) if operands[k] >= 0]
    return found


def _stands_for_operand(signature: Signature, operands: tuple[int, ...], name: str, value: object) -> bool:
    for k, spec in enumerate(signature.operands):
        if spec.name == name:
            says_nothing = (
                value is None or value == () or isinstance(value, str) and value.startswith("meta[")
            )
            return says_nothing or spec.attribute is not None and not (k < len(operands) and operands[k] >= 0)
    return False


def mark_opaque_calls(graph: Graph, dialect: Dialect) -> list[str]:
    """Give calls that say more than is declared their opaque names.

    Returns a warning for each operator and attribute.
    """
    known: dict[str, tuple[frozenset[str], int]] = {}
    for name, signature in dialect.operators.items():
        most = len(graph.op) if any(spec.variadic for spec in signature.operands) else len(signature.operands)
        known[name] = frozenset(signature.attributes), most
    warnings: dict[tuple[str, str], str] = {}
    for node, op in enumerate(graph.op):
        plain = known.get(op)
        if plain is None or graph.attrs[node].keys() <= plain[0] and len(graph.operands[node]) <= plain[1]:
            continue
        signature = dialect.operators[op]
        if unknown := unknown_parts(signature, graph.operands[node], graph.attrs[node]):
            graph.op[node] = intern(opaque_name(op, unknown))
            warnings.update(
                ((op, part), warning(signature, len(graph.operands[node]), part)) for part in unknown
            )
    return list(warnings.values())


def warning(signature: Signature, operands: int, part: str) -> str:
    """The warning, given once, about an operator's attribute or operand that its declaration does not have.
    """
    if part.startswith("operand "):
        names = ", ".join(spec.name for spec in signature.operands)
        many = "s" * (len(signature.operands) != 1)
        return (
            f"`{signature.name}` has {len(signature.operands)} operand{many} ({names}), not {operands}; such "
            "calls are preserved"
        )
    return (
        f"`{signature.name}` is declared without an attribute `{part}`; calls that have it are preserved"
    )


def is_known_form(graph: Graph, dialect: Dialect) -> bool:
    """True if no call says more than its operator's operands and attributes, under the names that they have
    as such.
    """
    there = set(graph.op)
    known = {op: _allowed(signature) for op in there if (signature := dialect.operators.get(op))}
    widest = max(map(len, graph.operands), default=0)
    if any([widest > most for _, most in known.values()]):
        most = {op: known[op][1] if op in known else maxsize for op in there}
        if any(map(gt, map(len, graph.operands), map(most.__getitem__, graph.op))):
            return False
    fitting: dict[str, Attrs] = {}  # operator → attributes that were looked at: most calls share theirs
    for op, attrs in compress(zip(graph.op, graph.attrs), graph.attrs):
        if fitting.get(op) is not attrs and op in known:
            if not attrs.keys() <= known[op][0]:
                return False
            fitting[op] = attrs
    return True


def _allowed(signature: Signature) -> tuple[frozenset[str], int]:
    """The names of an operator's attributes, and its number of operands at most."""
    variadic = any(spec.variadic for spec in signature.operands)
    return frozenset(signature.attributes), maxsize if variadic else len(signature.operands)


def prepared(graph: Graph, dialect: Dialect) -> Graph:
    """The graph in the form that rules speak of: itself, or a copy with further constants at its end."""
    return graph if is_known_form(graph, dialect) else prepared_copy(graph, dialect)


def prepared_copy(graph: Graph, dialect: Dialect) -> Graph:
    """A copy of a graph in the form that rules speak of: opaque calls marked, attributes that may be operands
    stated as constants.
    """
    copy = graph.copy()
    if not is_known_form(copy, dialect):
        mark_opaque_calls(copy, dialect)
        _attributes_to_operands(copy, dialect)
    return copy


def movable_operands(signature: Signature) -> dict[str, tuple[int, OperandSpec]]:
    """Operands that may stand as attributes: name → (place, declaration)."""
    return {spec.name: (k, spec) for k, spec in enumerate(signature.operands) if spec.attribute is not None}


def _attributes_to_operands(graph: Graph, dialect: Dialect) -> None:
    """`nn.pad(x, pad_value=1f)` as `nn.pad(x, 1f)`; `operands_to_attributes` brings back what stays."""
    for node in range(len(graph.op)):
        signature = dialect.operators.get(graph.op[node])
        if signature is None or graph.attrs[node].keys() <= signature.attributes.keys():
            continue
        attrs, operands = dict(graph.attrs[node]), list(graph.operands[node])
        for name, (k, _) in movable_operands(signature).items():
            if name in attrs and (k >= len(operands) or operands[k] < 0):
                value = attrs.pop(name)
                operands += [ABSENT] * (k + 1 - len(operands))
                operands[k] = (
                    ABSENT if value is None else _constant(graph, dialect, graph.op[node], k, operands, value)
                )
        while operands and operands[-1] == ABSENT:
            operands.pop()
        _replace_call(graph, node, operands, attrs)


def operands_to_attributes(graph: Graph, dialect: Dialect) -> None:
    """Give calls those attributes back that `prepared_copy` has made operands."""
    stated = [
        node for node, held in graph.extras.items() if FROM_ATTRIBUTE in held and graph.op[node] is CONST
    ]
    for user in dict.fromkeys(user for node in stated for user in graph.users[node]):
        signature = dialect.operators.get(graph.op[user])
        attrs, operands = dict(graph.attrs[user]), list(graph.operands[user])
        while signature is not None and operands and len(operands) <= len(signature.operands):
            spec, held = signature.operands[len(operands) - 1], graph.extras.get(operands[-1], {})
            if spec.attribute is None or FROM_ATTRIBUTE not in held:
                break
            attrs[spec.name] = held[FROM_ATTRIBUTE]
            operands.pop()
            while operands and operands[-1] == ABSENT:
                operands.pop()
        _replace_call(graph, user, operands, attrs)
    graph.remove_dead([node for node in stated if not graph.users[node]])


def _replace_call(graph: Graph, node: int, operands: list[int], attrs: Attrs) -> None:
    for operand in set(graph.operands[node]) - {ABSENT}:
        if operand not in operands:
            graph.drop_user(operand, node)
    graph.attrs[node], graph.operands[node] = attrs, tuple(operands)
    for operand in operands:
        if operand >= 0:
            graph.add_user(operand, node)
    graph.order = None


def _constant(graph: Graph, dialect: Dialect, op: str, k: int, operands: list[int], value: object) -> int:
    first = graph.types[operands[0]] if operands and operands[0] >= 0 else None
    dtype = dialect.operand_dtype((op,), k) or (first.dtype if isinstance(first, TensorType) else None)
    array = operand_value(value, dtype)
    node = graph.add_const(array, TensorType(tuple(array.shape), array.dtype.name))
    graph.extras[node] = {FROM_ATTRIBUTE: value}
    return node


def operand_value(value: object, dtype: str | None) -> Any:
    """An attribute's value as an operand of a type, where it fits; else of its own (float32, int64, bool)."""
    import numpy

    array = numpy.asarray(value)
    own = {"f": "float32", "i": "int64", "b": "bool"}.get(array.dtype.kind, array.dtype.name)
    try:
        typed = array.astype(dtype or own)
    except TypeError:  # a type that NumPy has not
        return array.astype(own)
    exact = array.dtype.kind != "f" or typed.dtype.kind not in "iub" or (typed == array).all()
    return typed if exact else array.astype(own)
