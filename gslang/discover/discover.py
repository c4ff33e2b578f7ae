"""Rules over given operators: terms are enumerated, equations become candidates, candidates get conditions
and verdicts, and what others imply goes.

The order of the work is fixed, whatever `jobs` is: candidates are judged in processes, family by family, and
kept or dropped one after another, smallest first. A state file holds what was enumerated and judged, for the
next run with the same question.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from gslang.api import load, parse_rules
from gslang.base.atomic_write import write_text
from gslang.base.cache import digest
from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.resources import stdlib_path
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect, require_inference
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import Type
from gslang.discover.conditions import build
from gslang.discover.enumerate import (
    Equation,
    Found,
    Tree,
    add_call,
    enumerate_terms,
    fingerprint,
    input_value,
)
from gslang.discover.equations import Candidate, candidates
from gslang.discover.formers import SIZES, Asked, Former, formers_of, read_operators, shape_of, types_at
from gslang.discover.implied import Settings as ImpliedSettings
from gslang.discover.implied import derive, implied
from gslang.discover.judge import Judged, family, judge, named
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from gslang.search.cost.graph_cost import graph_cost
from gslang.search.cost.tables import CostTable
from gslang.search.cost.work import UnknownCost
from gslang.verify.verdict import own_code

_PRUNING = ImpliedSettings(instances=3, nodes=600, rounds=5)
# families judged before what they gave is held against the next ones; whatever `jobs` is, so that the result
# is the same
_AT_ONCE = 8
_FAMILIES: tuple[tuple[tuple[str | int, ...], ...], ...] = (
    (("n", "m"),), (("n", "n"),), (("n", "m"), ("m",)), (("b", "n", "m"),), (("b", "n", "n"),),
    (("b", "c", "h", "w"), ("c", "c", 3, 3)),
)
"""Shapes of inputs, tried in this order for an operator."""


@dataclass(frozen=True, slots=True)
class Question:
    """`files`: rule files that declare operators, and whose rules are known already. `inputs`: shapes of
    variables, chosen by the operators if there are none. `variables`: of each shape that is chosen.
    `constants`: numbers that terms may hold.
    """

    dialect: str
    operators: str
    files: tuple[str, ...] = ()
    size: int = 2
    variables: int = 3
    inputs: str = ""
    constants: tuple[float, ...] = ()
    require: str = "exact"


@dataclass(slots=True)
class Discovery:
    """`rules`: kept, smallest first. `counts`: per size, terms looked at, computed and kept. `equations`,
    `candidates`: how many there were; `refused`: those for which no conditions were found; `followed`: those
    that others imply, by name.
    """

    rules: list[Judged] = field(default_factory=list)
    counts: list[tuple[int, int, int]] = field(default_factory=list)
    equations: int = 0
    candidates: int = 0
    refused: list[Candidate] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with all that follows from it at once."""

    question: Question
    dialect: Dialect
    formers: tuple[Former, ...]
    inputs: tuple[tuple[Type, ...], ...]
    prelude: str
    sources: tuple[str, ...] = ()
    """The files that declare operators, which `prelude` imports."""


# ── the question ────────────────────────────────────────────────────────────────────────────────────────────


@cache
def plan_of(question: Question) -> Plan:
    """Raises `InputError` for operators that there are not, or that take no input that could be made."""
    dialect = load_dialect(question.dialect)
    known: list[Signature] = []
    prelude = f"dialect {question.dialect};\n"
    for file in question.files:
        rules = load(file)
        known += [s for s in rules.dialect.added if s.name not in {k.name for k in known}]
        dialect = _merged(dialect, rules.dialect)
    sources = tuple(dict.fromkeys(s.declared_at.source.name for s in known if s.declared_at is not None))
    prelude += "".join(f"use {used(source, None)};\n" for source in sources)
    require_inference(dialect)
    asked = (
        read_operators(question.operators, dialect) if question.operators else [Asked(s.name) for s in known]
    )
    if not asked:
        raise InputError("there is no operator to combine", path="--ops", help="name some: --ops add,nn.relu")
    shapes = read_shapes(question.inputs) if question.inputs else _shapes(asked, dialect, question.variables)
    inputs = tuple(types_at(shape) for shape in shapes)
    first = list(dict.fromkeys(shape_of(t[0]) for t in inputs))
    formers = [
        former
        for one in asked
        for former in _distinct(formers_of(one, dialect, first), dialect, inputs, bool(one.settled))
    ]
    formers += [Former("", 0, constant=value) for value in question.constants]
    idle = [one.op for one in asked if not any(former.op == one.op for former in formers)]
    if idle:
        raise InputError(
            f"`{idle[0]}` takes none of the inputs", path="--ops",
            help="say which inputs there are: --inputs '[n, m], [n, m]'",
        )
    return Plan(question, dialect, tuple(formers), inputs, prelude, sources)


