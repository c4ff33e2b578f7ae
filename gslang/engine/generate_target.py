"""Generated code for targets: new nodes for the right-hand side, in the same order in which `build` makes
them.

`t5` is the node of target 5. What stands for several nodes is an expression for a list. A target that only
some condition reaches, and that stands in several places, is built where it is first met at run time (`t5 ==
-3` until then).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import field

from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.definite import new_nodes_read
from gslang.check.target_reading import TargetReading
from gslang.engine.code_writer import Place, Writer
from gslang.engine.generate_parts import add_node, attributes_code, constant_code
from gslang.engine.target_runtime import TypeTable
from gslang.engine.value_code import NotCompiled, code_of, instances_code, truth_code
from gslang.graph.graph import INDEX_ATTRS

_FIRST_MARK = -4  # less than what stands for an absent, an unbound and a guarded node


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
    for number in _chosen_operands(target, references, lets):
        if references[number] > 1:  # the choice is made for each
            references.update(target.targets[number].parts)
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
        self.line(f"t{number} = {constant_code(self.state.writer, target, 'None')}")

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
        add_node(self.state.writer, self.place, f"t{number}", operator, items, attrs, types)

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
    waiting: list[_Waiting] = []
    for part in call.operands:
        if part in made or not state.target.may_wait(part):
            items.append(_spliced(state, place, part, made, always))
            continue
        constant = targets[part]
        if isinstance(constant, ir.MakeConst):
            waiting.append(_Waiting(len(items), writer.name("k"), {part: -1}))
            items.append("-1")
        else:
            choice = _Waiting(len(items), writer.name("k"))
            _typed(state, place, constant, made, always)
            _Choice(state, place, made, always, choice).of_target(part)
            waiting.append(choice)
            items.append(choice.variable)
    if waiting:
        _emit_waiting(state, place, call, items, waiting, made, always)
    while items and items[-1] == "-1":
        items.pop()
    _typed(state, place, call.attributes, made, always)
    operator, attrs, known = attributes_code(writer, place, call)
    sources = [targets[part] for part in call.operands]
    if any(t.optional or isinstance(t, ir.SourceNode) and not names.is_there(t.node) for t in sources):
        writer.line(
            place,
            f"{result} = add({operator}, trimmed(({''.join(f'{item}, ' for item in items)})), {attrs}, "
            f"{known})",
        )
    else:
        add_node(writer, place, result, operator, items, attrs, known)
    if call.attached:
        pairs = "".join(f"({one.name!r}, {code_of(one.value, names)}), " for one in call.attached)
        writer.line(place, f"annotate(G, {result}, ({pairs}))")


@dataclass(slots=True)
class _Waiting:
    """An operand that is a constant whose element type follows from the others, or may be one by a choice.

    `constants`: those that it may be → the value of its variable where it is this one.
    """

    position: int
    variable: str
    constants: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Choice(_Statements):
    """Statements that make a choice for an operand; a constant among its parts is only noted."""

    waiting: _Waiting

    def of_constant(self, number: int, target: ir.MakeConst) -> None:
        mark = self.waiting.constants.setdefault(number, _FIRST_MARK - len(self.waiting.constants))
        self.line(f"{self.waiting.variable} = {mark}")

    def take(self, number: int, part: int) -> None:
        state, inner, made = self.state, self.place.deeper(), dict(self.made)
        if part not in made and state.target.may_wait(part):
            _typed(state, inner, self.targets[part], made, False)
            _Choice(state, inner, made, False, self.waiting).of_target(part)
        else:
            state.writer.line(inner, f"{self.waiting.variable} = {_one(state, inner, part, made, False)}")


def _emit_waiting(
    state: _State, place: Place, call: ir.MakeCall, items: list[str], waiting: list[_Waiting],
    made: dict[int, str], always: bool,
) -> None:
    """Emit the constants that are operands, all by the element types of the other operands."""
    writer = state.writer
    operator = repr(call.operator) if isinstance(call.operator, str) else f"w_{call.operator[1]}"
    beside = f"({''.join(f'{item}, ' for item in items)})"
    if any(items[each.position] != "-1" for each in waiting):  # they change below
        others, beside = beside, writer.name("beside")
        writer.line(place, f"{beside} = {others}")
    for each in waiting:
        before = items[: each.position]
        at = (
            f"len(({''.join(f'{item}, ' for item in before)}))"
            if any(item.startswith("*") for item in before)
            else str(each.position)
        )
        dtype = f"dtype_beside(E, {operator}, {at}, {beside})"
        for number, mark in each.constants.items():
            what = state.target.targets[number]
            assert isinstance(what, ir.MakeConst)
            where, known, sure = place, made, always
            if items[each.position] != "-1":
                writer.line(place, f"if {each.variable} == {mark}:")
                where, known, sure = place.deeper(), dict(made), False
            _typed(state, where, what, known, sure)
            writer.line(where, f"{each.variable} = {constant_code(writer, what, dtype)}")
        items[each.position] = each.variable


def _chosen_operands(
    target: ir.TargetGraph, reached: Collection[int], lets: Sequence[ir.Value]
) -> list[int]:
    """The choices that are made anew for each call that they are an operand of, since they may be constants
    whose types differ; outer ones first.

    Raises `NotCompiled` for one that also stands where it is made once.
    """
    calls = [n for n in reached if isinstance(target.targets[n], ir.MakeCall)]
    waiting: dict[int, None] = {}
    stack = [part for n in calls for part in target.targets[n].parts]
    while stack:
        number = stack.pop(0)
        if target.may_wait(number) and number not in waiting:
            waiting[number] = None
            stack += target.targets[number].parts
    choices = [n for n in waiting if isinstance(target.targets[n], ir.ChosenTarget)]
    users = {*calls, *choices}
    within = {part for choice in choices for part in target.targets[choice].parts if part in waiting}
    elsewhere = {*target.outputs, *(p for n in reached if n not in users for p in target.targets[n].parts)}
    elsewhere.update(new_nodes_read([target.targets[n] for n in reached], lets))
    if elsewhere & {*choices, *within}:
        raise NotCompiled("a constant that is an operand by a choice, and stands elsewhere, too")
    return choices
