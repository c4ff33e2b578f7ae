"""A substitution as the text of a rule over Relay's operators.

Inputs carry what TASO's operators say about shapes (Relay's would broadcast, or take other ranks): sizes that
occur twice have letters. With conditions, inputs also carry what the target needs; these are the conditions
that the file leaves out. Not here: the file around the rules (`write`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from string import ascii_lowercase

from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.taso.dimensions import WHOLE, Size, System, Unknown
from gslang.taso.read import Operator, Substitution, Tensor
from gslang.taso.shapes import Key, Shape, Side, classes, group_conditions, open_shapes, ranks, side_of

ACTIVATIONS = ("", "sigmoid", "relu", "tanh")  # by PM_ACTI


@dataclass(frozen=True, slots=True)
class Rule:
    """`conditions`: what was added to the file's own substitution, as text.

    `fused`: the declared operators that it uses.
    """

    name: str
    text: str
    conditions: tuple[str, ...]
    disconnected: bool
    fused: frozenset[str]


def rule_name(rule: Substitution) -> str:
    return f"taso_{rule.index:03}"


def translate(rule: Substitution, with_conditions: bool) -> Rule:
    """Raises `ShapeMistake` for a substitution without a meaning."""
    order = matching_order(rule)
    names = _names(rule, order)
    all_ranks = ranks(rule, "st")
    given = ranks(rule, "st" if with_conditions else "s")
    system, source = _solved_source(rule, order, given)
    conditions: list[str] = []
    dtypes: dict[int, int] = {}
    products: list[tuple[Size, Size, Size, Size]] = []
    if with_conditions:
        own = ranks(rule, "s")
        ranked: set[Key] = set()
        same = classes(rule, "s")
        for number in order:
            root = same["", Tensor(number)]
            if own["", Tensor(number)] != given["", Tensor(number)] and root not in ranked:
                ranked.add(root)
                conditions.append(f"{names[number]}.ndim == {given['', Tensor(number)]}")
        conditions += _demand_target(rule, order, system, source, names, products)
        dtypes = _dtypes(rule, order)
        conditions += [f"{names[a]}.dtype == {names[b]}.dtype" for a, b in dtypes.items()]
    # The target is written in sizes of all dimensions it reads, also where the source leaves the rank open.
    wide = system if given == all_ranks else _solved_source(rule, order, all_ranks)[0]
    target = side_of(rule.target, open_shapes(order, all_ranks), "/dstOp")
    open_ranks = {k for k, number in enumerate(order) if given["", Tensor(number)] is None}
    writer = _Writer(names, order, open_ranks, system, wide)
    for _ in range(2):  # the first run finds which sizes are read; then they have letters
        lines = [
            *writer.statements("s", rule.source, source, [s for s, _ in rule.outputs]), "  =>",
            *writer.statements("t", rule.target, target, [t for _, t in rule.outputs]),
        ]  # fmt: skip
        header = ", ".join(writer.header(order, given, dtypes))
        where = [
            " * ".join(writer.factor(s) for s in p[:2]) + " == " + " * ".join(writer.factor(s) for s in p[2:])
            for p in products
        ]
        where += [f"{writer.size(system, rest)} == 0" for rest in system.unsolved]
        writer.give_letters()
    if where:
        at = lines.index("  =>")
        lines[at - 1] += " where " + ", ".join(where)
    loose = is_disconnected(rule)
    head = f"## Substitution {rule.index}" + (": with " + ", ".join(conditions) if conditions else "") + "."
    text = "\n".join(
        [head, *(["@disconnected"] if loose else []), f"rule {rule_name(rule)}({header}) {{", *lines, "}", ""]
    )
    fused = {name for op in (*rule.source, *rule.target) if (name := fused_operator(op))}
    return Rule(rule_name(rule), text, tuple(conditions), loose, frozenset(fused))


def fused_operator(op: Operator) -> str | None:
    """The declared operator of a product or convolution with an activation; None without one."""
    activation = ACTIVATIONS[op.params.get("PM_ACTI", 0)]
    return f"taso.{'matmul' if op.kind == 'OP_MATMUL' else 'conv2d'}_{activation}" if activation else None


def matching_order(rule: Substitution) -> list[int]:
    """The rule's inputs in the order in which they are matched: operands first, left to right, outputs in
    order.
    """
    found = reachable([output.op for output, _ in reversed(rule.outputs)], partial(_operands, rule))
    return [number for number in found if number < 0]


def _operands(rule: Substitution, number: int) -> list[int]:
    """The operands of an operator of the source, the last one first."""
    return [] if number < 0 else [tensor.op for tensor in reversed(rule.source[number].operands)]


def is_disconnected(rule: Substitution) -> bool:
    """True if some output shares nothing with those before it."""
    before: set[int] = set()
    for k, (output, _) in enumerate(rule.outputs):
        cone = reachable([output.op], partial(_operands, rule))
        if k and before.isdisjoint(cone):
            return True
        before.update(cone)
    return False


def _names(rule: Substitution, order: Sequence[int]) -> dict[int, str]:
    """`w` for second operands of products and convolutions, `x` for others, numbered in matching order."""
    weights = {op.operands[1].op for op in rule.source if op.kind in ("OP_MATMUL", "OP_CONV2D")}
    names: dict[int, str] = {}
    for letter in "xw":
        chosen = [number for number in order if (number in weights) == (letter == "w")]
        names |= {number: f"{letter}{k}" for k, number in enumerate(chosen, 1)}
    return names


def _solved_source(
    rule: Substitution, order: Sequence[int], rank: dict[Key, int | None]
) -> tuple[System, Side]:
    source = side_of(rule.source, open_shapes(order, rank), "/srcOp")
    system = System()
    for left, right in source.equations:
        system.demand(left, right)
    return system, source


def _demand_target(
    rule: Substitution,
    order: Sequence[int],
    system: System,
    source: Side,
    names: dict[int, str],
    products: list[tuple[Size, Size, Size, Size]],
) -> list[str]:
    """Add to `system` and `products` what both sides need besides; returns what was new, as text."""
    target = side_of(rule.target, open_shapes(order, ranks(rule, "st")), "/dstOp")
    equations = list(target.equations)
    for left, right in rule.outputs:
        equations += zip(source.shapes[left], target.shapes[right])
    added: list[str] = []
    groups = [group_conditions(rule.source, source), group_conditions(rule.target, target)]
    equations += (*groups[0].equations, *groups[1].equations)
    # the plainest say what the others follow from
    for equation in sorted(equations, key=lambda e: len(e[0].minus(e[1]).terms)):
        if system.demand(*equation):
            late, early = _sides(equation[0].minus(equation[1]))
            added.append(f"{_plain(late, names, order)} == {_plain(early, names, order)}")
    for (a, b), (c, d) in (*groups[0].products, *groups[1].products):
        products.append((a, b, c, d))
        added.append(
            " == ".join(" * ".join(_plain(s, names, order) for s in pair) for pair in ((a, b), (c, d)))
        )
    return added


def _dtypes(rule: Substitution, order: Sequence[int]) -> dict[int, int]:
    """Inputs whose data type must be that of an earlier one because of the target."""
    own, both = classes(rule, "s"), classes(rule, "st")
    found: dict[int, int] = {}
    for k, number in enumerate(order):
        here = ("", Tensor(number))
        if any(own["", Tensor(other)] == own[here] for other in order[:k]):
            continue
        same = next((other for other in order[:k] if both["", Tensor(other)] == both[here]), None)
        if same is not None:
            found[number] = same
    return found


def _sides(size: Size) -> tuple[Size, Size]:
    """`left == right` without minus signs, from what is zero; the later unknown stands on the left."""
    plus = Size(tuple((u, c) for u, c in size.terms if c > 0), max(0, size.constant))
    minus = Size(tuple((u, -c) for u, c in size.terms if c < 0), max(0, -size.constant))
    return (
        (plus, minus) if not minus.terms or plus.terms and plus.terms[-1] > minus.terms[-1] else (minus, plus)
    )


def _plain(size: Size, names: dict[int, str], order: Sequence[int]) -> str:
    def name(u: Unknown) -> str:
        shape = f"{names[order[u[0]]]}.shape"
        return shape if u[1] == WHOLE else f"{shape}[{u[1]}]"

    return _sum(((name(u), count) for u, count in size.terms), size.constant)


def _sum(terms: Iterable[tuple[str, int]], constant: int) -> str:
    parts: list[tuple[int, str]] = [
        (count, name if abs(count) == 1 else f"{abs(count)} * {name}") for name, count in terms
    ]
    parts.sort(key=lambda part: part[0] < 0)
    if constant or not parts:
        parts.append((constant, str(abs(constant))))
    text = ("-" if parts[0][0] < 0 else "") + parts[0][1]
    return text + "".join(f" {'-' if count < 0 else '+'} {name}" for count, name in parts[1:])


class _Writer:
    """Sizes as letters.

    `system` says what inputs carry; `wide` is it with all ranks known, for what the target reads.
    """

    def __init__(
        self, names: dict[int, str], order: Sequence[int], open_ranks: set[int], system: System, wide: System
    ) -> None:
        self.names, self.order, self.open_ranks, self.system, self.wide = (
            names, order, open_ranks, system, wide,
        )
        self.read: set[Unknown] = set()
        self.letters: dict[Unknown, str] = {}

    def give_letters(self) -> None:
        """Letters for all sizes that were read, in the order of matching.

        An input of any rank has no place to bind them.
        """
        self.letters = dict(zip(sorted(u for u in self.read if u[0] not in self.open_ranks), _letters()))

    def size(self, system: System, size: Size) -> str:
        size = system.reduced(size)
        self.read.update(u for u, _ in size.terms)
        return _sum(((self.unknown(u), count) for u, count in size.terms), size.constant)

    def factor(self, size: Size) -> str:
        text = self.size(self.system, size)
        return f"({text})" if " " in text else text

    def unknown(self, u: Unknown) -> str:
        if u[1] == WHOLE:
            return f"{self.names[self.order[u[0]]]}.shape"
        return self.letters.get(u) or f"{self.names[self.order[u[0]]]}.shape[{u[1]}]"

    def header(self, order: Sequence[int], rank: dict[Key, int | None], dtypes: dict[int, int]) -> list[str]:
        inputs = []
        known: dict[tuple[Size, ...], str] = {}
        for tensor, shape in open_shapes(order, rank).items():
            number = tensor.op
            inner = []
            reduced = tuple(self.system.reduced(size) for size in shape)
            if reduced in known:
                inner.append(f"shape = {known[reduced]}.shape")
            elif rank["", tensor] is not None:
                inner.append(f"shape = ({', '.join(self._item(size) for size in shape)})")
            known.setdefault(reduced, self.names[number])
            if number in dtypes:
                inner.append(f"dtype = {self.names[dtypes[number]]}.dtype")
            inputs.append(self.names[number] + (f": any({', '.join(inner)})" if inner else ""))
        return inputs

    def _item(self, size: Size) -> str:
        ((u, _),) = size.terms
        if u in self.system.solved:
            return self.size(self.system, size)
        return f"({self.letters[u]} := _)" if u in self.letters else "_"

    def statements(
        self, mark: str, ops: Sequence[Operator], side: Side, outputs: Sequence[Tensor]
    ) -> list[str]:
        system = self.system if mark == "s" else self.wide
        lines = []
        for k, op in enumerate(ops):
            operands = [self._operand(mark, ops, tensor) for tensor in op.operands]
            shapes: list[Shape] = [side.shapes[tensor] for tensor in op.operands]
            lines.append(f"    {mark}{k} = {self._call(op, operands, shapes, system, side)};")
        return [*lines, "    " + ", ".join(self._operand(mark, ops, tensor) for tensor in outputs)]

    def _operand(self, mark: str, ops: Sequence[Operator], tensor: Tensor) -> str:
        if tensor.op < 0:
            return self.names[tensor.op]
        return f"{mark}{tensor.op}" + (f".{tensor.part}" if ops[tensor.op].kind == "OP_SPLIT" else "")

    def _call(
        self, op: Operator, operands: list[str], shapes: list[Shape], system: System, side: Side
    ) -> str:
        joined = ", ".join(operands)
        match op.kind:
            case "OP_EW_ADD":
                return " + ".join(operands)
            case "OP_EW_MUL":
                return " * ".join(operands)
            case "OP_RELU":
                return f"nn.relu({joined})"
            case "OP_CONCAT":
                return f"concatenate(({joined}), axis = {op.params['PM_AXIS']})"
            case "OP_SPLIT":
                axis = op.params["PM_AXIS"]
                cut = self.size(system, side.cuts[op.operands[0], axis][-1])
                return f"split({joined}, indices_or_sections = ({cut},), axis = {axis})"
            case "OP_MATMUL":
                return f"{fused_operator(op) or 'product'}({joined})"
        data, weight = shapes
        height, width = (self.size(system, size) for size in weight[2:])
        padding = f"same({height}, {width})" if op.params["PM_PAD"] == 0 else "(0, 0, 0, 0)"
        if fused := fused_operator(op):
            return f"{fused}({joined}, padding = {padding})"
        return f"convolution({joined}, {padding}, {self._groups(data[1], weight[1], system)})"

    def _groups(self, channels: Size, inner: Size, system: System) -> str:
        top, bottom = system.reduced(channels), system.reduced(inner)
        if top == bottom:
            return "1"
        texts = (self.size(system, size) for size in (top, bottom))
        return " // ".join(f"({text})" if " " in text else text for text in texts)


def _letters() -> Iterable[str]:
    yield from ascii_lowercase
    k = 1
    while True:
        yield from (f"{letter}{k}" for letter in ascii_lowercase if letter not in "stwx")
        k += 1
