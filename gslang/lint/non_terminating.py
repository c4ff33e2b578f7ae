"""L0203: rules that form an infinite loop. Loops are seen by running the rules of a file on small graphs."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.pattern_walk import is_run
from gslang.lint.rebuilt import rebuilds_itself
from gslang.lint.shown_graph import as_json, as_statements
from gslang.lint.small_run import by_start, run_small
from gslang.lint.witness import graphs_of
from gslang.syntax import nodes as n

_ROUNDS = 3  # a loop is one that is seen to go round this often


def non_terminating(file: LintedFile) -> Iterator[Finding]:
    """Loops of the rules of a file, which run together, and of those that a pass runs together, imported ones
    too.
    """
    reported: set[frozenset[str]] = set()
    for names, places in _groups(file):
        yield from _loops(file, names, places, reported)


def _groups(file: LintedFile) -> Iterator[tuple[tuple[str, ...], dict[str, Span]]]:
    """Names of rules that run together, and where to say so: at the file's own rules, or at the pass."""
    own = {rule.name: rule.written.name.span for rule in file.rules}
    yield tuple(own), own
    for item in file.written.items:
        if isinstance(item, n.PassDecl) and item.name.id in file.program.passes:
            steps = list(reversed(file.program.passes[item.name.id].steps))
            while steps:
                step = steps.pop()
                steps += reversed(step.nested)
                if step.rules and not set(step.rules) <= set(own):
                    yield step.rules, {name: own.get(name, item.name.span) for name in step.rules}


def _loops(
    file: LintedFile, names: tuple[str, ...], places: dict[str, Span], reported: set[frozenset[str]]
) -> Iterator[Finding]:
    """Loops among rules that run together.

    Rules that only shrink graphs end, so each loop has one that does not.
    """
    rules = [file.program.rules[name] for name in names if name in file.program.rules]
    index = by_start(rules)
    for rule in rules:
        if not is_run(rule) or _shrinks(rule):
            continue
        for graph in graphs_of(file, rule):
            run = run_small(graph.copy(), file.program.dialect, index, 30 + 3 * len(graph))
            loop = () if run.ended else _loop(run.applied)
            if (
                not loop or frozenset(loop) in reported or len(set(loop)) == 1
                and rebuilds_itself(file.program.rules[loop[0]])
            ):
                continue  # L0116 says the latter
            reported.add(frozenset(loop))
            shown = " → ".join((*loop, loop[0]))
            related = tuple(
                Label(places[name], "takes part")
                for name in dict.fromkeys(loop) if places[name] != places[loop[0]]
            )
            message, hint = (
                f"these rules form an infinite loop: {shown}",
                "constrain one source so that it does not match the other rule's target",
            )
            if len(set(loop)) == 1:
                message = f"`{loop[0]}` does not terminate: its target contains its source"
                hint = "exclude the target by a constraint of the source, or write `@once` above the rule"
            yield finding(
                "L0203",
                message,
                places[loop[0]],
                f"{hint}; example: {as_statements(graph)}",
                related=related,
                graph=as_json(graph),
            )


def _shrinks(rule: ir.CheckedRule) -> bool:
    """True if the target has fewer calls than go away with the source, whatever matched."""
    several = any(isinstance(t, (ir.Repeat, ir.SpliceInstances)) for t in rule.target.targets)
    gone = rule.calls.keys() & {*rule.interior, *rule.outputs}
    return not several and not rule.has_alternatives and len(rule.target.calls) < len(gone)


def _loop(applied: tuple[str, ...]) -> tuple[str, ...]:
    """The cycle that a run ends in, beginning with the rule that is named first."""
    for length in range(1, len(applied) // _ROUNDS + 1):
        last = applied[-length:]
        if last * _ROUNDS == applied[-length * _ROUNDS :]:
            start = min(range(length), key=lambda k: (last[k:] + last[:k]))
            return last[start:] + last[:start]
    return ()
