"""The public interface: load rules, read a graph, apply, look at matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from os import PathLike
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Union

from gslang.base.diagnostics import Diagnostic
from gslang.base.quick_dataclass import dataclass
from gslang.base.shown_file import shown_file
from gslang.base.source import Source
from gslang.base.suggest import did_you_mean
from gslang.check.checked import CheckedPass, CheckedProgram, CheckedRule, Step, called, families
from gslang.check.modules import load_module
from gslang.check.opsets import why_unfit
from gslang.dialect.dialect import Dialect
from gslang.engine.conditions import bound_slots, output_slots
from gslang.engine.externs import with_externs
from gslang.engine.fixed_point import Limits, Observer, Progress, StopReason, limit_message
from gslang.engine.lower import program_of
from gslang.engine.machine import matches as find_matches
from gslang.engine.meaning import infer_by_meaning, with_meanings
from gslang.engine.options import Options
from gslang.engine.passes import run_steps
from gslang.engine.rewrite import Application, Failure, describe
from gslang.formats.registry import read_graph, write_graph
from gslang.graph.compare import count_calls
from gslang.graph.graph import CONST, Graph
from gslang.graph.known_calls import operands_to_attributes, prepared, prepared_copy

if TYPE_CHECKING:
    from onnx import ModelProto

    from gslang.engine.replay import Places, TraceEntry
    from gslang.engine.why_not import Miss
    from gslang.formats.onnx.inner_runs import BodyCount
    from gslang.search.cost.tables import CostTable
    from gslang.search.search import Found


Model = Union[Graph, str, "PathLike[str]", "ModelProto"]
"""A graph, the name of a graph file, or an ONNX model in memory."""

Watch = Callable[[str, Graph], Observer]
"""Asked, before a graph is changed, who is to be told what happens to it. The path is "" for the graph
itself; graphs inside of an ONNX model have paths like `y/then_branch` (a body of the node that makes `y`) and
`local.F()` (a function).
"""


def _picture(graph: Graph) -> str:
    from gslang.formats.picture import svg

    return svg(graph)


Graph.picture = _picture


class RuleError(Exception):
    """A rule file has errors. `diagnostics` has all findings; `str()` shows them with the source."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        from gslang.base.render import render_text

        self.diagnostics = tuple(diagnostics)
        super().__init__("\n" + render_text(self.diagnostics))


class UnknownNameError(KeyError):
    """There is no rule or pass of this name; `str()` says which is meant, or which there are."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(name)
        names = list(known)
        guess = did_you_mean(name, names)
        help = (
            f"did you mean `{guess}`?" if guess
            else f"known: {', '.join(names[:20]) or 'none'}{', …' if len(names) > 20 else ''}"
        )
        self.message = f"there is no {what} `{name}`; {help}"

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Match:
    """One match. `nodes`: user's name → id in the graph; `instances`: block → list of such tables."""

    rule: str
    outputs: tuple[str, ...]
    nodes: dict[str, str]
    instances: dict[str, list[dict[str, str]]]


@dataclass(frozen=True)
class Rule:
    """One rule of a set."""

    rule: CheckedRule

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def doc(self) -> str | None:
        return self.rule.doc

    def matches(self, model: Model) -> Iterator[Match]:
        """The matches of the rule, one for each first output; the graph is unchanged.

        Matches of the same nodes with the outputs in another order (a symmetric pattern seen from its other
        side) are one.
        """
        graph, plan = graph_of(model, self.rule.dialect), program_of(self.rule)
        starts, seen = set(plan.starts), set()
        # a model may have thousands of bodies
        if CONST not in starts and starts.isdisjoint(graph.op) or why_unfit(self.rule, graph.meta):
            return
        graph = prepared(graph, self.rule.dialect)
        for node in list(graph.ordered()):
            if graph.op[node] not in starts:
                continue
            for scope in find_matches(plan, graph, node):
                blocks = {block.name for block in self.rule.blocks}
                if (nodes := (
                    frozenset(output_slots(scope)), frozenset(slot for _, slot in bound_slots(scope)),
                )) in seen:
                    break
                seen.add(nodes)
                bound = describe(scope, graph.label)
                yield Match(
                    self.name,
                    tuple(graph.label(n) for n in output_slots(scope)),
                    {name: where for name, where in bound.items() if name not in blocks},
                    {name: where for name, where in bound.items() if name in blocks},
                )
                break

    def why_not(self, model: Model, node: int | None = None, limit: int = 5) -> list[Miss]:
        """The nearest misses, best first (`engine.why_not`); of matches that `node` would take part in, if
        one is given.
        """
        from gslang.engine.why_not import why_not

        return why_not(
            program_of(self.rule), prepared(graph_of(model, self.rule.dialect), self.rule.dialect), node,
            limit,
        )

    @property
    def text(self) -> str:
        """The rule as its author wrote it, with documentation and annotations."""
        from gslang.syntax.item_texts import rule_text

        return rule_text(self.rule.span.source, self.name)

    def svg(self) -> str:
        """The rule as a picture: source and target as two small graphs."""
        from gslang.formats.rule_picture import rule_svg

        return rule_svg(self.rule)

    def __repr__(self) -> str:
        return (
            f"<Rule {self.name}, {shown_file(self.rule.span.source.name)} line "
            f"{self.rule.span.line_column[0]}>"
        )

    def _repr_html_(self) -> str:
        from gslang.notebook import rule_html

        return rule_html(self.rule)


