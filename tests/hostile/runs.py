"""Command lines on the hostile corpus, each in a process of its own that may use 1 GB and 10 seconds of
processor time.

`python -m tests.hostile.runs` runs all and prints the table of `docs/reliability.md`.
"""

from __future__ import annotations

import io
import os
import resource
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.corpus import GRAPH, RULES, corpus

SECONDS = 10
MEMORY = 1 << 30
# of what measures as long as it is told to
_SHORT = ["--rounds", "1", "--warm-up", "0", "--seconds", "1", "--threads", "1"]
PATIENCE = 1200  # seconds by the clock, for what sleeps or waits, on a machine that has other things to do


@dataclass(frozen=True)
class Outcome:
    """`code`: the exit code, or minus a signal.

    `seconds` of processor time; `memory`: bytes at most, beyond those of the process that it was forked from.
    `said`: on stderr.
    """

    words: tuple[str, ...]
    code: int
    seconds: float
    memory: int
    said: str

    @property
    def wrong(self) -> str:
        """What is not as it must be, or nothing."""
        if not 0 <= self.code <= 3:
            return f"exit code {self.code}"
        return (
            "too much time" if self.seconds > SECONDS else "too much memory" if self.memory > MEMORY else ""
        )


def write_corpus(folder: Path) -> list[str]:
    """Write the files, with a graph and rules beside them that are fine; returns their names."""
    files = corpus()
    for name, data in files.items():
        path = folder / name
        if name.startswith("config/"):  # a folder for each: its file decides for the rules beside it
            path = folder / name.removesuffix(".toml") / "gslang.toml"
            path.parent.mkdir(parents=True)
            (path.parent / "r.gsl").write_bytes(RULES)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "g.json").write_bytes(GRAPH)
    (folder / "r.gsl").write_bytes(RULES)
    (folder / "parameters.gsl").write_bytes(
        b"dialect relay;\nparam k: int = 1;\nparam l: (str, int)[] = ();\n"
        b"rule twice(a): nn.relu(nn.relu(a)) where k > len(l) => nn.relu(a);\n"
    )
    (folder / "fine.onnx").write_bytes(files["onnx/squares.onnx"])
    (folder / "onnx.gsl").write_bytes(b"dialect onnx;\nrule twice(a): Relu(Relu(a)) => Relu(a);\n")
    with (folder / "onnx" / "external_sparse.onnx.data").open("wb") as file:
        file.truncate(1 << 42)
    (folder / "rules" / "loop.gsl").symlink_to("loop.gsl")
    return [*files, "rules/loop.gsl"]


def commands(name: str, every: bool) -> Iterator[list[str]]:
    """Command lines for a file: of each verb that takes it, or of the one or two that read most of it."""
    out = ["-o", "out.json"]
    match name.partition("/")[0]:
        case "rules":
            yield [name, "g.json", *out]
            if every:
                yield from _with_rules(name)
        case "json" | "relay" | "onnx" as kind:
            yield [
                "onnx.gsl" if kind == "onnx" else "r.gsl", name, "-o", f"out.{kind}", "--fold",
                *(["--inline"] if kind == "relay" else []),
            ]
            if every:
                yield from _with_graph(name, kind)
        case "operators":
            yield ["onnx.gsl", name, "-o", "out.onnx", "--fold"]
            if every:
                yield from (["run", name], ["cost", name])
        case "weights":
            yield ["convert", "g.json", *out, "--params", name]
            if every:
                yield from (
                    ["run", "g.json", "--inputs", name], ["run", "g.json", "--params", name],
                    ["r.gsl", "g.json", *out, "--params", name, "--check-numbers"],
                )
                yield from (
                    ["r.gsl", "g.json", *out, "--inputs", name, "--check-numbers"],
                    ["bench", "fine.onnx", *_SHORT, "--inputs", name],
                )
        case "tables":
            match name.partition("/")[2].partition("_")[0]:
                case "egraph":
                    yield ["extract", name]
                    if every:
                        yield ["extract", name, "--method", "greedy", "--format", "json"]
                case "taso":
                    yield ["import", "taso", name, "-o", "out.rules"]
                    if every:
                        yield ["import", "taso", name, "-o", "out.conditions", "--with-conditions"]
                case _:
                    yield ["cost", "g.json", "--cost", name]
                    if every:
                        yield ["search", "r.gsl", "g.json", *out, "--cost", name, "--require", "any"]
        case "traces":
            yield ["r.gsl", "g.json", *out, "--replay", name]
        case "config":
            yield ["lint", f"{name.removesuffix('.toml')}/r.gsl"]
        case "cache":
            yield ["check", "r.gsl"]
        case "states":
            yield ["discover", "--ops", "nn.relu", "--size", "2", "--quiet", "--state", name, "-o", "out.gsl"]
        case "hosts":
            words = ["import", name.partition("/")[2].partition("_")[0], name, "-o", "out.gsl"]
            yield [*words, "--as-written"]
            if every:
                yield words
        case "defines":
            yield ["parameters.gsl", "g.json", *out, "--define", f"k=@{name}", "--define", f"l=@{name}"]


