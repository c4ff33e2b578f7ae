"""Equality saturation: rules add what their targets are to the e-graph, round by round, until nothing is new
or a limit is reached.

Limits count e-nodes and rounds, not seconds, so that results can be reproduced. A rule that matches too often
in a round is left out of the next ones, each time for longer (egg's backoff, Willsey et al. 2021). Rules with
several outputs, which make e-graphs explode, run in the first rounds only (Tensat's `k_multi`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.checked import CheckedRule
from gslang.check.walks import heights
from gslang.engine.conditions import output_slots
from gslang.engine.lower import program_of
from gslang.engine.program import MatchProgram
from gslang.engine.scope import Scope
from gslang.engine.spine import DEEP
from gslang.search.add_target import add_target
from gslang.search.egraph import EGraph
from gslang.search.match_classes import class_matches, match_key

_MATCHES = 2000  # of one rule in one round, doubled each time that the rule is left out
_BAN = 2  # rounds, doubled likewise


@dataclass(frozen=True, slots=True)
class Limits:
    """`nodes`: e-nodes beyond those of the graph, after which nothing is added; `rounds`; `multi`: rounds in
    which rules with several outputs run.
    """

    nodes: int = 10_000
    rounds: int = 15
    multi: int = 1


@dataclass
class Saturation:
    """The progress of a saturation, readable while it runs. `applications`: rule → times that it made or
    united something."""

    rounds: int = 0
    nodes: int = 0
    applications: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # rule → why its target did not fit somewhere
    stopped: str = "running"


@dataclass
class _Rule:
    program: MatchProgram
    several: bool
    depth: int
    least: int  # levels that a class has where it matches, or 0
    mirrored: bool  # its two outputs have the same pattern: a match and its mirror image lead to the same
    proposes: bool  # its target is equal to nothing yet
    banned_until: int = 0
    times: int = 0
    seen: set[object] = field(default_factory=set)


def saturate(
    egraph: EGraph, rules: Sequence[CheckedRule], limits: Limits, progress: Saturation | None = None,
    accept: Callable[[CheckedRule], bool] = lambda rule: True, reached: Callable[[], bool] = lambda: False,
    proposals: Sequence[CheckedRule] = (),
) -> Saturation:  # fmt: skip
    """Run rules to saturation or a limit, or until a goal is `reached`, which is asked after each round.
    `accept` is asked before a rule is applied for the first time. The targets of `proposals` are added, and
    equal to nothing until a rule finds them so.
    """
    progress = progress or Saturation()
    queue = [_prepared(rule) for rule in rules if not rule.disconnected and not _has_chain(rule)]
    queue += [_prepared(rule, True) for rule in proposals]
    allowed: dict[str, bool] = {}
    most = egraph.original + limits.nodes
    changed = set(egraph.members)
    distance = dict.fromkeys(changed, 0)
    most_levels = max((rule.least for rule in queue), default=0)
    for number in range(limits.rounds):
        progress.rounds, progress.nodes = number + 1, len(egraph)
        made = waiting = False
        levels = _levels(egraph) if most_levels else {}
        for rule in queue:
            if rule.several and number >= limits.multi:
                continue
            if rule.banned_until > number:
                waiting = True
                continue
            name = rule.program.rule.name
            near = None if rule.several or rule.times else distance
            for scope in _matches(rule, egraph, near, levels, number):
                if name not in allowed:
                    allowed[name] = accept(rule.program.rule)
                if not allowed[name]:
                    break
                made |= _apply(egraph, scope, progress, rule.proposes)
                if len(egraph) >= most:
                    egraph.rebuild()
                    progress.nodes, progress.stopped = len(egraph), "node limit"
                    return progress
        changed = egraph.rebuild()
        progress.nodes = len(egraph)
        if reached():
            progress.stopped = "goal reached"
            return progress
        if not made and not waiting:
            progress.stopped = "saturated"
            return progress
        distance = _distances(egraph, changed, max((r.depth for r in queue), default=0))
    progress.stopped = "round limit"
    return progress


def _matches(
    rule: _Rule, egraph: EGraph, near: dict[int, int] | None, levels: dict[int, int], number: int
) -> Iterable[Scope]:
    """Matches that were not seen before; with `near` only at classes near enough to a change."""
    limit, count = _MATCHES << rule.times, 0
    for of in egraph.classes_with(rule.program.starts):
        if near is not None and near.get(of, rule.depth + 1) > rule.depth:
            continue
        if rule.least and levels.get(of, rule.least) < rule.least:
            continue
        for scope in class_matches(rule.program, egraph, of, rule.seen):
            rule.seen.add(match_key(scope, egraph))
            if rule.mirrored:
                pair = tuple(sorted(output_slots(scope)))
                if pair in rule.seen:
                    continue
                rule.seen.add(pair)
            yield scope
            count += 1
            if count >= limit:
                rule.banned_until = number + 1 + (_BAN << rule.times)
                rule.times += 1
                return


def _apply(egraph: EGraph, scope: Scope, progress: Saturation, proposes: bool) -> bool:
    """Add a match's target to the e-graph; whether that is news."""
    name = scope.rule.name
    added = add_target(egraph, scope, proposes)
    if isinstance(added, str):
        progress.refused.setdefault(name, added)
        return False
    if added is None or not added.is_news:
        return False
    progress.applications[name] = progress.applications.get(name, 0) + 1
    return True


