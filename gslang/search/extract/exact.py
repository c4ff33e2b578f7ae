"""Exact extraction by integer programming (HiGHS; `pip install 'gslang[search]'`).

A good solution is known first (`greedy`, `improve`). The linear relaxation then shows which e-nodes no better
solution can contain (reduced costs); without them more classes are forced, and the programme falls into small
independent parts. Cycles that a solution has are cut off and the parts concerned solved again. If that takes
too many rounds, e-nodes that contradict the order of the best known solution are left out, which rules out
every cycle; the bound stays that of the whole problem.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from importlib.util import find_spec
from time import process_time
from typing import Any, Final

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.search.extract.components import connected, cycles
from gslang.search.extract.greedy import cheapest_below, least_shares
from gslang.search.extract.improve import improve
from gslang.search.extract.model import Model, Row, cut, make_model
from gslang.search.extract.problem import Problem, Solution, needed, solution
from gslang.search.extract.reduce import Reduced, reduce_problem
from gslang.search.extract.split import in_parts

SECONDS: Final = 7.0  # of processor time, so that what else the machine does decides nothing
_SCALE: Final = 1000.0  # the best known cost in the solver's units: its tolerances are absolute
_ROUNDS: Final = 20  # of cutting off cycles
_WORTHWHILE: Final = 0.01  # of the gap that a round has to close, so that another follows


def require_solver() -> None:
    """Raises `InputError` if HiGHS is not installed."""
    if not solver_is_installed():
        raise InputError(
            "exact extraction needs HiGHS", help="pip install 'gslang[search]', or --method greedy"
        )


def solver_is_installed() -> bool:
    """True if HiGHS can be imported; it is not imported yet."""
    return find_spec("highspy") is not None


def exact(problem: Problem, seconds: float = SECONDS) -> Solution:
    """A cheapest solution, as far as `seconds` of processor time allow, and what none can cost less than.

    Raises `Infeasible` for a root without a finite solution, `InputError` if HiGHS is not installed.
    """
    require_solver()
    deadline = process_time() + seconds
    return in_parts(problem, lambda part: _exact(part, deadline))


def _exact(problem: Problem, deadline: float) -> Solution:
    start = cheapest_below(problem)  # raises if there is no solution
    reduced = reduce_problem(problem)
    if all(len(members) == 1 for members in reduced.nodes.values()):
        only = solution(problem, {of: members[0] for of, members in reduced.nodes.items()})
        return Solution(only.choice, only.cost, only.cost)
    best = improve(problem, start)
    if best.cost <= 0:
        return Solution(best.choice, best.cost, best.cost)
    reduced, bound = _fixed_by_costs(problem, reduced, best, deadline)
    model = make_model(problem, reduced)
    best, bound = _cut_cycles(problem, reduced, model, best, bound, deadline)
    if best.cost - bound > 1e-9 * best.cost and process_time() < deadline:
        best = _within_order(problem, best, deadline)
    return Solution(best.choice, best.cost, min(bound, best.cost))


def _fixed_by_costs(
    problem: Problem, reduced: Reduced, best: Solution, deadline: float
) -> tuple[Reduced, float]:
    """The problem without e-nodes whose reduced cost shows that they are in no better solution; a lower
    bound.
    """
    bound, apart = 0.0, False  # the rows against cycles are many at first
    while process_time() < deadline:
        model = make_model(problem, reduced, apart)
        relaxed = _solve(
            problem, model, range(len(model.nodes)), model.rows, _SCALE / best.cost, False, deadline
        )
        if relaxed is None:
            break
        bound = max(bound, relaxed.bound)
        slack = (best.cost - relaxed.bound) * _SCALE / best.cost + 1e-6
        chosen = set(best.choice.values())
        among = [node for node, dual in zip(model.nodes, relaxed.duals) if dual <= slack or node in chosen]
        if apart and len(among) > 0.95 * len(model.nodes):
            break
        reduced, apart = reduce_problem(problem, among), True
    return reduced, bound


def _cut_cycles(
    problem: Problem, reduced: Reduced, model: Model, best: Solution, bound: float, deadline: float
) -> tuple[Solution, float]:
    """The best solution after cutting off cycles until there are none, or rounds or time end."""
    solved: dict[tuple[int, ...], _Solved | None] = {}
    rows = list(model.rows)
    for _ in range(_ROUNDS):
        parts = connected(len(model.nodes), (row for row, _ in rows))
        part_of = {variable: k for k, part in enumerate(parts) for variable in part}
        rows_of: list[list[int]] = [[] for _ in parts]
        for number, (row, _) in enumerate(rows):
            rows_of[part_of[next(iter(row))]].append(number)
        now: list[_Solved] = []
        for part, numbers in zip(parts, rows_of):
            key = (part[0], *numbers)
            if key not in solved:
                solved[key] = _solve(
                    problem, model, part, [rows[k] for k in numbers], _SCALE / best.cost, True, deadline, best
                )
            result = solved[key]
            if result is None:
                return best, bound
            now.append(result)
        before, bound = bound, max(bound, sum(result.bound for result in now))
        choice = {problem.owner[n]: n for result in now for n in result.chosen}
        for of in reduced.nodes:
            choice.setdefault(of, best.choice.get(of, reduced.nodes[of][0]))
        found = cycles(problem, choice)
        if not found:
            return min(best, solution(problem, choice), key=lambda s: s.cost), bound
        if bound - before < _WORTHWHILE * (best.cost - bound):
            break
        rows += [cut(problem, reduced, model, cycle) for cycle in found]
    return best, bound


def _within_order(problem: Problem, best: Solution, deadline: float) -> Solution:
    """The cheapest solution among those in the order of the best known one, and as `least_shares` elsewhere.
    """
    everywhere = {**least_shares(problem), **best.choice}
    try:
        order = needed(problem, everywhere, everywhere)
    except ValueError:
        return best
    rank = {of: k for k, of in enumerate(order)}
    among = [
        node for node, of in enumerate(problem.owner)
        if of in rank and all(child in rank and rank[child] < rank[of] for child in problem.children[node])
    ]  # fmt: skip
    reduced = reduce_problem(problem, among)
    return _cut_cycles(problem, reduced, make_model(problem, reduced), best, 0.0, deadline)[0]


@dataclass(frozen=True, slots=True)
class _Solved:
    """`chosen`: e-nodes; `bound`: on the cost; `duals`: reduced costs in the solver's units (of a
    relaxation).
    """

    chosen: list[int]
    bound: float
    duals: list[float] = field(default_factory=list)


@contextmanager
def _silent_stdout() -> Iterator[None]:
    """Within, what is written to the process's standard output is lost: the first solver prints a greeting
    there before an option can forbid it, and a graph may be written there.
    """
    try:
        kept = os.dup(1)
    except OSError:  # there is none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _solve(
    problem: Problem, model: Model, part: Any, rows: list[Row], scale: float, integer: bool, deadline: float,
    start: Solution | None = None,
) -> _Solved | None:  # fmt: skip
    """The programme over some of the variables and rows; None if time ended before there was a solution."""
    import highspy
    import numpy as np

    if not rows:
        return _Solved([], 0.0)
    if process_time() >= deadline:
        return None
    local = {variable: k for k, variable in enumerate(part)}
    linear = highspy.HighsLp()
    linear.num_col_, linear.num_row_ = len(local), len(rows)
    linear.col_cost_ = np.array([problem.costs[model.nodes[v]] * scale for v in local])
    linear.col_lower_, linear.col_upper_ = np.zeros(len(local)), np.ones(len(local))
    linear.row_lower_ = np.array([least for _, least in rows])
    linear.row_upper_ = np.full(len(rows), highspy.kHighsInf)
    linear.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    linear.a_matrix_.start_ = np.cumsum([0, *(len(row) for row, _ in rows)])
    linear.a_matrix_.index_ = np.array([local[v] for row, _ in rows for v in row])
    linear.a_matrix_.value_ = np.array([value for row, _ in rows for value in row.values()])
    if integer:
        linear.integrality_ = [highspy.HighsVarType.kInteger] * len(local)
    with _silent_stdout():
        solver = highspy.Highs()
    for option, value in (
        ("output_flag", False), ("threads", 1), ("random_seed", 0), ("mip_rel_gap", 0.0)
    ):
        solver.setOptionValue(option, value)

    def stop_in_time(event: Any) -> None:
        if process_time() >= deadline:
            event.interrupt()

    for callback in (solver.cbSimplexInterrupt, solver.cbIpmInterrupt, solver.cbMipInterrupt):
        callback.subscribe(stop_in_time)
    solver.passModel(linear)
    if start is not None:
        given = highspy.HighsSolution()
        chosen = set(start.choice.values())
        given.col_value = [float(model.nodes[v] in chosen) for v in local]
        solver.setSolution(given)
    solver.run()
    status, info = solver.getModelStatus(), solver.getInfo()
    if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInterrupt):
        return None
    if not integer and status != highspy.HighsModelStatus.kOptimal or info.primal_solution_status != 2:
        return None
    found = solver.getSolution()
    bound = info.mip_dual_bound if integer else info.objective_function_value
    chosen_nodes = [model.nodes[v] for v, value in zip(local, found.col_value) if value > 0.5]
    return _Solved(chosen_nodes, max(0.0, bound / scale), [] if integer else list(found.col_dual))
