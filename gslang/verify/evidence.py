"""The evidence of a rule's instances: which agree, which refute it, and what was looked at."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Literal

from gslang.base.deadline import SECONDS
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.dialect.dtypes import is_float
from gslang.dialect.signature import REQUIRED
from gslang.engine.scope import Scope
from gslang.graph.graph import Graph
from gslang.verify.comparison.compare import (
    Finding,
    can_be_computed,
    compare,
    fits_its_types,
    refutes,
    why_not_computed,
)
from gslang.verify.comparison.effects import Attribute, matters, shows
from gslang.verify.comparison.largest import MOST, largest
from gslang.verify.instances.draw import (
    TYPE_ATTRIBUTES,
    Instance,
    Search,
    integer_types,
    is_about_nothing,
    match_in,
)
from gslang.verify.prove.prove import STEPS
from gslang.verify.reads import names_types

MOST_IDLE = 4  # instances in which an attribute does not matter, before that is sought
_WHOLE = ("int", "uint")  # how the names of their types begin
_FLOATS = 'dtype = "float16" | "float32"'


Covered = Literal["", "limited", "part", "floats", "all"]
"""The element types for which a proof says all that is to be known of a rule; "part": one that leaves out
ranks or spellings; "limited": that, and integers. Empty: there is no proof.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds`: the most processor time for one rule; `proof_steps`: of a search for a proof (0: none).

    `wanted`: how many instances to look at. `special`: NaN and infinities refute too; `whole`: so do integers
    for which alone the target does not fit.
    """

    seconds: float = SECONDS
    seed: int = 0
    wanted: int = 24
    special: bool = False
    whole: bool = False
    proof_steps: int = STEPS


@dataclass(slots=True)
class Evidence:
    """`good`: of instances whose sides agree, as far as can be told; `agreeing`: these, but for those that
    were only looked at. `bad`: what refutes, with the reason. `unfit`: integers for which alone the target
    does not fit. `in_floats`: instances without integers agree. `drawn`: how many are no tests of the rule's
    own. `coverage`: feature → how many instances have it. `search`: of those that are drawn. `stopped`: the
    time was over before enough was seen; not `complete`: where it is not known what was not varied. `empty`:
    the sides differ where tensors have no elements. `unvaried`: what no instance showed, as messages name it.
    `effective`: attributes of the source that changed what it computes in some instance. `idle`: how many
    instances showed that they did not; `masked`: in how many of these the operator's own result changed.
    """

    good: list[Finding] = field(default_factory=list)
    agreeing: list[Instance] = field(default_factory=list)
    bad: list[tuple[Instance, Finding | None, str]] = field(default_factory=list)
    unfit: list[tuple[Instance, Finding | None, str]] = field(default_factory=list)
    in_floats: bool = False
    drawn: int = 0
    coverage: Counter[str] = field(default_factory=Counter)
    search: Search = field(default_factory=Search)
    complete: bool = False
    stopped: bool = False
    empty: bool = False
    unvaried: list[str] = field(default_factory=list)
    seen: set[tuple[int, bool]] = field(default_factory=set)
    seen_in_integers: set[tuple[int, bool]] = field(default_factory=set)
    attributes: set[tuple[str, str, str]] = field(default_factory=set)
    effective: set[Attribute] = field(default_factory=set)
    idle: Counter[Attribute] = field(default_factory=Counter)
    masked: Counter[Attribute] = field(default_factory=Counter)


def look_at(rule: CheckedRule, instance: Instance, settings: Settings, evidence: Evidence) -> None:
    if any(largest(graph) > MOST for graph in (instance.before, instance.after) if graph is not None):
        return
    finding, why = _judged(rule, instance, settings)
    if not why and (finding is None or finding.nothing and not is_about_nothing(instance.before)):
        # no graph that means anything, or none whose results say anything
        if finding is None and not evidence.good:
            refused = why_not_computed(instance.before, rule.dialect, max(instance.seed, 0))
            evidence.search.obstacles[f"the source cannot be computed: {refused}"] += 1
        return
    whole = integer_types(instance)
    by_chance = whole and not names_types(rule)  # it is meant for floats, about which these say less
    if finding is not None:
        seen = evidence.seen_in_integers if by_chance else evidence.seen
        seen |= instance.seen
        evidence.attributes |= instance.attributes
    if why and by_chance:
        twin = instance.in_floats()
        twins, why_in_floats = (
            (None, "") if twin is None or integer_types(twin) else _judged(rule, twin, settings)
        )
        if why_in_floats and twin is not None:
            instance, finding, why = twin, twins, why_in_floats
        elif finding is None and not settings.whole:
            evidence.unfit.append((instance, finding, why))
            return
        elif twin is not None and twins is not None:
            why += f"; they agree for floats in the same graph{_stating_floats(rule, instance, twin)}"
    if why or finding is None:
        evidence.bad.append((instance, finding, why))
        return
    evidence.in_floats |= not whole
    evidence.good.append(finding)
    evidence.agreeing.append(instance)
    _note_effects(rule, instance, settings, evidence)


def look_at_types(rule: CheckedRule, instance: Instance, settings: Settings, evidence: Evidence) -> None:
    """Add an instance that refutes because the target does not fit its element types."""
    finding, why = _judged(rule, instance, settings)
    if why and finding is None:
        evidence.bad.append((instance, finding, why))


def refuting(rule: CheckedRule, instance: Instance, settings: Settings) -> bool:
    """True if an instance would refute the rule."""
    return bool(_judged(rule, instance, settings)[1])


def _stating_floats(rule: CheckedRule, instance: Instance, twin: Instance) -> str:
    """The words for saying in a rule that it is meant for floats alone: of an input that is one in the twin
    of an instance with integers, else of an attribute that is. Empty if nothing that has a name is.
    """
    whole, floats = (match_in(rule, found.before) for found in (instance, twin))
    if whole is None or floats is None:
        return ""
    for number, leaf in rule.leaves.items():
        now, then = _dtype(whole, number), _dtype(floats, number)
        if leaf.name and now.startswith(_WHOLE) and is_float(then):
            return f": to restrict the rule to these types, write `{leaf.name}: {leaf.kind}({_FLOATS})`"
    for number, call in rule.calls.items():
        for name in TYPE_ATTRIBUTES if call.name else ():
            now, then = _attribute(rule, whole, number, name), _attribute(rule, floats, number, name)
            if now.startswith(_WHOLE) and not then.startswith(_WHOLE):
                return f': to restrict the rule, add the condition `{call.name}.{name} == "{then}"`'
    return ""


def _dtype(scope: Scope, number: int) -> str:
    """The element type of what a pattern node matches; empty where it is not known."""
    node = scope.slots[number]
    return (getattr(scope.graph.types[node], "dtype", None) or "") if node >= 0 else ""


def _attribute(rule: CheckedRule, scope: Scope, number: int, name: str) -> str:
    """An attribute of what a pattern node matches, if it is a text."""
    node = scope.slots[number]
    signature = None if node < 0 else rule.dialect.get(scope.graph.op[node])
    value = None if signature is None else signature.complete(scope.graph.attrs[node]).get(name)
    return value if isinstance(value, str) else ""


def _judged(rule: CheckedRule, instance: Instance, settings: Settings) -> tuple[Finding | None, str]:
    """The comparison of an instance's sides and why it refutes the rule, if it does; (None, "") of a graph
    that means nothing. No finding either where the target does not fit."""
    dialect, seed = rule.dialect, max(instance.seed, 0)  # inputs of one name differ
    if instance.after is None:
        means = not _mixes_floats(instance.before) and can_be_computed(instance.before, dialect, seed)
        return None, f"the target does not fit the source: {instance.failure}" if means else ""
    finding = compare(instance.before, instance.after, dialect, rule.approximate, seed)
    if finding.numbers is None and not can_be_computed(instance.before, dialect, seed):
        return None, ""
    why = refutes(finding, settings.special)
    if why and finding.numbers is False and not fits_its_types(instance.before, dialect, seed):
        return None, ""  # operands that the operator does not take
    return finding, why


def _note_effects(rule: CheckedRule, instance: Instance, settings: Settings, evidence: Evidence) -> None:
    """Note which of an instance's open attributes make a difference there, and which do not."""
    for operator, name, value in sorted(instance.attributes):
        attribute = (operator, name)
        default = rule.dialect.operators[operator].attributes[name].default
        if (
            attribute in evidence.effective or value == repr(default) or default is REQUIRED
            or evidence.idle[attribute] == MOST_IDLE
        ):
            continue
        if matters(instance.before, rule.dialect, attribute, settings.seed):
            evidence.effective.add(attribute)
        else:
            evidence.idle[attribute] += 1
            evidence.masked[attribute] += shows(instance.before, rule.dialect, attribute, settings.seed)


def _mixes_floats(graph: Graph) -> bool:
    """True if operands of one call are of several types of floats: inference lets these pass for operators
    that take them of one type only."""
    for node in graph.nodes():
        types = {getattr(graph.types[o], "dtype", None) for o in graph.operands[node] if o >= 0}
        if sum(str(dtype).startswith("float") for dtype in types) > 1:
            return True
    return False
