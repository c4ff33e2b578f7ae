"""The loop that rules go round in which never end: which rule makes what the next one takes away.

Asked once a run has reached its limit. The names of the latest applications do not tell it where a graph has
several such places, for they take turns; so one place is followed for some more applications, in a copy of
the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gslang.check.checked import CheckedRule
from gslang.engine.fixed_point import Limits, Progress, run_to_fixed_point
from gslang.engine.rewrite import Application
from gslang.graph.graph import Graph

_FOLLOWED = 64  # applications; the longest loop that is reported has half as many rules


def loop_of(graph: Graph, rules: Sequence[CheckedRule], made_by: Mapping[int, str]) -> list[str]:
    """Rules in the order in which they follow each other, the first one once more at the end; nothing if no
    loop is seen.

    `graph` is as the run left it, and stays so; `made_by` is that of the run (`Progress`).
    """
    copy, done = graph.copy(), list[Application]()
    progress = Progress(made_by=dict(made_by))

    def follow(near: Iterable[int] | None, applications: int) -> None:
        limits = Limits(stop_after=progress.applications + applications)
        run_to_fixed_point(
            copy, rules, limits, progress,
            lambda _, what: done.append(what) if isinstance(what, Application) else None, near=near,
        )

    follow(None, 1)
    if done:
        follow((*done[0].added, *done[0].replaced.values()), _FOLLOWED)
    return _loop_among(done)


def _loop_among(done: Sequence[Application]) -> list[str]:
    """The shortest way from an application, over those that made what it took, to one of the same rule."""
    made = {node: k for k, application in enumerate(done) for node in application.added}
    shortest: list[str] = []
    for last in range(len(done) - 1, -1, -1):
        way, place = [done[last].rule], last
        while len(way) <= _FOLLOWED:
            before = max(
                (made[node] for node in done[place].removed if made.get(node, place) < place), default=None
            )
            if before is None:
                break
            place = before
            way.append(done[place].rule)
            if way[-1] == way[0]:
                if not shortest or len(way) < len(shortest):
                    shortest = way[::-1]
                break
    return shortest
