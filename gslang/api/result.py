"""The result of a run: the rewritten graph, counts and times."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslang.api.models import to_onnx, write
from gslang.base.open_types import JsonDict, JsonObject
from gslang.base.quick_dataclass import dataclass
from gslang.engine.fixed_point import Progress, StopReason, limit_message
from gslang.engine.rewrite import Failure
from gslang.graph.compare import count_calls
from gslang.graph.graph import Graph

if TYPE_CHECKING:

    from gslang.formats.onnx.inner_runs import BodyCount


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
    numbers: JsonObject | None = None
    latency: JsonObject | None = None
    bodies: dict[str, BodyCount] = field(default_factory=dict)
    cost: JsonObject | None = None

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

    def report(self) -> JsonDict:
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