def used(source: str, folder: Path | None) -> str:
    """The import of a file that declares operators: a shipped module by name, another by its path, relative
    to a folder if one is given."""
    path, shipped = Path(source).resolve(), stdlib_path().resolve()
    if path.is_relative_to(shipped):
        return ".".join(("std", *path.relative_to(shipped).with_suffix("").parts))
    if folder is None:
        return f'"{path}"'
    relative = os.path.relpath(path, folder.resolve()).replace(os.sep, "/")
    return f'"{relative}"' if relative.startswith(".") else f'"./{relative}"'


def _merged(a: Dialect, b: Dialect) -> Dialect:
    if a.name != b.name:
        raise InputError(
            f"its rules are of dialect {b.name}, not {a.name}", path="FILES", help=f"give --dialect {b.name}"
        )
    missing = [s for s in b.added if s.name not in a.operators]
    made = a.with_operators(missing)
    return replace(made, infer={**b.infer, **made.infer})


def read_shapes(text: str) -> list[tuple[str | int, ...]]:
    """Shapes like `[n, m], [n, m], [m]`. Raises `InputError`."""
    found: list[tuple[str | int, ...]] = []
    for part in text.replace("]", "]\n").splitlines():
        inner = part.strip().lstrip(",").strip()
        if not inner:
            continue
        if not (inner.startswith("[") and inner.endswith("]")):
            raise InputError(f"`{inner}` is not a shape", path="--inputs", help="write [n, m], [m]")
        dims = [d.strip() for d in inner[1:-1].split(",") if d.strip()]
        for d in dims:
            if not (d.isdigit() and 0 < int(d) < 64 or d in SIZES[0]):
                raise InputError(
                    f"`{d}` is not a size", path="--inputs",
                    help=f"write a number from 1 to 63, or one of {', '.join(SIZES[0])}",
                )
        found.append(tuple(int(d) if d.isdigit() else d for d in dims))
    if not found:
        raise InputError("there is no shape in it", path="--inputs", help="write [n, m], [n, m]")
    return found


def _shapes(asked: Sequence[Asked], dialect: Dialect, variables: int) -> list[tuple[str | int, ...]]:
    """The shapes that the operators ask for: of the first family that each of them accepts; square matrices
    do where matrices do.
    """
    chosen: list[tuple[tuple[str | int, ...], ...]] = []
    for one in asked:
        # as it is written without attributes, if that can be
        ways = ((shapes, plain) for plain in (True, False) for shapes in _FAMILIES)
        fitting = next((shapes for shapes, plain in ways if _accepts(one, dialect, shapes, plain)), None)
        if fitting is not None and fitting not in chosen:
            chosen.append(fitting)
    if not chosen:
        raise InputError(
            f"`{asked[0].op}` takes none of the usual inputs", path="--ops",
            help="say which inputs there are: --inputs '[n, m], [m]'",
        )
    if (("n", "n"),) in chosen and (("n", "m"),) in chosen:
        chosen.remove((("n", "m"),))
    found: dict[tuple[str | int, ...], int] = {}
    for shapes in chosen:
        for k, shape in enumerate(shapes):
            found[shape] = max(
                found.get(shape, 0), variables if k == 0 or shape[-1] == 3 else min(variables, 2)
            )
    return [shape for shape, times in found.items() for _ in range(times)]


def _accepts(one: Asked, dialect: Dialect, shapes: Sequence[tuple[str | int, ...]], plain: bool) -> bool:
    inputs = [types_at(shape) for shape in shapes]
    first = [shape_of(t[0]) for t in inputs]
    formers = formers_of(one, dialect, first)
    return any(_fits(former, dialect, inputs) for former in (formers[:1] if plain else formers))


def _fits(former: Former, dialect: Dialect, inputs: Sequence[tuple[Type, ...]]) -> bool:
    return any(True for _ in _values(former, dialect, inputs))


def _values(
    former: Former, dialect: Dialect, inputs: Sequence[tuple[Type, ...]]
) -> Iterator[tuple[tuple[int, ...], bytes]]:
    """The inputs of a former, and the function that computes it."""
    for chosen in product(range(len(inputs)), repeat=former.arity):
        values = []
        for at, sizes in enumerate(SIZES):
            graph = Graph(dialect.name)
            nodes = [graph.add_input(f"x{k}", inputs[number][at]) for k, number in enumerate(chosen)]
            node = add_call(graph, dialect, former, nodes, former.attributes(sizes))
            if node is None:
                break
            graph.set_outputs([node])
            try:
                values.append(
                    evaluate(
                        graph, dialect,
                        {f"x{k}": input_value(k, at, inputs[n][at]) for k, n in enumerate(chosen)},
                    )[0]
                )
            except EvaluationError:
                break
        else:
            yield chosen, fingerprint(values)


