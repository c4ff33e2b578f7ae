"""State shared by the parts of the generator: where a line goes, how a failed check leaves, and what is still
to be emitted.

The matcher of a rule is one function (with nested ones where a continuation is needed twice). Checks stand in
sequence; a check that fails goes on with the innermost choice (`continue`) or leaves the function (`return
None`) where there is none. Emitting is a walk over steps: each emits its lines, then the steps behind it,
inside its own loop or function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace

from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.engine import program as mp
from gslang.engine.program import MatchProgram
from gslang.engine.value_code import Namespace, NotCompiled
from gslang.graph.users import MANY_USERS

MOST_LOOPS = 12  # Python allows 20 nested blocks; beyond this a nested function starts afresh


@dataclass(frozen=True, slots=True)
class Place:
    """Where code is emitted: indentation, how a failed check leaves, and which pattern nodes have a slot
    here.

    `certain`: matched on every way that leads here; `possible`: on some (their variable is -2 otherwise);
    `started`: their variable is set, but their operands are still being matched.
    """

    indent: int
    fail: str
    loops: int = 0
    certain: frozenset[int] = frozenset()
    possible: frozenset[int] = frozenset()
    started: frozenset[int] = frozenset()

    def deeper(self) -> Place:
        return replace(self, indent=self.indent + 1)

    def in_loop(self) -> Place:
        return replace(self, indent=self.indent + 1, fail="continue", loops=self.loops + 1)


@dataclass(frozen=True, slots=True)
class Site:
    """A place that lists candidates: the operators of each step up, and (path of operands, field) of what is
    fixed.
    """

    levels: tuple[frozenset[str], ...]
    key: tuple[tuple[tuple[int, ...], str], ...]


@dataclass(slots=True)
class Writer:
    plan: MatchProgram
    names: Namespace
    # the template for operands that are instances (`generate_blocks`), and the one for chains
    # (`generate_runs`)
    fields_step: Callable[[mp.Fields], Step]
    run_step: Callable[[mp.Run], Step]
    traced: bool = False  # the rewriter tells what it did
    sites: dict[str, Site] = field(default_factory=dict)
    # (node, levels) → variable
    listed: dict[tuple[int, tuple[frozenset[str], ...]], str] = field(default_factory=dict)
    # pattern nodes whose candidates all have an operator of theirs
    listed_by_operator: set[int] = field(default_factory=set)
    tested: list[ir.Value] = field(default_factory=list)  # parts of `where` that are tested
    spliced: set[int] = field(default_factory=set)  # blocks whose instances are matched
    sure: frozenset[int] = frozenset()  # pattern nodes that every match has, once the source is matched
    highest_of: frozenset[int] | None = None  # variable `highest`: the greatest label of these leaves
    variables: tuple[str, ...] = ()  # those that nested functions share
    lines: list[str] = field(default_factory=list)
    # operators of outlines, as code: whether they may be is known per run
    outlines: list[str] = field(default_factory=list)
    # nodes of targets, as code: which of them can be seeds is known per run
    relevant: list[str] = field(default_factory=list)
    remembered: bool = False  # what is being built will be a stamp
    tables: int = 0  # of conditions that are looked up
    tries: bool = False  # candidates in loops inside others are counted
    fresh: int = 0

    def line(self, place: Place, text: str) -> None:
        self.lines.append("    " * place.indent + text)

    def check(self, place: Place, bad: str) -> None:
        """Leave where `bad` holds."""
        self.line(place, f"if {bad}: {place.fail}")

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}_{self.fresh}"

    def site(self, site: Site) -> str:
        """The variable that has the candidates of a place, one for each graph."""
        name = f"candidates_{len(self.sites)}"
        self.sites[name] = site
        return name

    def conditions(self, place: Place, conditions: Iterable[str]) -> None:
        """Checks whose evaluation may fail; a failure is as good as false."""
        wanted = [c for c in conditions if c != "True"]
        if wanted:
            self.attempt(place, wanted)
            self.check(place, "not holds")

    def attempt(self, place: Place, conditions: Iterable[str]) -> None:
        """Set `holds`: true if all conditions are, false also where one cannot be evaluated."""
        self.line(place, "try:")
        self.line(place, f"    holds = {' and '.join(conditions)}")
        self.line(place, "except FAILURES:")
        self.line(place, "    holds = False")

    def note_user(self, place: Place, operand: str, user: str, again: bool) -> None:
        """Note that a new node reads an operand: what `Graph.add_user` does, in line where nobody watches.

        `again`: it may be the same operand as one before.
        """
        twice = f" and (not readers or readers[-1] != {user})" if again else ""
        self.line(place, f"readers = users[{operand}]")
        self.line(place, f"if additions: add_user({operand}, {user})")
        self.line(place, f"elif type(readers) is dict: readers[{user}] = None")
        self.line(place, f"elif len(readers) < {MANY_USERS}{twice}: users[{operand}] = readers + ({user},)")
        self.line(place, f"else: add_user({operand}, {user})")

    def function(self, place: Place, prefix: str) -> tuple[str, Place]:
        """Begin a nested function without parameters; the place inside it."""
        name = self.name(prefix)
        self.line(place, f"def {name}():")
        inner = replace(place, indent=place.indent + 1, fail="return None", loops=0)
        if self.variables:
            self.line(inner, f"nonlocal {', '.join(self.variables)}")
        return name, inner

    def call(self, place: Place, function: str) -> None:
        self.line(place, f"result = {function}()")
        self.line(place, "if result is not None: return result")


# What is still to be emitted: a linked list of steps.
Step = Callable[[Writer, Place, "Rest"], None]


@dataclass(frozen=True, slots=True)
class Rest:
    step: Step
    rest: Rest | None


def chain(steps: Iterable[Step], rest: Rest | None) -> Rest:
    result = rest
    for step in reversed(list(steps)):
        result = Rest(step, result)
    assert result is not None
    return result


def go(writer: Writer, place: Place, rest: Rest | None) -> None:
    """Emit what is still to be emitted."""
    assert rest is not None
    rest.step(writer, place, rest.rest)  # type: ignore[arg-type]


def loop(writer: Writer, place: Place, header: str, body: Callable[[Place], None]) -> None:
    """A choice: `for …:` with `body` inside, in a function of its own where too many loops stand around it.
    """
    if place.loops < MOST_LOOPS:
        writer.line(place, header)
        body(place.in_loop())
        return
    if writer.names.inside is not None:
        raise NotCompiled("too many choices in a row inside a template")
    name, inner = writer.function(place, "deep")
    writer.line(inner, header)
    body(inner.in_loop())
    writer.call(place, name)
    writer.line(place, place.fail)


def tuple_code(items: Iterable[str]) -> str:
    """The code of a tuple whose items have this code."""
    return f"({''.join(f'{item}, ' for item in items)})"


def below(plan: MatchProgram, node: int) -> list[int]:
    """A pattern node and all that is below it."""
    return list(reachable([node], lambda k: plan.rule.nodes[k].below))
