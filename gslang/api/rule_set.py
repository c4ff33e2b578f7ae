"""The rules of a file, a folder or a shipped module together: apply, search, replay a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING

from gslang.api.errors import UnknownNameError
from gslang.api.folding import folder
from gslang.api.models import Model, graph_of, has_bodies
from gslang.api.observers import Watch, observer_of
from gslang.api.result import Result
from gslang.api.rule import Rule
from gslang.base.diagnostics import Diagnostic
from gslang.base.quick_dataclass import dataclass
from gslang.base.recursion import deep_walks
from gslang.check.checked import CheckedPass, CheckedProgram, CheckedRule, Step, called, families
from gslang.check.limits import counted_work
from gslang.dialect.dialect import Dialect
from gslang.engine.fixed_point import Limits, Observer, Progress, StopReason
from gslang.engine.meaning import infer_by_meaning
from gslang.engine.options import Options
from gslang.engine.passes import Plan, run_steps
from gslang.graph.graph import Graph
from gslang.graph.known_calls import operands_to_attributes, prepared_copy

if TYPE_CHECKING:
    from gslang.engine.replay import Places, TraceEntry
    from gslang.formats.onnx.inner_runs import BodyCount
    from gslang.search.cost.tables import CostTable
    from gslang.search.search import Found


@dataclass(frozen=True)
class RuleSet:
    """The rules of a file, a folder or a shipped module."""

    programs: tuple[CheckedProgram, ...]

    def __repr__(self) -> str:
        passes = f", passes {', '.join(self.passes)}" if self.passes else ""
        return f"<RuleSet: {len(self)} rule{'s' * (len(self) != 1)}, dialect {self.dialect.name}{passes}>"

    def _repr_html_(self) -> str:
        from gslang.notebook import rules_html

        return rules_html(repr(self)[1:-1], [rule.rule for rule in self])

    @cached_property
    def dialect(self) -> Dialect:
        """The dialect with the operators that any of the files declares."""
        first, *others = (program.dialect for program in self.programs)
        more = {s.name: s for dialect in others for s in dialect.added if s.name not in first.operators}
        return infer_by_meaning(first.with_operators(more.values())) if more else first

    @cached_property
    def own(self) -> dict[str, CheckedRule]:
        """Rules that run without a pass, in order."""
        return {name: program.rules[name] for program in self.programs for name in program.own_rules}

    @cached_property
    def known(self) -> dict[str, CheckedRule]:
        """Imported ones too."""
        return {name: rule for program in self.programs for name, rule in program.rules.items()}

    @property
    def parameters(self) -> dict[str, object]:
        """The values of the files' parameters (`param` items)."""
        return {name: value for program in self.programs for name, value in program.parameters.items()}

    @property
    def passes(self) -> dict[str, CheckedPass]:
        return {name: found for program in self.programs for name, found in program.passes.items()}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        unique = {(d.order, d.help): d for program in self.programs for d in program.diagnostics}
        return tuple(sorted(unique.values(), key=lambda d: d.order))

    def __getitem__(self, name: str) -> Rule:
        if name not in self.known:
            raise UnknownNameError("rule", name, self.known)
        return Rule(self.known[name])

    def __iter__(self) -> Iterator[Rule]:
        return (Rule(rule) for rule in self.own.values())

    def __len__(self) -> int:
        return len(self.own)

    def steps(
        self, pass_name: str | None, rules: Sequence[str] | None, skip: Sequence[str] = ()
    ) -> tuple[Step, ...]:
        """The steps to run: a pass, or all own rules together. Raises `UnknownNameError`."""
        known = self.known
        for name in (*(rules or ()), *skip):
            if not called(known, name):
                raise UnknownNameError("rule", name, [*known, *families(known)])
        rules = None if rules is None else [rule for name in rules for rule in called(known, name)]
        skip = [rule for name in skip for rule in called(known, name)]
        if pass_name is not None and pass_name not in self.passes:
            raise UnknownNameError("pass", pass_name, self.passes)
        if pass_name is None:
            chosen = tuple(self.own) if rules is None else tuple(rules)
            return (Step(tuple(name for name in chosen if name not in skip)),)
        return tuple(
            _without(step, set(skip), None if rules is None else set(rules))
            for step in self.passes[pass_name].steps
        )

    @deep_walks()
    def apply(
        self,
        model: Model,
        options: Options | None = None, *,
        watch: Watch | None = None,
        progress: Progress | None = None,
        **changes: object,
    ) -> Result:
        """Rewrite a copy of a model to a fixed point.

        `model`: a `Graph`, a file's name, or a `ModelProto`. `options`: see `Options`; its fields may also be
        given by name, as in `apply(model, pass_name="inference")`. `watch` observes the run; `progress` may
        be read while it runs.

        Raises `UnknownNameError` (a `KeyError`) for an unknown rule or pass, `TypeError` for an unknown
        option, `ValueError` for a number below its minimum, `InputError` for a file that cannot be read.
        """
        began = perf_counter()
        chosen = (options or Options()).with_changes(changes)
        graph = self.graph_of(model)
        after = prepared_copy(graph, self.dialect)
        steps = self.steps(chosen.pass_name, chosen.rules, chosen.skip)
        if chosen.fold:
            steps = (*steps, Step((), "fold"))
        plan = Plan(steps, self.known)
        limits = Limits(chosen.limit, 1 if chosen.once else chosen.sweeps, chosen.stop_after)
        folding = folder(self.dialect)(chosen.fold_limit)

        def run(
            part: Graph, limits: Limits, observe: Observer | None, progress: Progress | None = None
        ) -> Progress:
            return run_steps(
                part, self.dialect, plan, folding, limits, progress, observe, chosen.fold_limit
            )

        def observer(path: str, part: Graph, before: int) -> Observer | None:
            return observer_of(path, part, watch, chosen.provenance, before)

        observe = observer("", after, 0)
        bodies: dict[str, BodyCount] = {}
        with counted_work(len(after)):
            progress = run(after, limits, observe, progress)
            if chosen.subgraphs and has_bodies(after):
                from gslang.formats.onnx.inner_runs import run_inside

                changed, bodies = run_inside(after, self.dialect, run, limits, progress, observer)
                if changed:  # the graph may read less than before
                    run(after, limits, observe, progress)
        operands_to_attributes(after, self.dialect)
        seconds = perf_counter() - began
        if progress.stop_reason is StopReason.APPLICATION_LIMIT and chosen.limit is None and progress.recent:
            from gslang.engine.loops import loop_of

            together = next(names for names in map(_rules_of, steps) if progress.recent[-1] in names)
            progress.loop = loop_of(after, [self.known[name] for name in together], progress.made_by)
        return Result(after, progress, graph, {"rewrite": seconds}, bodies=bodies)

    def graph_of(self, model: Model) -> Graph:
        """A graph as it is, or that of a file or of a `ModelProto`, with the operators that the rules
        declare. Raises `InputError`.
        """
        return graph_of(model, self.dialect)

    @deep_walks()
    def search(
        self,
        model: Model, *,
        cost: str | CostTable = "flops",
        method: str = "eqsat",
        require: str = "exact",
        rules: Sequence[str] | None = None,
        skip: Sequence[str] = (),
        weights: str | None = None,
        nodes: int = 10_000,
        rounds: int = 15,
        multi: int = 1,
        alpha: float = 1.05,
        budget: int = 100,
        sizes: Mapping[str, int] | None = None,
        traced: bool = False,
    ) -> Found:
        """The cheapest graph found that the rules lead to, never dearer than `model` (docs/search.md;
        `search.search.Found`).

        `cost`: the name of a table, a file, or a table. Rules whose verdict is below `require` are left out.
        `sizes`: of symbolic dimensions, which the result has too. `traced`: the result's `trace.entries` can
        be given to `replay`. Raises `UnknownNameError` for an unknown rule, `UnknownCost` if a call has no
        cost, `InputError` for a table that cannot be read, `ValueError`.
        """
        from gslang.search.accept import accepting
        from gslang.search.cost.tables import table_of
        from gslang.search.saturate import Limits as SearchLimits
        from gslang.search.search import METHODS, Settings, search

        if method not in METHODS:
            raise ValueError(f"`method` is one of {', '.join(METHODS)}, not {method!r}")
        (step,) = self.steps(None, rules, skip)
        settings = Settings(method, SearchLimits(nodes, rounds, multi), alpha, budget, weights)
        table = table_of(cost) if isinstance(cost, str) else cost
        return search(
            self.graph_of(model), self.dialect, [self.known[name] for name in step.rules], table, settings,
            accept=accepting(self.programs, require), sizes=sizes, traced=traced,
        )

    @deep_walks()
    def replay(
        self,
        graph: Graph,
        entries: Iterable[TraceEntry],
        watch: Watch | None = None,
        provenance: bool = False,
    ) -> Result:
        """Apply a trace (`engine.replay`, `search.trace`) to a copy of `graph`.

        Raises `ReplayError` where it does not fit.
        """
        from gslang.engine.replay import ReplayError, places_of, replay
        from gslang.formats.onnx.inner_runs import Entries, replay_inside

        began = perf_counter()
        after, progress, rest, fold = (
            prepared_copy(graph, self.dialect), Progress(), Entries(entries), folder(self.dialect),
        )
        if (first := rest.next) is not None and first.step == "search":
            rest.skip()
            after = self._sized(after, first.said.get("sizes"))
            if first.said["method"] == "eqsat":
                if watch is not None or provenance:
                    raise ReplayError(
                        first.line, "applications to an e-graph change no graph, so there is nothing to note"
                    )
                after = self._chosen(after, rest.of(""), progress)

        def redo(path: str, part: Graph, observe: Observer | None, places: Places | None = None) -> None:
            replay(part, self.dialect, self.known, rest.of(path), fold, progress, observe, places)

        observe, places = observer_of("", after, watch, provenance, 0), places_of(after)
        redo("", after, observe, places)
        if rest.next is not None and has_bodies(after):
            replay_inside(
                after, self.dialect, rest,
                lambda path, inner: redo(path, inner, observer_of(path, inner, watch, provenance, 0)),
            )
            redo("", after, observe, places)
        if rest.next is not None:
            raise ReplayError(rest.next.line, f"unknown body `{rest.next.body}`")
        operands_to_attributes(after, self.dialect)
        return Result(after, progress, graph, {"rewrite": perf_counter() - began})


    def _sized(self, graph: Graph, sizes: Mapping[str, int] | None) -> Graph:
        """The graph with these sizes of symbolic dimensions, if a search was given some."""
        from gslang.search.cost.graph_cost import with_sizes

        return graph if sizes is None else with_sizes(graph, self.dialect, sizes)

    def _chosen(self, graph: Graph, entries: Iterable[TraceEntry], progress: Progress) -> Graph:
        """The graph that a search by equality saturation has chosen."""
        from gslang.engine.fixed_point import RuleCount
        from gslang.search.trace import replay_choice

        result, applied = replay_choice(graph, self.dialect, self.known, entries)
        for name, times in Counter(applied).items():
            progress.counts[name] = RuleCount(times, times, times)
        progress.applications = len(applied)
        return result


def _without(step: Step, skip: set[str], only: set[str] | None) -> Step:
    rules = tuple(name for name in step.rules if name not in skip and (only is None or name in only))
    return Step(rules, step.builtin, tuple(_without(inner, skip, only) for inner in step.nested))


def _rules_of(step: Step) -> list[str]:
    """All rules of a step, nested ones too, each once."""
    return list(dict.fromkeys([*step.rules, *(name for inner in step.nested for name in _rules_of(inner))]))


