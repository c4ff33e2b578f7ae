"""Mutated inputs for every reader, in one process or several: each is read, or refused with an `InputError`; nothing else.

`python -m tests.hostile.fuzz COUNT [JOBS]` runs COUNT inputs and prints how many each reader had.
"""

from __future__ import annotations

import json
import math
import re
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gslang.base.diagnostics import InputError
from tests.hostile.corpus import GRAPH, RULES, corpus

SECONDS = 10  # of processor time that one input may take
_SIGNS = [*b"(){}[];,=>.:\"%/-*|?@#_\0\xff\xfe\x80", *b"\x08\x12\x1a\x0a\x7f"]
_WORDS = [b"null", b"-1", b"NaN", b"1e999", b"9223372036854775807", b"99999999999999999999", b"none", b" where ", b" each ", b"/*", b"\\ud800", b"..", b"0"]

RELAY = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = split(%0, indices_or_sections=2, axis=1) /* ty=(Tensor[(1, 2, 8, 8), float32], Tensor[(1, 2, 8, 8), float32]) */;
  let %y = cast(clip(%1.0, a_min=0f, a_max=6f), dtype="int64") + 2i64;
  (%y, max(%1.1, axis=[2, 3]))
}
"""
TRACE = json.dumps(
    {"application": 1, "rule": "twice", "outputs": ["z"], "removed": ["y", "z"], "added": ["n"], "replaced": {"z": "n"}, "bindings": {"a": "t"}}
).encode()  # fmt: skip
CONFIG = b'[lint]\nselect = ["L01", "all"]\nignore = ["L0108"]\nexclude = ["a/*.gsl"]\n\n[lint.per-file-ignores]\n"b/**" = ["L02"]\n'


class Hang(BaseException):
    """An input took longer than it may."""


def mutated(random: Random, data: bytes) -> bytes:
    """The bytes with one to four mistakes."""
    for _ in range(random.choice((1, 1, 2, 4))):
        at, length = random.randrange(len(data) + 1), random.choice((1, 1, 2, 4, 12, 40))
        match random.randrange(7):
            case 0:
                data = data[:at] + bytes([random.choice(_SIGNS)]) + data[at:]
            case 1:
                data = data[:at] + data[at + length :]
            case 2:
                data = data[:at] + random.choice(_WORDS) + data[at:]
            case 3 if data:
                other = random.randrange(len(data))
                data = data[:at] + data[other : other + length] + data[at:]
            case 4 if data and at < len(data):
                data = data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
            case 5:
                numbers = list(re.finditer(rb"\d+", data))
                if numbers:
                    found = random.choice(numbers)
                    data = data[: found.start()] + random.choice((b"0", b"-1", b"7", b"4294967296", b"9223372036854775807", b"3.5")) + data[found.end() :]
            case _:
                data = data[:at] if random.random() < 0.2 else data
    return data


# ── readers ───────────────────────────────────────────────────────────────────────────────────────────────────


def _read_rules(data: bytes) -> None:
    from gslang.base.render import render_text
    from gslang.base.source import Source
    from gslang.check.check import check_source
    from gslang.syntax.parser import source_of

    source = source_of("fuzz.gsl", data)
    if isinstance(source, Source):
        render_text(check_source(source).diagnostics)


def _read_graph(format: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        from gslang.formats.registry import graph_from_bytes

        graph_from_bytes(data, f"fuzz.{format}", format)

    return read


def _read_weights(suffix: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        from gslang.formats.weights import open_weights

        path = _folder() / f"w{suffix}"
        path.write_bytes(data)
        arrays = open_weights(path)
        for name in list(arrays)[:20]:
            if math.prod(arrays.type_of(name).shape or ()) < 10**6:
                arrays[name]

    return read


def _read_trace(data: bytes) -> None:
    from gslang.cli.trace_file import read_trace

    path = _folder() / "t.jsonl"
    path.write_bytes(data)
    list(read_trace(str(path)))


def _read_config(data: bytes) -> None:
    from gslang.lint.configuration import find_configuration

    path = _folder() / "gslang.toml"
    path.write_bytes(data)
    find_configuration(_folder())


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="gslang-fuzz-"))


@cache
def seeds() -> dict[str, tuple[tuple[bytes, ...], Callable[[bytes], None]]]:
    """Reader → well-formed and hostile files of at most 3,000 bytes, and what reads them."""
    hostile = corpus()

    def small(prefix: str, suffix: str = "") -> tuple[bytes, ...]:
        return tuple(data for name, data in sorted(hostile.items()) if name.startswith(prefix) and name.endswith(suffix) and len(data) <= 3000)

    shipped = Path(__file__).parent.parent.parent / "stdlib_rules" / "relay"
    texts = [path.read_bytes() for path in sorted(shipped.glob("*.gsl")) if path.name not in ("ops.gsl", "passes.gsl")]
    cut = tuple(b"dialect relay;\n" + item for text in texts for item in re.split(rb"\n(?=rule )", text) if len(item) < 1500)
    return {
        "rules": ((RULES, *cut, *small("rules/")), _read_rules),
        "json": ((GRAPH,) * 8 + small("json/"), _read_graph("json")),
        "relay": ((RELAY,) * 8 + small("relay/"), _read_graph("relay")),
        "onnx": (small("onnx/"), _read_graph("onnx")),
        "npz": (small("weights/", ".npz"), _read_weights(".npz")),
        "safetensors": (small("weights/", ".safetensors"), _read_weights(".safetensors")),
        "traces": ((TRACE,) * 4 + small("traces/"), _read_trace),
        "config": ((CONFIG,) * 4 + small("config/"), _read_config),
    }


# How many of a hundred inputs each reader gets: rules take the longest.
SHARES = {"rules": 6, "json": 22, "relay": 16, "onnx": 10, "npz": 12, "safetensors": 12, "traces": 11, "config": 11}


def _late(*_: object) -> None:
    raise Hang


def run(first: int, last: int) -> Counter[str]:
    """Inputs number `first` to `last`; raises with its number and reader where one is not refused as it should be."""
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, _late)
    done: Counter[str] = Counter()
    for number in range(first, last):
        random = Random(number)
        kind = kinds[number % len(kinds)]
        files, read = seeds()[kind]
        data = mutated(random, random.choice(files))
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            read(data)
        except InputError:
            done[f"{kind} refused"] += 1
        except BaseException as error:
            raise AssertionError(f"input {number} ({kind}): {type(error).__name__}: {error}: {data[:300]!r}") from error
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        done[kind] += 1
    return done


def run_in_processes(count: int, jobs: int, start: int = 0) -> Counter[str]:
    """`count` inputs in several processes."""
    from concurrent.futures import ProcessPoolExecutor

    step = 2_000
    bounds = [(k, min(k + step, start + count)) for k in range(start, start + count, step)]
    with ProcessPoolExecutor(jobs) as pool:
        return sum(pool.map(run, *zip(*bounds)), Counter())


def main() -> None:
    """Run, and print rows of Markdown."""
    count, jobs = int(sys.argv[1]), int((sys.argv[2:] or ["1"])[0])
    began = time.process_time()
    done: Any = run_in_processes(count, jobs) if jobs > 1 else run(0, count)
    print("| reader | inputs | refused |\n|---|--:|--:|")
    for kind in SHARES:
        print(f"| {kind} | {done[kind]:,} | {done[f'{kind} refused']:,} |")
    sys.stderr.write(f"{count} inputs, {time.process_time() - began:.0f} s of processor time\n")


if __name__ == "__main__":
    main()
