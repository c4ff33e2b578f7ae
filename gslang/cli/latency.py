"""The latency of models on the command line: what `bench` and `apply --bench` measure, and say of it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError
from gslang.cli.inputs import inputs_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gslang.evaluate.times import Times
    from gslang.formats.onnx.latency import Latency, Setting
    from gslang.graph.graph import Graph


def refuse_without_runtime(graph: Graph, path: str) -> None:
    """Raises `InputError` if there is no onnxruntime, or it does not run such graphs."""
    from gslang.formats.onnx.runtime import runtime_installed

    if graph.dialect != "onnx":
        raise InputError(
            f"onnxruntime runs only ONNX graphs, this one has dialect `{graph.dialect}`", path=path,
            help="`gslc cost` estimates the cost of other graphs",
        )
    if not runtime_installed():
        raise InputError("onnxruntime is not installed", help="pip install onnxruntime")


def latency_of(
    before: Graph,
    after: Graph | None,
    options: argparse.Namespace,
    sizes: Mapping[str, int],
    setting: Setting,
) -> Latency:
    """Times on the inputs that the options ask for. Raises `InputError`."""
    from gslang.dialect.load import load_dialect
    from gslang.evaluate.errors import EvaluationError
    from gslang.formats.onnx.latency import measure_latency

    try:
        return measure_latency(
            before, after, inputs_for(before, load_dialect("onnx"), options, sizes), setting
        )
    except EvaluationError as error:
        raise InputError(str(error), path=options.graph) from None


def as_text(latency: Latency) -> str:
    """A line for each model, and a sentence that compares them."""
    setting = latency.setting
    threads = (
        f"{setting.threads} thread{'s' * (setting.threads != 1)}" if setting.threads
        else "its own number of threads"
    )
    lines = [
        (
            f"onnxruntime {latency.version}, {setting.provider}, level {setting.level}, {threads}; "
            f"{len(latency.before.seconds)} rounds"
        ),
        f"{'':<8}{'median':>12}{'quartiles':>28}", _row("before", latency.before),
    ]
    if latency.after is not None:
        lines += [_row("after", latency.after), compared(latency)]
    return "\n".join(lines) + "\n"


def _row(name: str, times: Times) -> str:
    low, high = times.quartiles
    return f"{name:<8}{_said(times.median):>12}{f'{_said(low)} to {_said(high)}':>28}"


def _said(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-6:.4g} µs"


def compared(latency: Latency) -> str:
    """True if what the rules made is faster or slower, and how sure that is."""
    change = latency.change
    assert change is not None
    if change.interval is None or change.twin is None:
        return "too few rounds to tell the difference from noise (at least 6)"
    low, high = sorted(_percent(bound) for bound in change.interval)
    noise = max(abs(_percent(bound)) for bound in change.twin)
    times = (
        f"{abs(_percent(change.ratio)):.1f} % {'less' if change.ratio <= 1 else 'more'} time ({low:+.1f} to "
        f"{high:+.1f} %)"
    )
    if change.more_than_noise:
        return f"after takes {times}, which exceeds the noise of up to {noise:.1f} %"
    return f"after takes {times}, which is within the noise of up to {noise:.1f} %"


def _percent(ratio: float) -> float:
    return (ratio - 1) * 100