def _distinct(
    formers: Sequence[Former], dialect: Dialect, inputs: Sequence[tuple[Type, ...]], settled: bool
) -> list[Former]:
    """Formers that take some inputs; of those that compute the same of all of them one, unless the user named
    them.
    """
    different = list(dict.fromkeys(inputs))
    found: dict[Any, Former] = {}
    for former in formers:
        values = tuple(_values(former, dialect, different))
        if values or settled:  # what the user settled may be meant for results of other operators
            found.setdefault((values, former) if settled else values, former)
    return list(found.values())


# ── the work ────────────────────────────────────────────────────────────────────────────────────────────────


def discover(
    question: Question,
    table: CostTable,
    jobs: int = 1,
    state: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
    pool: Callable[[int], AbstractContextManager[Any]] | None = None,
) -> Discovery:
    """The rules.

    `tell` gets a line now and then; `pool`: number of jobs → an executor. Raises `InputError`.
    """
    plan = plan_of(question)
    kept = _State(state, question)
    result = Discovery()
    equations = _equations(plan, kept, result, tell)
    result.equations = len(equations)
    found = candidates(equations, plan.formers, plan.inputs, lambda tree: cost_of(tree, plan, table))
    result.candidates = len(found)
    groups: dict[str, list[Candidate]] = {}
    for candidate in found:
        groups.setdefault(family(candidate, plan.formers, plan.dialect), []).append(candidate)
    tell(f"{len(equations)} equations, {len(found)} candidates in {len(groups)} families")
    families = [tuple(group) for group in groups.values()]
    known = [rule for file in question.files for rule in load(file).known.values()]
    names: dict[str, int] = {}
    by: list[CheckedRule] = list(known)
    with pool(jobs) if pool is not None and jobs > 1 else nullcontext(None) as executor:
        for first in range(0, len(families), _AT_ONCE):
            tasks = []
            for group in families[first : first + _AT_ONCE]:
                new = tuple(c for c in group if not _follows(c, plan, by))
                result.followed += [named(c, plan.formers) for c in group if c not in new]
                tasks += [(question, new)] if new else []
            for answers in _judged(tasks, kept, executor):
                for candidate, answer in answers:
                    if answer is None:
                        result.refused.append(candidate)
                    else:
                        _keep(answer, plan, by, names, result)
            tell(
                f"{min(first + _AT_ONCE, len(families))} of {len(families)} families judged, "
                f"{len(result.rules)} rules"
            )
    return result


def _follows(candidate: Candidate, plan: Plan, by: Sequence[CheckedRule]) -> bool:
    """True if rules that are kept derive a candidate at the sizes that it was found with: then it needs no
    conditions of its own."""
    if not by:
        return False
    before, after = (_graph_of(tree, candidate.types, plan) for tree in (candidate.source, candidate.target))
    return (
        before is not None and after is not None
        and not isinstance(derive(before, after, plan.dialect, by, _PRUNING), str)
    )


def _graph_of(tree: Tree, inputs: Sequence[Sequence[Type]], plan: Plan) -> Graph | None:
    """A term at the first sizes, over inputs of these types (at each choice of sizes); None where it does not
    type-check.
    """
    graph = Graph(plan.dialect.name)
    nodes = [graph.add_input(f"x{k}", types[0]) for k, types in enumerate(inputs)]
    node = build(graph, tree, nodes, plan.formers, plan.dialect, SIZES[0])
    if node is None:
        return None
    graph.set_outputs([node])
    return graph


def _equations(plan: Plan, kept: _State, result: Discovery, tell: Callable[[str], None]) -> list[Equation]:
    known = kept.data.get("equations")
    if known is not None:
        result.counts = [tuple(item) for item in kept.data["counts"]]  # type: ignore[misc]
        tell(f"{len(known)} equations from {kept.path}")
        return [Equation(_tree(left), _tree(right)) for left, right in known]

    def done(size: int, found: Found) -> None:
        looked, computed, new = found.counts[-1]
        tell(f"size {size}: {looked} terms, {computed} computed, {new} new, {len(found.equations)} equations")

    found = enumerate_terms(plan.formers, plan.inputs, plan.dialect, plan.question.size, (), done)
    result.counts = found.counts
    kept.data.update(equations=[[e.left, e.right] for e in found.equations], counts=found.counts)
    kept.save()
    return found.equations