def _with_rules(name: str) -> Iterator[list[str]]:
    out = ["-o", "out.json"]
    yield from (
        ["check", name], ["lint", name], ["verify", name], ["fmt", "--check", name], ["test", name],
        ["match", name, "g.json"],
    )
    yield ["match", name, "g.json", "--why-not"]
    yield [name, "g.json", *out, "--check-numbers", "--fold", "--trace", "out.jsonl", "--html", "out.html"]
    yield ["check", name, "--format", "sarif"]
    yield from (
        ["lint", "--diff", name], ["search", name, "g.json", *out, "--require", "any"],
        ["view", "g.json", name, "-o", "out.html"],
    )
    yield ["search", name, "g.json", *out, "--require", "any", "--method", "backtrack"]
    yield from (
        ["bisect", name, "g.json", "--check", "numbers"], ["view", name, "-o", "out.html"],
        ["explain", "r", name], ["ops", "nn.relu", name],
    )
    yield from (
        ["generalize", name, "-o", "out.gsl"], ["implied", name, "--by", "r.gsl"],
        ["implied", "r.gsl", "--by", name],
    )
    yield from (
        ["export", "onnxsim", name, "-o", "out.txt"], ["export", "onnxscript", name, "-o", "out.py"],
    )
    yield ["discover", name, "--ops", "nn.relu", "--size", "2", "--quiet", "-o", "out.gsl"]


def _with_graph(name: str, kind: str) -> Iterator[list[str]]:
    rules, shipped = ("onnx.gsl", "std.onnx") if kind == "onnx" else ("r.gsl", "std.relay")
    yield [shipped, name, "-o", f"out.{kind}"]
    yield from (
        ["convert", name, "-o", "out.json"], ["convert", name, "-o", "out.dot"],
        ["convert", name, "-o", "out.html"], ["run", name], ["diff", name, name],
    )
    yield from (
        ["cost", name], ["view", name, "-o", "out.html"], ["match", shipped, name],
        ["match", rules, name, "--why-not"],
    )
    yield ["search", rules, name, "-o", f"out.{kind}", "--require", "any"]
    yield from (
        ["from-example", name, name],
        ["discover", "--ops", "nn.relu", "--size", "1", "--quiet", "-o", "out.gsl", "--on", name],
    )
    yield [rules, name, "-o", f"out.{kind}", "--check-numbers", "--html", "out.html"]
    if kind == "relay":
        yield from (
            ["convert", name, "-o", "out.relay", "--inline"],
            ["convert", name, "-o", "out.json", "--skip-unsupported"],
        )
    if kind == "onnx":
        yield from (
            ["std.onnxruntime", name, "-o", "out.onnx", "--pass", "onnxruntime", "--opset", "23"],
            ["bench", name, *_SHORT], ["bisect", rules, name, "--check", "numbers"],
        )


def run_all(folder: Path, names: Iterable[str], every: bool) -> Iterator[Outcome]:
    """Run the command lines in `folder`."""
    _warm_up(folder, every)
    for name in names:
        for words in commands(name, every):
            yield run(folder, words, folder / name if name.startswith("cache/") else None)


