"""Generated code for targets: new nodes for the right-hand side, in the same order in which `build` makes
them.

`t5` is the node of target 5. What stands for several nodes is an expression for a list. A target that only
some condition reaches, and that stands in several places, is built where it is first met at run time (`t5 ==
-3` until then).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field

from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.definite import new_nodes_read
from gslang.check.target_reading import TargetReading
from gslang.engine.build import fitted, normalised
from gslang.engine.code_writer import Place, Writer
from gslang.engine.target_runtime import AllBut, AttributeMemo, Only, TypeTable
from gslang.engine.value_code import NotCompiled, code_of, instances_code, truth_code
from gslang.graph.graph import INDEX_ATTRS


@dataclass(slots=True)
class _State:
    """`guarded`: targets that are built where they are first met.

    `here`: in a repetition, what is new in each round.
    """

    writer: Writer
    target: ir.TargetGraph
    references: Counter[int]
    guarded: set[int] = field(default_factory=set)
    here: frozenset[int] | None = None

    def is_guarded(self, number: int, always: bool) -> bool:
        if self.here is not None and number not in self.here:
            return True
        return number in self.guarded or not always and self.references[number] > 1


def emit_target(writer: Writer, place: Place) -> tuple[str, bool]:
    """Emit the code that builds the target; the expression for its outputs, and whether it is one single
    node.

    The code raises what `FAILURES` lists where a value is unknown, and `BuildError`.
    """
    target, lets = writer.plan.rule.target, writer.plan.rule.lets
    references = Counter(target.outputs)

    def read(number: int) -> list[int]:
        parts = [*target.targets[number].parts, *new_nodes_read(target.targets[number], lets)]
        references.update(parts)
        return parts

    reachable(target.outputs, read)
    state = _State(writer, target, references)
    position = len(writer.lines)
    made: dict[int, str] = {}
    names = writer.names
    kept, names.keeps_lets, names.building = names.keeps_lets, True, True
    if len(target.outputs) == 1 and not stands_for_several(target, target.outputs[0]):
        result, single = _one(state, place, target.outputs[0], made, True), True
    else:
        parts_code = [_spliced(state, place, number, made, True) for number in target.outputs]
        result, single = f"[{', '.join(parts_code)}]", False
    names.keeps_lets, names.building = kept, False
    if state.guarded:
        writer.lines.insert(
            position, "    " * place.indent + " = ".join(f"t{k}" for k in sorted(state.guarded)) + " = -3"
        )
    return result, single


def stands_for_several(target: ir.TargetGraph, number: int) -> bool:
    """True if a target stands for a list of nodes."""
    what = target.targets[number]
    if isinstance(what, ir.ChosenTarget):
        return any(stands_for_several(target, part) for part in what.parts)
    return isinstance(what, ir.SeveralNodes)


def may_leave_unused(rule: ir.CheckedRule) -> bool:
    """True if a node may be made that nothing uses: a tuple whose fields are taken directly, one whose type
    only is read."""
    target = rule.target
    if new_nodes_read(target.targets, rule.lets):
        return True
    bases = [t.base for t in target.targets if isinstance(t, ir.Unpacking)]
    return any(not isinstance(target.targets[base], ir.MakeCall) for base in bases)


def _spliced(state: _State, place: Place, number: int, made: dict[int, str], always: bool) -> str:
    """The target as an item of a tuple display."""
    if stands_for_several(state.target, number):
        return f"*{_many(state, place, number, made, always)}"
    return _one(state, place, number, made, always)


def _one(state: _State, place: Place, number: int, made: dict[int, str], always: bool) -> str:
    """Emit what is missing for one node; the expression for it. `always`: no condition stands around this."""
    if number in made:
        return made[number]
    writer, names = state.writer, state.writer.names
    what = state.target.targets[number]
    match what:
        case ir.SourceNode(where, node):
            slot = names.slot(where, node)
            if node not in state.writer.sure:
                slot = f"bound({slot})"
            return slot
        case ir.Absent():
            return "-1"
    result = f"t{number}"
    if state.is_guarded(number, always):
        state.guarded.add(number)
        writer.line(place, f"if {result} == -3:")
        _make(state, place.deeper(), number, what, dict(made), False)
        writer.line(place.deeper(), "pass")
        return result
    _make(state, place, number, what, made, always)
    made[number] = result
    return result


def _typed(state: _State, place: Place, values: object, made: dict[int, str], always: bool) -> None:
    """Emit what is missing of the nodes whose types these values read, in the order in which `build` makes
    them.
    """
    lets = state.writer.plan.rule.lets
    sure = set(new_nodes_read(values, lets, sure=True))
    for number in new_nodes_read(values, lets):
        if number not in sure and number not in made:
            raise NotCompiled("a node that is made for its type under a condition")
        state.writer.names.new_nodes[number] = _one(state, place, number, made, always)


def _make(
    state: _State, place: Place, number: int, what: ir.Target, made: dict[int, str], always: bool
) -> None:
    if not isinstance(what, ir.MakeCall):  # whose operands come first
        _typed(state, place, what, made, always)
    _Statements(state, place, made, always).of_target(number)


@dataclass(slots=True)
class _Statements(TargetReading[None]):
    """Statements that make the one node that a target stands for, at a place in the code."""

    state: _State
    place: Place
    made: dict[int, str]
    always: bool

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.state.target.targets

    def line(self, text: str) -> None:
        """Add a line at the place."""
        self.state.writer.line(self.place, text)

    def of_constant(self, number: int, target: ir.MakeConst) -> None:
        self.line(f"t{number} = {_constant(self.state, target, 'None')}")

    def of_call(self, number: int, target: ir.MakeCall) -> None:
        _call(self.state, self.place, f"t{number}", target, self.made, self.always)

    def of_tuple(self, number: int, target: ir.MakeTuple) -> None:
        items = [_spliced(self.state, self.place, part, self.made, self.always) for part in target.fields]
        self.add(number, "TUPLE", items, "NO_ATTRS")

    def of_projection(self, number: int, target: ir.MakeProj) -> None:
        names = self.state.writer.names
        below = _one(self.state, self.place, target.base, self.made, self.always)
        index = ir.written_number(target.index)
        if (
            index is not None and 0 <= index < len(INDEX_ATTRS)
            and isinstance(self.targets[target.base], ir.MakeCall)
        ):
            self.add(number, "PROJ", [below], names.constant(INDEX_ATTRS[index]))
        else:
            self.line(f"t{number} = project(E, {below}, {code_of(target.index, names)})")

    def add(self, number: int, operator: str, items: list[str], attrs: str) -> None:
        """Make a node of these operands."""
        types = self.state.writer.names.constant(TypeTable())
        _add(self.state.writer, self.place, f"t{number}", operator, items, attrs, types)

    def of_either(self, number: int, target: ir.ChooseTarget) -> None:
        self.line(f"if {truth_code(target.condition, self.state.writer.names)}:")
        self.take(number, target.then)
        self.line("else:")
        self.take(number, target.otherwise)

    def of_selected(self, number: int, target: ir.SelectTarget) -> None:
        if target.place != ir.OWN:
            self.of_other(number, target)
        chosen = [choice for choice, arm in enumerate(target.arms) if arm is not None]
        for choice, arm in enumerate(target.arms):
            if arm is not None:
                self.line(f"if b{target.node} == {choice}:")
                self.take(number, arm)
        self.line(f"if b{target.node} not in {tuple(chosen)!r}: unknown('no arm for this alternative')")

    def take(self, number: int, part: int) -> None:
        """Let it be the node of a part, under the condition above."""
        inner = self.place.deeper()
        code = _one(self.state, inner, part, dict(self.made), False)
        self.state.writer.line(inner, f"t{number} = {code}")

    def of_other(self, number: int, target: ir.Target) -> None:
        raise NotCompiled(f"one {type(target).__name__}")


def _many(state: _State, place: Place, number: int, made: dict[int, str], always: bool) -> str:
    """Emit what is missing for a target that stands for several nodes; the expression for the list."""
    if number in made:
        return made[number]
    writer = state.writer
    result, what = f"t{number}", state.target.targets[number]
    if isinstance(what, ir.SpliceInstances):
        return f"[i[{what.node}] for i in I{what.block}]"
    if state.is_guarded(number, always):
        state.guarded.add(number)
        writer.line(place, f"if {result} == -3:")
        _make_many(state, place.deeper(), result, what, dict(made), False)
        return result
    _make_many(state, place, result, what, made, always)
    made[number] = result
    return result


def _make_many(
    state: _State, place: Place, result: str, what: ir.Target, made: dict[int, str], always: bool
) -> None:
    writer, names = state.writer, state.writer.names
    if isinstance(what, ir.Repeat):
        _typed(state, place, what.source, made, always)
    match what:
        case ir.Projections(base):
            below = _one(state, place, base, made, always)
            writer.line(place, f"{result} = projections(E, {below})")
        case ir.Repeat(element, variables, source, condition, inner):
            kept, names.keeps_lets = names.keeps_lets, False
            writer.line(place, f"{result} = []")
            item, body = writer.name("item"), place.deeper()
            if what.over is not None:
                names.over[variables[0]] = what.over
                writer.line(place, f"for {instances_code(variables[0], what.over)}:")
            else:
                writer.line(place, f"for {item} in {code_of(source, names)}:")
            if what.over is None and len(variables) == 1:
                writer.line(body, f"l{variables[0]} = plain({item})")
            elif what.over is None:
                writer.line(
                    body,
                    f"{', '.join(f'l{v}' for v in variables)}{',' if variables else ''} = several({item}, "
                    f"{len(variables)})",
                )
            inside = {k: code for k, code in made.items() if k not in inner}
            outer, state.here, position, before = state.here, inner, len(writer.lines), set(state.guarded)
            if condition is not None:
                _typed(state, body, condition, inside, True)
                writer.line(body, f"if not {truth_code(condition, names)}: continue")
            writer.line(body, f"{result}.extend(({_spliced(state, body, element, inside, True)},))")
            state.here = outer
            fresh = sorted((state.guarded - before) & inner)
            if fresh:
                writer.lines.insert(
                    position, "    " * body.indent + " = ".join(f"t{k}" for k in fresh) + " = -3"
                )
            names.keeps_lets = kept
        case _:
            raise NotCompiled("a choice between sequences")


# ── calls ───────────────────────────────────────────────────────────────────────────────────────────────────


def _call(
    state: _State, place: Place, result: str, call: ir.MakeCall, made: dict[int, str], always: bool
) -> None:
    """Operands in order; constants that take their dtype from the others come last, as in `build`."""
    writer, names = state.writer, state.writer.names
    targets = state.target.targets
    items: list[str] = []
    waiting: list[tuple[int, ir.MakeConst]] = []
    for part in call.operands:
        what = targets[part]
        if isinstance(what, ir.MakeConst) and what.dtype is None and part not in made:
            waiting.append((len(items), what))
            items.append("-1")
        else:
            items.append(_spliced(state, place, part, made, always))
    if waiting:
        beside = f"({''.join(f'{item}, ' for item in items)})"
        operator = repr(call.operator) if isinstance(call.operator, str) else f"w_{call.operator[1]}"
        for position, what in waiting:
            before = items[:position]
            at = (
                f"len(({''.join(f'{item}, ' for item in before)}))"
                if any(item.startswith("*") for item in before)
                else str(position)
            )
            _typed(state, place, what, made, always)
            made_of = writer.name("k")
            writer.line(
                place, f"{made_of} = {_constant(state, what, f'dtype_beside(E, {operator}, {at}, {beside})')}"
            )
            items[position] = made_of
    while items and items[-1] == "-1":
        items.pop()
    _typed(state, place, call.attributes, made, always)
    operator, attrs, known = _attributes(state, place, call)
    sources = [targets[part] for part in call.operands]
    if any(t.optional or isinstance(t, ir.SourceNode) and not names.is_there(t.node) for t in sources):
        writer.line(
            place,
            f"{result} = add({operator}, trimmed(({''.join(f'{item}, ' for item in items)})), {attrs}, "
            f"{known})",
        )
    else:
        _add(writer, place, result, operator, items, attrs, known)
    if call.attached:
        pairs = "".join(f"({name!r}, {code_of(value, names)}), " for name, value in call.attached)
        writer.line(place, f"annotate(G, {result}, ({pairs}))")


def _add(
    writer: Writer, place: Place, result: str, operator: str, items: list[str], attrs: str, known: str
) -> None:
    """Append a node whose operands are there: what `Edits.add` does, in line."""
    operands = f"({''.join(f'{item}, ' for item in items)})"
    # what is remembered is built rarely; -1: absent
    if writer.remembered or any(
        item == "-1" or item.startswith("*") or not item[1:].replace("_", "").isdigit() for item in items
    ):
        writer.line(place, f"{result} = add({operator}, {operands}, {attrs}, {known})")
        return
    writer.line(place, f"{result} = len(op)")
    writer.line(
        place,
        f"op_append({operator}); operands_append({operands}); attrs_append({attrs}); names_append(None); "
        "users_append(())",
    )
    for k, item in enumerate(items):
        writer.note_user(place, item, result, k > 0)
    key = f"({''.join(f'types[{item}], ' for item in items)})"
    writer.line(place, f"kind = {known}.get({key}, MISSING)")
    writer.line(place, f"types_append(infer({result}, {known}, {key}) if kind is MISSING else kind)")


def _attributes(state: _State, place: Place, call: ir.MakeCall) -> tuple[str, str, str]:
    """The operator, its attributes, and the table of result types, as code."""
    writer, names, rule = state.writer, state.writer.names, state.writer.plan.rule
    if isinstance(call.operator, str):
        operator = repr(call.operator)
        if not call.spreads and all(isinstance(value, ir.Const) for _, value in call.attributes):
            signature = rule.dialect.operators.get(call.operator)
            given = {
                name: fitted(value.value, signature, name)
                for name, value in call.attributes if isinstance(value, ir.Const)
            }
            return operator, names.constant(normalised(given, signature)), names.constant(TypeTable())
    else:
        operator = f"w_{call.operator[1]}"
    copied, computed = _copied(state, call)
    parts = [f"attrs[present({names.slot(spread.place, spread.node)})]" for spread in call.spreads]
    parts += [f"attrs[{slot}]" for slot, _ in copied]
    chosen = [AllBut(spread.without) for spread in call.spreads] + [
        Only(frozenset(wanted)) for _, wanted in copied
    ]
    memo = names.constant(AttributeMemo(rule.dialect, chosen, tuple(name for name, _ in computed)))
    values = "".join(f"{code_of(value, names)}, " for _, value in computed)
    both = writer.name("attributes")
    writer.line(
        place, f"{both} = {memo}.of(E, {operator}, ({''.join(f'{part}, ' for part in parts)}), ({values}))"
    )
    return operator, f"{both}[0]", f"{both}[1]"


def _copied(
    state: _State, call: ir.MakeCall
) -> tuple[list[tuple[str, list[str]]], list[tuple[str, ir.Value]]]:
    """Attributes that are taken over from a matched call of the same operator as they stand, by its slot, and
    the others.
    """
    rule, names = state.writer.plan.rule, state.writer.names
    groups: dict[str, list[str]] = {}
    computed: list[tuple[str, ir.Value]] = []
    for name, value in call.attributes:
        match value:
            case ir.NodeAttr(place, node, field) if (
                field == name and node in state.writer.sure and names.is_there(node)
            ):
                pattern = rule.nodes[node]
                if isinstance(pattern, ir.CallNode) and pattern.operators == (call.operator,):
                    signature = rule.dialect.operators.get(pattern.operators[0])
                    if (
                        signature is not None and name in signature.attributes
                        and all(o.name != name for o in signature.operands)
                    ):
                        groups.setdefault(names.slot(place, node), []).append(name)
                        continue
        computed.append((name, value))
    return list(groups.items()), computed


# ── constants ───────────────────────────────────────────────────────────────────────────────────────────────


def _constant(state: _State, constant: ir.MakeConst, dtype: str) -> str:
    names = state.writer.names
    value = code_of(constant.value, names)
    if constant.dtype is not None:
        dtype = code_of(constant.dtype, names)
    if constant.as_tuple:
        return f"constants(E, {value}, {dtype})"
    shape = "None" if constant.splat_shape is None else code_of(constant.splat_shape, names)
    if constant.optional:
        return f"constant_or_absent(E, {value}, {dtype}, {shape})"
    return f"constant(E, {value}, {dtype}, {shape})"
