"""The rule that leads from one graph to another: what differs, cut out with the values that it reads.

Nodes of both graphs are equal if their operators, attributes and operands are; inputs by name, constants by
value. Going down from the outputs, what is equal is left out on both sides. What remains is a rule: its
inputs are the equal nodes that both sides read. Where a difference lies is not always clear (`relu(relu(x))`
and `relu(x)` also differ in `relu(x)` and `x`), so there are several readings, the smallest first.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslang.base.arrays import Array
from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain_text import value_text
from gslang.dialect.tensor_type import Dimension, TensorType, Type, is_static
from gslang.generalize.candidates import sayable
from gslang.graph.call_text import call_text, constant_text
from gslang.graph.graph import ABSENT, CONST, INPUT, PARAM, PROJ, TUPLE, Graph

_MOST_NUMBERS = 16  # in a constant that is written down
_MOST_INLINE = 80  # characters of an expression that has no name
_MOST_INPUTS = 200  # of the rule
_MOST_LINES = 60  # of one side: what is larger is no rule that one would read, and takes minutes to judge


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to see the difference: pairs of outputs, and the keys of nodes that are inputs of the rule.

    `left`, `right`: the key of each node of the two graphs that the rule may have.
    """

    outputs: tuple[tuple[int, int], ...]
    inputs: frozenset[Hashable]
    left: Mapping[int, Hashable] = field(repr=False)
    right: Mapping[int, Hashable] = field(repr=False)


def keys_of(graph: Graph) -> dict[int, Hashable]:
    """A key for each node, equal for nodes of two graphs that compute the same in the same way."""
    found: dict[int, Hashable] = {}
    numbers: dict[Hashable, int] = _NUMBERS
    for node in graph.reverse_post_order():
        op = graph.op[node]
        if op in (INPUT, PARAM):
            key: Hashable = ("leaf", graph.names[node])
        elif op is CONST:
            value = np.asarray(graph.value(node))
            key = ("const", value.dtype.str, value.shape, value.tobytes())
        else:
            attrs = tuple(sorted((name, repr(value)) for name, value in graph.attrs[node].items()))
            key = (op, attrs, tuple(found.get(o, -1) for o in graph.operands[node]))
        found[node] = numbers.setdefault(key, len(numbers))
    return found


# a small number for each key ever seen, so that keys of deep graphs stay small
_NUMBERS: dict[Hashable, int] = {}


def readings(before: Graph, after: Graph) -> Iterator[Reading]:
    """Ways to see the difference of two graphs, the smallest first.

    Raises `InputError` if there is none, or no pair of outputs.
    """
    if len(before.outputs) != len(after.outputs):
        raise InputError(
            f"the graphs have {len(before.outputs)} and {len(after.outputs)} outputs",
            help="a rule cannot change their number",
        )
    left, right = keys_of(before), keys_of(after)
    pairs = [(a, b) for a, b in zip(before.outputs, after.outputs) if left[a] != right[b]]
    if not pairs:
        raise InputError("the graphs are equal: nothing to derive")
    levels = [pairs]
    while (lower := _lower(before, after, left, right, levels[-1])) is not None:
        levels.append(lower)
    order = before.reverse_post_order()
    constants = {left[k] for k in order if before.op[k] is CONST}
    common = (frozenset(left.values()) & frozenset(right.values())) - constants
    leaves = frozenset(left[k] for k in order if before.op[k] in (INPUT, PARAM))
    for outputs in reversed(levels):
        own = {right[b] for _, b in outputs} | {left[a] for a, _ in outputs}
        yield Reading(tuple(outputs), common, left, right)
        yield Reading(tuple(outputs), common - own, left, right)
        yield Reading(tuple(outputs), leaves, left, right)


def _lower(
    before: Graph,
    after: Graph,
    left: dict[int, Hashable],
    right: dict[int, Hashable],
    pairs: Sequence[tuple[int, int]],
) -> list[tuple[int, int]] | None:
    """Pairs below these, where both nodes of a pair are calls that only their operands tell apart; None if no
    pair is so.
    """
    found: list[tuple[int, int]] = []
    moved = False
    for a, b in pairs:
        same = (
            before.op[a] == after.op[b] and repr(before.attrs[a]) == repr(after.attrs[b])
            and len(before.operands[a]) == len(after.operands[b])
        )
        below = (
            [
                (x, y)
                for x, y in zip(before.operands[a], after.operands[b])
                if x >= 0 and y >= 0 and left[x] != right[y]
            ]
            if same
            else []
        )
        calls = all(before.op[x] not in (INPUT, PARAM, CONST) for x, _ in below)
        if below and calls:
            moved = True
            found += below
        else:
            found.append((a, b))
    return list(dict.fromkeys(found)) if moved else None


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────


class NoRule(Exception):
    """A reading that no rule can say. The message tells why."""