@dataclass
class Result:
    """The result of a run. `graph` is the rewritten copy; `applications` counts; `failures` are applications
    that were undone.

    `bodies`: what happened inside of an ONNX model, by path (see `Watch`); `applications` are those of the
    whole.
    """

    graph: Graph
    progress: Progress
    before: Graph
    seconds: dict[str, float] = field(default_factory=dict)
    numbers: dict[str, Any] | None = None
    latency: dict[str, Any] | None = None
    bodies: dict[str, BodyCount] = field(default_factory=dict)
    cost: dict[str, Any] | None = None

    @property
    def applications(self) -> int:
        return self.progress.applications

    @property
    def stop_reason(self) -> StopReason:
        return self.progress.stop_reason

    @property
    def failures(self) -> list[Failure]:
        return self.progress.failures

    @property
    def problem(self) -> str | None:
        """Why the run is not fine: rules that do not terminate."""
        return limit_message(self.progress) if self.stop_reason is StopReason.APPLICATION_LIMIT else None

    def __repr__(self) -> str:
        n, sweeps = self.applications, self.progress.sweeps
        how = (
            f"{n} application{'s' * (n != 1)}, {sweeps} sweep{'s' * (sweeps != 1)} ({self.stop_reason.value})"
        )
        return f"<Result: {how}; {len(self.before)} nodes before, {len(self.graph)} after>"

    def _repr_html_(self) -> str:
        from gslang.notebook import run_html

        return run_html(
            repr(self)[1:-1],
            self.before,
            self.graph,
            {name: c.applications for name, c in self.progress.counts.items()},
        )

    @property
    def model(self) -> Any:
        """The `ModelProto` of the result. Raises `InputError` if it is not an ONNX graph."""
        return to_onnx(self.graph)

    def save(self, path: str | Path) -> None:
        """Write the result, its format by suffix. Raises `InputError`."""
        write(self.graph, path)

    def report(self) -> dict[str, Any]:
        """Counts and times, in the shape of `--report` (docs/cli.md)."""
        return {
            "rules": {
                name: {
                    "applications": c.applications,
                    "matches": c.matches,
                    "candidates": c.candidates,
                    "seconds": round(c.seconds, 6),
                }
                for name, c in self.progress.counts.items()
            },
            "never_fired": [name for name, c in self.progress.counts.items() if not c.applications],
            "skipped": dict(self.progress.skipped),
            "refused": dict(self.graph.meta.get("refused", {})),
            "applications": self.applications,
            "sweeps": self.progress.sweeps,
            "stop_reason": self.stop_reason.value,
            "nodes": {"before": len(self.before), "after": len(self.graph)},
            "calls": {"before": count_calls(self.before), "after": count_calls(self.graph)},
            "bodies": {
                path: {
                    "applications": body.applications,
                    "calls": {"before": dict(body.before), "after": dict(body.after)},
                }
                for path, body in self.bodies.items()
            },
            "seconds": {name: round(value, 6) for name, value in self.seconds.items()},
            "numbers": self.numbers or {"checked": False},
            "latency": self.latency or {"measured": False},
            "cost": self.cost or {"computed": False},
        }


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

    @property
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
        limits = Limits(chosen.limit, 1 if chosen.once else chosen.sweeps, chosen.stop_after)
        folding = folder(self.dialect)(chosen.fold_limit)

        def run(
            part: Graph, limits: Limits, observe: Observer | None, progress: Progress | None = None
        ) -> Progress:
            return run_steps(
                part, self.dialect, steps, self.known, folding, limits, progress, observe, chosen.fold_limit
            )

        def observer(path: str, part: Graph, before: int) -> Observer | None:
            return _observer(path, part, watch, chosen.provenance, before)

        observe = observer("", after, 0)
        progress = run(after, limits, observe, progress)
        bodies: dict[str, BodyCount] = {}
        if chosen.subgraphs and _has_insides(after):
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
    ) -> Found:
        """The cheapest graph found that the rules lead to, never dearer than `model` (docs/search.md;
        `search.search.Found`).

        `cost`: the name of a table, a file, or a table. Rules whose verdict is below `require` are left out.
        Raises `UnknownNameError` for a unknown rule, `UnknownCost` if a call has no cost, `InputError` for a
        table that cannot be read, `ValueError`.
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
            accept=accepting(self.programs, require),
        )

    def replay(
        self,
        graph: Graph,
        entries: Iterable[TraceEntry],
        watch: Watch | None = None,
        provenance: bool = False,
    ) -> Result:
        """Apply a trace (`engine.replay`) to a copy of `graph`.

        Raises `ReplayError` where it does not fit.
        """
        from gslang.engine.replay import ReplayError, places_of, replay
        from gslang.formats.onnx.inner_runs import Entries, replay_inside

        began = perf_counter()
        after, progress, rest, fold = (
            prepared_copy(graph, self.dialect), Progress(), Entries(entries), folder(self.dialect),
        )

        def redo(path: str, part: Graph, observe: Observer | None, places: Places | None = None) -> None:
            replay(part, self.dialect, self.known, rest.of(path), fold, progress, observe, places)

        observe, places = _observer("", after, watch, provenance, 0), places_of(after)
        redo("", after, observe, places)
        if rest.next is not None and _has_insides(after):
            replay_inside(
                after, self.dialect, rest,
                lambda path, inner: redo(path, inner, _observer(path, inner, watch, provenance, 0)),
            )
            redo("", after, observe, places)
        if rest.next is not None:
            raise ReplayError(rest.next.line, f"there is no body `{rest.next.body}` here")
        operands_to_attributes(after, self.dialect)
        return Result(after, progress, graph, {"rewrite": perf_counter() - began})


def _has_insides(graph: Graph) -> bool:
    if "onnx" not in graph.meta:
        return False
    from gslang.formats.onnx.bodies import has_insides

    return has_insides(graph)


def _observer(path: str, graph: Graph, watch: Watch | None, provenance: bool, before: int) -> Observer | None:
    """Who is told what happens to one graph of a model; `before`: applications elsewhere, which its own are
    counted on from.
    """
    watching = None if watch is None else watch(path, graph)
    told = _noting_origins(graph, watching) if provenance else watching
    if told is None or not before:
        return told
    return lambda number, what: told(before + number, what)


def _noting_origins(graph: Graph, also: Observer | None) -> Observer:
    """An observer that notes at each new node which application made it, from what."""
    from gslang.engine.replay import ids_of

    ids = ids_of(graph)

    def observe(number: int, what: Application | str) -> None:
        if not isinstance(what, str):
            origin = {
                "rule": what.rule,
                "application": number,
                "from": [ids(n) for n in what.removed] or [ids(n) for n in what.outputs],
            }
            for node in what.added:
                graph.extras.setdefault(node, {})["origin"] = origin
        if also is not None:
            also(number, what)

    return observe


def _without(step: Step, skip: set[str], only: set[str] | None) -> Step:
    rules = tuple(name for name in step.rules if name not in skip and (only is None or name in only))
    return Step(rules, step.builtin, tuple(_without(inner, skip, only) for inner in step.nested))


def _rules_of(step: Step) -> list[str]:
    """All rules of a step, nested ones too, each once."""
    return list(dict.fromkeys([*step.rules, *(name for inner in step.nested for name in _rules_of(inner))]))


def folder(dialect: Dialect) -> Callable[[int | None], Callable[[Graph], int]]:
    """For a limit in bytes what folds constants (`evaluate.fold`) and refines types, in passes; NumPy is
    loaded only if it runs.
    """
    refine: Callable[[Graph], int] | None = None

    def limited(limit: int | None) -> Callable[[Graph], int]:
        def fold(graph: Graph) -> int:
            nonlocal refine
            from gslang.evaluate.fold import fold as run
            from gslang.evaluate.known_types import refiner

            refine = refine or refiner(dialect)
            count = run(graph, dialect, limit_bytes=limit) + refine(graph)
            while any(op in ("If", "Loop") for op in graph.op) and _has_insides(graph):
                from gslang.formats.onnx.inline_bodies import inline_bodies

                inlined = inline_bodies(graph, dialect)
                if not inlined:
                    break
                count += inlined + run(graph, dialect, limit_bytes=limit) + refine(graph)
            return count

        return fold

    return limited


def load(
    name: str | Path, *, allow_extern: bool = False, defines: Mapping[str, object] = MappingProxyType({})
) -> RuleSet:
    """The rules of a `.gsl` file, a folder, or a shipped module (`std.relay`). Raises `RuleError`,
    `FileNotFoundError`.

    `allow_extern`: import the Python functions that `@extern` names; else rules that call one raise
    `InputError` when they are run. `defines`: values for parameters of the files (`param` items). Raises
    `InputError` for a function that cannot be imported, and `UnknownNameError` for a parameter that there is
    not.
    """
    programs = load_module(str(name), None, defines) if str(name) else []
    if not programs:
        raise FileNotFoundError(f"there is no .gsl file in `{name}`")
    return _ready(programs, allow_extern, defines)


def parse_rules(
    text: str,
    name: str = "<rules>", *,
    allow_extern: bool = False,
    defines: Mapping[str, object] = MappingProxyType({}),
) -> RuleSet:
    """The rules of a text. Raises `RuleError`, and the errors of `load`."""
    from gslang.check.check import check_module, check_source
    from gslang.check.imports import Importer

    return _ready(
        [check_source(Source(name, text), Importer(check_module, None, defines))], allow_extern, defines
    )


def _ready(programs: Sequence[CheckedProgram], allow_extern: bool, defines: Mapping[str, object]) -> RuleSet:
    """Checked programs as rules that can be run."""
    rules = RuleSet(tuple(programs))
    for name in defines:
        if name not in rules.parameters:
            raise UnknownNameError("parameter", name, rules.parameters)
    if any(not program.ok for program in programs):
        raise RuleError(rules.diagnostics)
    return RuleSet(tuple(with_externs(with_meanings(program), allow_extern) for program in programs))


def graph_of(model: Model, dialect: Dialect | None = None) -> Graph:
    """A graph as it is, or that of a file or of a `ModelProto`.

    Raises `InputError`, and `TypeError` for anything else.
    """
    if isinstance(model, Graph):
        return model
    if isinstance(model, (str, PathLike)):
        return read_graph(str(model), dialect=dialect)
    if hasattr(model, "opset_import") and hasattr(model, "graph"):
        from gslang.formats.onnx import read_onnx

        return read_onnx(model, dialect)
    raise TypeError(f"expected a Graph, a file name or an onnx.ModelProto, got {type(model).__name__}")


def read(
    path: str | Path, *,
    input_format: str | None = None,
    dialect: Dialect | None = None,
    function: str = "main",
    inline: bool = False,
    skip_unsupported: bool = False,
    params: str | Path | None = None,
    opset: int | None = None,
) -> Graph:
    """Read a graph file (see `formats.registry.read_graph`).

    `opset`: bring an ONNX model to this operator set. Raises `InputError`.
    """
    return read_graph(
        str(path), input_format=input_format, dialect=dialect, function=function, inline=inline,
        skip_unsupported=skip_unsupported, params=params, opset=opset,
    )


def write(graph: Graph, path: str | Path) -> None:
    """Write a graph file, its format by suffix. Raises `InputError`."""
    write_graph(graph, str(path))


def from_onnx(model: object, opset: int | None = None) -> Graph:
    """The graph of a `ModelProto` or of a model file (docs/onnx.md), brought to operator set `opset`.

    Raises `InputError`.
    """
    from gslang.dialect.load import load_dialect
    from gslang.formats.onnx import read_onnx
    from gslang.formats.onnx.upgrade import upgraded

    graph = read_onnx(model)
    return graph if opset is None else upgraded(graph, opset, load_dialect("onnx"))


def to_onnx(graph: Graph, path: str | Path | None = None, external: str = "keep") -> Any:
    """The `ModelProto` of a graph; with a `path` it is written there instead, `external` data kept, copied or
    inlined.
    """
    from gslang.formats.onnx import onnx_model, write_onnx

    return onnx_model(graph) if path is None else write_onnx(graph, path, external)
