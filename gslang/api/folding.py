"""Constant folding and the refinement of types, as a step of a pass."""

from __future__ import annotations

from collections.abc import Callable

from gslang.api.models import has_bodies
from gslang.dialect.dialect import Dialect
from gslang.graph.graph import Graph


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
            while any(op in ("If", "Loop") for op in graph.op) and has_bodies(graph):
                from gslang.formats.onnx.inline_bodies import inline_bodies

                inlined = inline_bodies(graph, dialect)
                if not inlined:
                    break
                count += inlined + run(graph, dialect, limit_bytes=limit) + refine(graph)
            return count

        return fold

    return limited