def _judged(
    tasks: Sequence[tuple[Question, tuple[Candidate, ...]]], kept: _State, executor: Any
) -> Iterator[list[tuple[Candidate, Judged | None]]]:
    """The answers for each family, in order; those of an earlier run first of all."""
    waiting = [task for task in tasks if not kept.knows(task[1])]
    answers = iter(
        executor.map(judge_family, waiting) if executor is not None else map(judge_family, waiting)
    )
    for task in tasks:
        if not kept.knows(task[1]):
            kept.note(task[1], next(answers))
        yield kept.answers(task[1])


def judge_family(task: tuple[Question, tuple[Candidate, ...]]) -> list[Judged | None]:
    """An answer for each candidate of a family; None also for those that an earlier one's rule covers, being
    open about what they differ in.
    """
    question, group = task
    plan = plan_of(question)
    answers: list[Judged | None] = []
    texts: set[str] = set()
    for candidate in group:
        answer = judge(
            candidate, named(candidate, plan.formers), plan.prelude, plan.formers, plan.dialect,
            question.require,
        )
        if answer is not None and answer.text in texts:
            answer = None
        answers.append(answer)
        if answer is not None:
            texts.add(answer.text)
            if not answer.conditions:
                break
    return answers + [None] * (len(group) - len(answers))


def _keep(
    answer: Judged, plan: Plan, by: list[CheckedRule], names: dict[str, int], result: Discovery
) -> None:
    """Add a rule, unless those before it imply it; `by` gets it in both directions, where the other one is a
    rule.
    """
    number = names.get(answer.name, 0) + 1
    own = answer.name if number == 1 else f"{answer.name}_{number}"
    answer = replace(answer, name=own, text=answer.text.replace(f"rule {answer.name}(", f"rule {own}(", 1))
    rule = parse_rules(plan.prelude + answer.text, "<discovered>").known[own]
    if by and implied(rule, by, _PRUNING).implied:
        result.followed.append(own)
        return
    names[answer.name.rpartition("_")[0] if number > 1 else own] = number
    result.rules.append(answer)
    by.append(rule)


def cost_of(tree: Tree, plan: Plan, table: CostTable) -> float | None:
    """The cost of a term at the first sizes; None if one of its operators has no cost."""
    graph = _graph_of(tree, plan.inputs, plan)
    if graph is None:
        return None
    try:
        return graph_cost(graph, plan.dialect, table).cost
    except UnknownCost:
        return None


# ── the state ───────────────────────────────────────────────────────────────────────────────────────────────


class _State:
    """The results of an earlier run with the same question. A file of another question is an error: it would
    be overwritten."""

    def __init__(self, path: str | None, question: Question) -> None:
        self.path = path
        texts = [
            Path(file).read_text(encoding="utf-8", errors="replace") if Path(file).is_file() else ""
            for file in question.files
        ]
        key = digest([repr(question), own_code(), *texts])
        self.data: dict[str, Any] = {"question": key, "judged": {}}
        if path is None or not Path(path).exists():
            return
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            fits = data["question"] == key and isinstance(data["judged"], dict)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise InputError(
                "this is not a state of `gslc discover`", path=path,
                help="give another file, or remove this one",
            ) from None
        if not fits:
            raise InputError(
                "this is the state of another question, or of another gslang", path=path,
                help="give another file, or remove this one",
            )
        self.data = data

    def save(self) -> None:
        if self.path is not None:
            write_text(self.path, json.dumps(self.data) + "\n")

    def knows(self, group: Sequence[Candidate]) -> bool:
        return _key(group) in self.data["judged"]

    def note(self, group: Sequence[Candidate], answers: Sequence[Judged | None]) -> None:
        self.data["judged"][_key(group)] = [
            None if a is None else {**asdict(a), "candidate": None} for a in answers
        ]
        self.save()

    def answers(self, group: Sequence[Candidate]) -> list[tuple[Candidate, Judged | None]]:
        made = []
        try:
            for candidate, data in zip(group, self.data["judged"][_key(group)], strict=True):
                values = (
                    {**data, "candidate": candidate, "conditions": tuple(data["conditions"])}
                    if data is not None
                    else None
                )
                made.append((candidate, None if values is None else Judged(**values)))
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "this is not a state of `gslc discover`", path=str(self.path),
                help="give another file, or remove this one",
            ) from None
        return made


def _key(group: Sequence[Candidate]) -> str:
    return digest([repr((c.source, c.target, c.types)) for c in group])


def _tree(data: Any) -> Tree:
    return data if isinstance(data, int) else (data[0], *[_tree(item) for item in data[1:]])
