"""Results as tables in Markdown and a plot in SVG.

Pure text and arithmetic on rows of `Row.as_json`; nothing is measured here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def tables(rows: Rows, versions: Mapping[str, str]) -> str:
    """All tables, one after the other."""
    parts = [
        "# Results",
        ", ".join(f"{name} {number}" for name, number in versions.items()) + ".",
        (
            "Only ratios within one run mean anything. `†`: the tool did not rewrite everything that "
            "matches. Columns: operator calls."
        ),
        "## Rewriting, ms of processor time inside the process (× gslang)",
        comparison(rows, "inside", "rewrite_cpu_s"), "## Whole process, ms (× gslang)",
        comparison(rows, "whole", "process_s"),
        "## Growth: time ~ nodes^e, e by least squares over all sizes",
        growth(rows), "## Peak memory of the process, MB",
        per_cell(rows, "inside", "process_mb", "{:.0f}"), "## gslang, step by step, ms",
        steps_of_gslang(rows),
    ]
    return "\n\n".join(parts) + "\n"


def sizes_of(rows: Rows) -> list[int]:
    return sorted({row["nodes"] for row in rows})


def value(rows: Rows, tool: str, job: str, nodes: int, mode: str, step: str) -> float | None:
    for row in rows:
        if (row["tool"], row["job"], row["nodes"], row["mode"]) == (tool, job, nodes, mode):
            found: float | None = row.get(step)
            return found
    return None


def comparison(rows: Rows, mode: str, step: str) -> str:
    """A line per job and tool, a column per size; fastest tool of a job first."""

    def cell(row: Mapping[str, Any]) -> str:
        mine = value(rows, "gslang", row["job"], row["nodes"], mode, step)
        time = row.get(step)
        if time is None:
            return str(row["failure"])[:40].replace("|", "/")
        ratio = f" ({time / mine:.1f}×)" if mine and row["tool"] != "gslang" else ""
        return f"{time * 1e3:.3g}{ratio}" + ("†" if row["complete"] is False else "")

    return _table(rows, mode, cell, step)


def per_cell(rows: Rows, mode: str, step: str, form: str) -> str:
    return _table(rows, mode, lambda row: "" if row.get(step) is None else form.format(row[step]), step)


def _table(rows: Rows, mode: str, cell: Callable[[Mapping[str, Any]], str], step: str) -> str:
    sizes = sizes_of(rows)
    lines = [
        "| job | tool | " + " | ".join(f"{n:,}" for n in sizes) + " |", "|---|---|" + "---|" * len(sizes),
    ]
    for job in dict.fromkeys(row["job"] for row in rows):
        found: dict[str, dict[int, Mapping[str, Any]]] = {}
        for row in rows:
            if row["job"] == job and row["mode"] == mode:
                found.setdefault(row["tool"], {})[row["nodes"]] = row

        def speed(tool: str) -> float:
            return float(min((row.get(step) or math.inf for row in found[tool].values()), default=math.inf))

        for tool in sorted(found, key=speed):
            cells = [cell(found[tool][n]) if n in found[tool] else "" for n in sizes]
            lines.append(f"| {job} | {tool} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of log(time) over log(nodes) by least squares; None below two sizes."""
    if len({n for n, _ in points}) < 2:
        return None
    logs = [(math.log(n), math.log(t)) for n, t in points]
    x, y = (sum(column) / len(logs) for column in zip(*logs))
    slope: float = sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)
    return slope


def growth(rows: Rows) -> str:
    jobs = list(dict.fromkeys(row["job"] for row in rows))
    lines = ["| tool | " + " | ".join(jobs) + " |", "|---|" + "---|" * len(jobs)]
    for tool in dict.fromkeys(row["tool"] for row in rows):
        cells = []
        for job in jobs:
            points = [
                (n, time)
                for n in sizes_of(rows)
                if (time := value(rows, tool, job, n, "inside", "rewrite_cpu_s")) is not None and time > 0
            ]
            e = exponent(points)
            cells.append("" if e is None else f"{e:.2f}")
        lines.append(f"| {tool} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def steps_of_gslang(rows: Rows) -> str:
    """Read, compile, rewrite, write; and the command as a whole process."""
    lines = [
        "| job | nodes | compile rules | read | rewrite | write | `gslc` as a process |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["tool"] == "gslang" and row["mode"] == "inside" and row.get("rewrite_s") is not None:
            whole = value(rows, "gslang", row["job"], row["nodes"], "whole", "process_s")
            times = [row["rules_s"], row["load_s"], row["rewrite_s"], row["save_s"], whole]
            shown = " | ".join("" if t is None else f"{t * 1e3:.3g}" for t in times)
            lines.append(f"| {row['job']} | {row['nodes']:,} | {shown} |")
    return "\n".join(lines)


def plot(rows: Rows, path: Path) -> None:
    """Time per node against nodes, a panel per job, both axes logarithmic; the higher, the slower; level is
    linear time.
    """
    curves: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in rows:
        if row["mode"] == "inside" and row.get("rewrite_cpu_s"):
            curves.setdefault(row["job"], {}).setdefault(row["tool"], []).append(
                (row["nodes"], row["rewrite_cpu_s"] / row["nodes"] * 1e6)
            )
    if curves:
        draw_panels(curves, "operator calls", "µs per operator call", path)


def draw_panels(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    x_label: str,
    y_label: str,
    path: Path,
    logarithmic: bool = True,
) -> None:
    """A figure of several panels that share their legend: panel → curve → points."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "gslang"  # the same file for the same numbers
    from matplotlib import pyplot

    columns = min(3, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(4.2 * columns, 3.4 * lines), squeeze=False, layout="constrained"
    )
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    shown: dict[str, Any] = {}
    for axis, (title, curves) in zip(axes.flat, panels.items()):
        for name, points in curves.items():
            i = names.index(name)
            (line,) = axis.plot(
                *zip(*sorted(points)), marker="o", markersize=3, color=f"C{i % 10}",
                linewidth=2.2 if name == "gslang" else 1.2,
            )
            shown.setdefault(name, line)
        axis.set_title(title)
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        if logarithmic:
            axis.set_xscale("log")
            axis.set_yscale("log")
        else:
            axis.set_xlim(left=0)
            axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    for axis in list(axes.flat)[len(panels) :]:
        axis.axis("off")
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", ncols=min(5, len(shown)), frameon=False
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