def _distances(egraph: EGraph, changed: set[int], most: int) -> dict[int, int]:
    """The distance of each class from the nearest changed one below it, up to `most`."""
    found = dict.fromkeys(sorted(changed), 0)
    layer = list(found)
    for depth in range(1, most + 1):
        following = []
        for of in layer:
            for node in egraph.parents[of]:
                above = egraph.find(node)
                if above not in found:
                    found[above] = depth
                    following.append(above)
        layer = following
    return found


def _levels(egraph: EGraph) -> dict[int, int]:
    """The steps from each class down to its furthest leaf; without those of classes in circles or above."""
    operands = egraph.store.operands
    below = {
        of: {egraph.find(o) for node in members for o in operands[node] if o >= 0}
        for of, members in egraph.members.items()
    }
    above: dict[int, list[int]] = {}
    for of, classes in below.items():
        for other in classes:
            above.setdefault(other, []).append(of)
    waiting = {of: len(classes) for of, classes in below.items()}
    found = {of: 0 for of, count in waiting.items() if not count}
    ready = list(found)
    for of in ready:
        for user in above.get(of, ()):
            found[user] = max(found.get(user, 0), found[of] + 1)
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return {of: level for of, level in found.items() if not waiting[of]}


def _least_levels(rule: CheckedRule, depth: int) -> int:
    """The levels that every match has below its first output, if they are many and each pattern node is one
    level; an operand that is an attribute in the graph makes one less.
    """
    is_fixed = not rule.blocks and not any(node.stands_for for node in rule.nodes)
    return depth - 1 if is_fixed and depth > DEEP and not _is_several(rule) else 0


def _has_chain(rule: CheckedRule) -> bool:
    """A run has no end in a graph whose classes may hold themselves (`x + 0`)."""
    return any(isinstance(node, ir.ChainNode) for node in rule.nodes)


def _prepared(rule: CheckedRule, proposes: bool = False) -> _Rule:
    mirrored = len(rule.outputs) == 2 and _form(rule, rule.outputs[0]) == _form(rule, rule.outputs[1])
    depth = _depth(rule)
    least = _least_levels(rule, depth)
    return _Rule(program_of(rule), _is_several(rule), depth, least, mirrored, proposes)


def _form(rule: CheckedRule, number: int, deep: int = 8) -> object:
    """Operators and inputs of a pattern, without what names them."""
    node = rule.nodes[number]
    if isinstance(node, ir.LeafNode) or not deep:
        return type(node).__name__
    kind = node.operators if isinstance(node, ir.CallNode) else type(node).__name__
    return kind, tuple([_form(rule, below, deep - 1) for below in node.below])


def _is_several(rule: CheckedRule) -> bool:
    return rule.output_block is not None or len(rule.outputs) > 1


def _depth(rule: CheckedRule) -> int:
    """The longest way from an output to a leaf of the pattern."""
    lengths = heights(range(len(rule.nodes)), lambda number: rule.nodes[number].below)
    return max(lengths.values(), default=1) - 1