def _warm_up(folder: Path, every: bool) -> None:
    """Run the commands on well-formed files in this process: its children find modules imported, and shipped
    rules compiled.
    """
    from gslang.cli.main import main

    fine = {"json/fine.json": "g.json"}
    if every:
        fine |= {"rules/fine.gsl": "r.gsl", "onnx/fine.onnx": "fine.onnx"}
    for name, source in fine.items():
        (folder / name).write_bytes((folder / source).read_bytes())
    here = os.getcwd()
    os.chdir(folder)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            for words in (words for name in fine for words in commands(name, every)):
                if words[0] != "bench":  # whose threads a child would not have
                    main(words)
    finally:
        os.chdir(here)
        for name in fine:
            (folder / name).unlink()


def run(folder: Path, words: list[str], cache: Path | None = None) -> Outcome:
    """One command line in a child of this process."""
    said = folder / ".said"
    before = _memory()[1]
    child = os.fork()
    if child == 0:
        try:
            _limit()
            os.chdir(folder)
            streams = (
                os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY),
                os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            )
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            sys.stdin, sys.stdout, sys.stderr = (
                open(k, mode, closefd=False, encoding="utf-8", errors="surrogateescape")
                for k, mode in enumerate("rww")
            )
            _cache_in(folder, cache)
            from gslang.cli.main import main

            code = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        except BaseException:
            import traceback

            with said.open("a") as file:
                traceback.print_exc(file=file)
            os._exit(99)
    return _end_of(child, words, said, before)


def _memory() -> tuple[int, int]:
    """Bytes of address space, and resident ones, of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        size, resident = file.read().split()[:2]
    return int(size) * resource.getpagesize(), int(resident) * resource.getpagesize()


def _limit() -> None:
    now = _memory()[0]
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 1, SECONDS + 2))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.alarm(PATIENCE)


def _cache_in(folder: Path, file: Path | None) -> None:
    """No cache in this child; or one that has been filled, with `file` in the place of each result."""
    from gslang.base import cache
    from gslang.cli.main import main

    home = folder / "home"
    os.environ["GSLANG_CACHE"] = "off" if file is None else str(home)
    cache.cache_folder.cache_clear()
    if file is None:
        return
    home.mkdir(mode=0o700, exist_ok=True)
    main(["check", "r.gsl"])
    for result in home.iterdir():
        result.write_bytes(file.read_bytes())


def _end_of(child: int, words: list[str], said: Path, before: int) -> Outcome:
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    text = said.read_text(encoding="utf-8", errors="replace")[:2000] if said.exists() else ""
    # a forked process begins with the resident memory of its parent, which is large in a long session
    memory = max(0, usage.ru_maxrss * 1024 - before)
    return Outcome(tuple(words), code, usage.ru_utime + usage.ru_stime, memory, text)


def table(outcomes: list[Outcome]) -> str:
    """Rows of Markdown: verb, runs, exit codes, most time, most memory."""
    rows = [
        "| verb | runs | exit 0 | 1 | 2 | 3 | other | seconds at most | MB at most |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    verbs: dict[str, list[Outcome]] = {}
    for one in outcomes:
        verbs.setdefault("apply" if "/" in one.words[0] or "." in one.words[0] else one.words[0], []).append(
            one
        )
    for verb, found in sorted(verbs.items()):
        codes = [sum(one.code == code for one in found) for code in range(4)]
        rows.append(
            f"| {verb} | {len(found)} | {' | '.join(map(str, codes))} | {len(found) - sum(codes)} | "
            f"{max(one.seconds for one in found):.1f} | {max(one.memory for one in found) >> 20} |"
        )
    return "\n".join(rows) + "\n"


def main() -> None:
    """Run every verb on every file, tell what is wrong, and print the table."""
    import tempfile

    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = [n for n in write_corpus(folder) if not wanted or any(n.startswith(w) for w in wanted)]
        found = []
        for outcome in run_all(folder, names, True):
            found.append(outcome)
            if outcome.wrong:
                last = outcome.said.strip().splitlines()
                sys.stderr.write(
                    f"{outcome.wrong}: gslc {' '.join(outcome.words)} ({outcome.seconds:.1f} s, "
                    f"{outcome.memory >> 20} MB): {last[-3:][:1]}\n"
                )
                sys.stderr.flush()
        sys.stderr.write(f"{len(found)} runs on {len(names)} files\n")
    print(table(found))


if __name__ == "__main__":
    main()