def rule_text(
    before: Graph,
    after: Graph,
    reading: Reading,
    dialect: Dialect,
    name: str = "example",
    with_sizes: bool = False,
) -> str:
    """The text of a rule file with the rule of a reading. `with_sizes`: shapes that the target states as
    numbers are sizes of the source's values where they can be. Raises `NoRule`.
    """
    source = _Writer(before, reading.left, dialect, reading.inputs, {}, "s")
    outputs = [source.node(a) for a, _ in reading.outputs]
    if not source.lines:
        raise NoRule("no node of the first graph remains")
    known = {key: text for key, text in source.named.items() if key in source.inputs}
    target = _Writer(after, reading.right, dialect, reading.inputs, known, "t", source.constants)
    if with_sizes:
        top = {text: before.types[a] for text, (a, _) in zip(outputs, reading.outputs)}
        target.sizes = {
            name: t.shape
            for name, t in {**source.types, **top}.items()
            if isinstance(t, TensorType) and t.shape is not None and is_static(t.shape)
        }
    results = [target.node(b) for _, b in reading.outputs]
    header = ", ".join(
        f"{text}: const" if text in target.computed else text for text in source.inputs.values()
    )
    right = _side(target.lines, results)
    left = _side(source.lines, outputs, " ".join(right))
    if len(left) == len(right) == 1:
        return f"dialect {dialect.name};\n\nrule {name}({header}): {left[0]} => {right[0]};\n"
    lines = [f"dialect {dialect.name};", "", f"rule {name}({header}) {{"]
    return "\n".join([*lines, *(f"    {s}" for s in left), "  =>", *(f"    {s}" for s in right), "}", ""])


def _side(lines: Mapping[str, str], outputs: Sequence[str], other: str = "") -> list[str]:
    """The statements of a side and its outputs; a name that is read once, and not by the other side, is its
    expression.
    """
    left, last = dict(lines), list(outputs)
    for name in list(left):
        read = re.compile(rf"\b{name}\b")
        users = [other for other, text in left.items() if read.search(text)]
        times = sum(len(read.findall(text)) for text in (*left.values(), *last))
        text = left[name]
        if times == 1 and not read.search(other) and len(text) <= _MOST_INLINE:
            del left[name]
            literal = text.replace("\\", r"\\")
            for user in users:
                left[user] = read.sub(literal, left[user])
            last = [read.sub(literal, one) for one in last]
    return [*(f"{name} = {text};" for name, text in left.items()), ", ".join(last)]


class _Writer:
    """Writes the nodes of one side, operands first.

    `known`: what the other side calls the inputs; None where this one finds them.
    """

    def __init__(
        self,
        graph: Graph,
        keys: Mapping[int, Hashable],
        dialect: Dialect,
        ends: frozenset[Hashable],
        known: dict[Hashable, str],
        letter: str,
        constants: dict[str, Array] | None = None,
    ) -> None:
        self.graph, self.keys, self.dialect, self.ends, self.letter = graph, keys, dialect, ends, letter
        self.is_source = constants is None
        self.named: dict[Hashable, str] = dict(known)
        self.inputs: dict[Hashable, str] = {}
        self.types: dict[str, Type | None] = {}  # of the inputs
        self.sizes: dict[str, tuple[Dimension, ...]] = {}  # shapes that a constant may be made of
        self.computed: set[str] = set()  # constants that others are computed of
        self.constants: dict[str, Array] = {} if constants is None else constants
        self.lines: dict[str, str] = {}  # name → expression
        self._waiting = 0  # calls whose operands are being written

    def node(self, node: int) -> str:
        """The name of a node or the text of a constant, after the lines of what it needs."""
        if node == ABSENT:
            return "none"
        graph, key = self.graph, self.keys[node]
        if key in self.named:
            return self.named[key]
        if key in self.ends or graph.op[node] in (INPUT, PARAM):
            text = self.input(node)
        elif graph.op[node] is CONST:
            text = self.constant(node)
        else:
            text = self.call(node)
        self.named[key] = text
        return text

    def input(self, node: int) -> str:
        if not self.is_source:
            raise NoRule(
                f"the second graph reads `{self.graph.names[node] or self.graph.op[node]}`, which the first "
                "one does not where they differ"
            )
        if len(self.inputs) >= _MOST_INPUTS:
            raise NoRule(f"the differing parts of the graphs read more than {_MOST_INPUTS} values")
        text = next(c for c in _letters() if c not in self.named.values() and c not in self.constants)
        self.inputs[self.keys[node]] = text
        self.types[text] = self.graph.types[node]
        return text

    def constant(self, node: int) -> str:
        value = np.asarray(self.graph.value(node))
        if self.is_source:
            if value.size > (1 if value.dtype.kind == "f" else _MOST_NUMBERS):
                text = self.input(node)
                self.constants[text] = value
                return text
        else:
            for known, other in self.constants.items():
                if np.array_equal(other, value):
                    return known
            for (a, x), (b, y) in permutations(self.constants.items(), 2):
                sign = sign_of(x, y, value)
                if sign:
                    self.computed |= {a, b}
                    return f"({a} {sign} {b})"
        if value.size > _MOST_NUMBERS or value.ndim > 1 and value.size > 1:
            raise NoRule("a constant of the second graph does not follow from those of the first one")
        if self.is_source and value.size == 1:
            return value_text(value.reshape(-1)[0].item())
        if value.dtype == np.int64 and value.ndim == 1 and (sizes := self.shape(node, value.tolist())):
            return f'const(value = {sizes}, dtype = "int64")'
        return constant_text(value)

    def shape(self, node: int, value: Sequence[int]) -> str:
        """A shape in terms of those that are known; empty if that cannot be said.

        One size may remain open where a reshape reads it.
        """
        for name, shape in reversed(self.sizes.items()):
            if shape == tuple(value):
                return f"{name}.shape"
        reshaped = all(self.graph.op[user] in ("Reshape", "reshape") for user in self.graph.users[node])
        parts: list[str] = []
        for k, size in enumerate(value):
            there = [
                (j != k, len(shape) != len(value), f"{name}.shape[{j}]")
                for name, shape in self.sizes.items()
                for j, known in enumerate(shape) if known == size
            ]
            fixed = [str(size)] if size in (-1, 0, 1) else []
            open = ["-1"] if reshaped and "-1" not in parts and -1 not in value else []
            best = [*fixed, *(text for _, _, text in sorted(there)), *open]
            if not best:
                return ""
            parts.append(best[0])
        return f"[{', '.join(parts)}]" if any(part[0].isalpha() for part in parts) else ""

    def call(self, node: int) -> str:
        if len(self.lines) + self._waiting >= _MOST_LINES:
            raise NoRule(f"the graphs differ in more than {_MOST_LINES} connected operators")
        graph = self.graph
        if len(graph.operands[node]) > _MOST_INPUTS:
            raise NoRule(f"a call where the graphs differ has more than {_MOST_INPUTS} operands")
        self._waiting += 1
        operands = [self.node(o) for o in graph.operands[node]]
        self._waiting -= 1
        op = graph.op[node]
        attrs = graph.attrs[node]
        if op not in (TUPLE, PROJ):
            signature = self.dialect.get(op)
            if signature is None:
                raise NoRule(f"unknown operator `{op}` in {self.dialect.name}")
            for k, v in attrs.items():
                if not sayable(v):
                    raise NoRule(f"the attribute `{k}` of `{op}` cannot be written in a rule")
            attrs = {
                k: v for k, v in signature.complete(attrs).items()
                if k in signature.attributes and self._says(k, v, node)
            }
        name = f"{self.letter}{len(self.lines) + 1}"
        self.lines[name] = call_text(op, operands, attrs)
        return name

    def _says(self, attribute: str, value: object, node: int) -> bool:
        """A source states all attributes, a target those that are no defaults."""
        signature = self.dialect.operators[self.graph.op[node]]
        return self.is_source or attribute not in signature.defaults or signature.defaults[attribute] != value


def sign_of(x: NDArray[Any], y: NDArray[Any], value: NDArray[Any]) -> str:
    """The operation that makes a constant of two others, element by element; empty if there is none."""
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return ""
    operations = (("+", np.add), ("*", np.multiply), ("-", np.subtract), ("/", np.divide))
    with np.errstate(all="ignore"):
        found = (
            sign for sign, combined in operations
            if shape == value.shape and np.allclose(combined(x, y), value, rtol=1e-5)
        )
        return next(found, "")


def _letters() -> Iterator[str]:
    yield from ("x", "y", "z", "w", "v", "u")
    yield from (f"x{k}" for k in range(1, 1000))


def selected(graph: Graph, after: Graph, names: Sequence[str]) -> Reading:
    """The reading of a selection: these nodes and nothing below them, against the nodes of the same ids in
    the second graph.

    Raises `InputError` for an id that there is not.
    """
    from gslang.base.suggest import did_you_mean
    from gslang.formats.json_writer import ids_of_nodes

    ids, others = ({name: node for node, name in ids_of_nodes(g).items()} for g in (graph, after))
    for name in names:
        if name not in ids:
            guess = did_you_mean(name, ids)
            parted = len(name.split()) > 1 and all(word in ids for word in name.split())
            raise InputError(
                f"the graph has no node `{name}`",
                help=f"separate them with commas: --select {','.join(name.split())}" if parted
                else f"did you mean `{guess}`?" if guess else "",
            )
    nodes = {ids[name] for name in names}
    if not nodes:
        raise InputError("no node is selected", help="--select n4,n7")
    keys = keys_of(graph)
    read = {o for node in nodes for o in graph.operands[node]}
    outputs = [name for name in dict.fromkeys(names) if ids[name] not in read]
    for name in outputs:
        if name not in others:
            raise InputError(
                f"the second graph has no node `{name}`, which is an output of the selection",
                help="keep its id",
            )
    outside = frozenset(
        keys[node]
        for node in graph.reverse_post_order() if node not in nodes and graph.op[node] is not CONST
    )
    pairs = tuple((ids[name], others[name]) for name in outputs)
    return Reading(pairs, outside, keys, keys_of(after))
