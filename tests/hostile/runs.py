"""Command lines on the hostile corpus, each in a process of its own that may use 1 GB and 10 seconds of
processor time.

`python -m tests.hostile.runs LOG [PREFIX ...]` runs those whose files begin with one of the prefixes, or all,
and appends a line to the log for each; what the log has already is not run again. It ends with the tables of
`docs/reliability.md`, of all lines in the log.
"""

from __future__ import annotations

import gc
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator, Set
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.hostile.corpus import GRAPH, RULES, corpus

SECONDS = 10
MEMORY = 1 << 30
# of what measures as long as it is told to
_SHORT = ["--rounds", "1", "--warm-up", "0", "--threads", "1"]
_ONNX = ("onnx", "onnxtxt")
PATIENCE = 1200  # seconds by the clock, for what sleeps or waits, on a machine that has other things to do


@dataclass(frozen=True)
class Outcome:
    """`code`: the exit code, or minus a signal.

    `seconds` of processor time; `memory`: bytes at most, beyond those of the process that it was forked from;
    `said`: on stderr. `file`: that of the corpus. `left`: files that it should have removed. `wrote`: whether
    it wrote its output file.
    """

    words: tuple[str, ...]
    code: int
    seconds: float
    memory: int
    said: str
    file: str
    left: tuple[str, ...]
    wrote: bool

    @property
    def wrong(self) -> str:
        """What is not as it must be, or nothing."""
        if not 0 <= self.code <= 3:
            return f"exit code {self.code}"
        if self.left:
            return f"left {', '.join(self.left)}"
        if self.wrote and self.code and self.verb in ("apply", "convert", "search"):
            return f"wrote its output, and exit code {self.code}"
        return (
            "too much time" if self.seconds > SECONDS else "too much memory" if self.memory > MEMORY else ""
        )

    @property
    def verb(self) -> str:
        """The first word; `apply` if it is left out."""
        return "apply" if "/" in self.words[0] or "." in self.words[0] else self.words[0]


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
    (folder / "tmp").mkdir()
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
        case "json" | "relay" | "onnx" | "onnxtxt" as kind:
            yield [
                "onnx.gsl" if kind in _ONNX else "r.gsl", name, "-o", f"out.{kind}", "--fold",
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
    rules, shipped = ("onnx.gsl", "std.onnx") if kind in _ONNX else ("r.gsl", "std.relay")
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
        ["from-example", "fine.onnx" if kind in _ONNX else "g.json", name],
        ["discover", "--ops", "nn.relu", "--size", "1", "--quiet", "-o", "out.gsl", "--on", name],
    )
    yield [rules, name, "-o", f"out.{kind}", "--check-numbers", "--html", "out.html"]
    if kind == "relay":
        yield from (
            ["convert", name, "-o", "out.relay", "--inline"],
            ["convert", name, "-o", "out.json", "--skip-unsupported"],
        )
    if kind in _ONNX:
        yield from (
            ["std.onnxruntime", name, "-o", f"out.{kind}", "--pass", "onnxruntime", "--opset", "23"],
            ["bench", name, *_SHORT], ["bisect", rules, name, "--check", "numbers"],
        )


def run_all(folder: Path, names: Iterable[str], every: bool,
    but: Set[str] = frozenset()) -> Iterator[Outcome]:
    """Run the command lines in `folder`, except those in `but`."""
    names = list(names)
    _warm_up(folder, every, {name.partition("/")[0] for name in names})
    for name in names:
        for words in commands(name, every):
            if _line(name, words) not in but:
                yield run(folder, words, name)


def _line(name: str, words: Iterable[str]) -> str:
    """What tells a command line from others."""
    return " ".join((name, *words))


def _warm_up(folder: Path, every: bool, kinds: Set[str]) -> None:
    """Run the commands for these kinds on well-formed files in this process: its children find modules
    imported, and shipped rules compiled.
    """
    from gslang.cli.main import main

    fine = {"json/fine.json": "g.json"}
    if every and "rules" in kinds:
        fine["rules/fine.gsl"] = "r.gsl"
    if every and kinds & {*_ONNX, "operators"}:
        fine["onnx/fine.onnx"] = "fine.onnx"
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
    gc.collect()


def run(folder: Path, words: list[str], name: str) -> Outcome:
    """One command line, made for a file of the corpus, in a child of this process."""
    said = folder / ".said"
    cache = folder / name if name.startswith("cache/") else None
    before, state = _memory()[1], _state(folder, words)
    there = _files(folder)
    child = os.fork()
    if child == 0:
        try:
            gc.freeze()  # what was here before is neither examined nor copied
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
            os.environ["TMPDIR"] = str(folder / "tmp")
            tempfile.tempdir = None
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
    code, seconds, memory, text = _end_of(child, said, before)
    left = tuple(sorted(_files(folder) - there))
    for one in left:
        path = folder / one
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return Outcome(tuple(words), code, seconds, memory, text, name, left, _state(folder, words) != state)


def _files(folder: Path) -> set[str]:
    """Files that are in the way: not those that a command line names, not the cache, and not the one that
    onnxruntime has for all of its runs.
    """
    return {
        str(path.relative_to(folder))
        for part in (folder, folder / "tmp")
        for path in part.iterdir()
        if not path.name.startswith("out.") and path.name not in ("home", ".said", ".ses")
    }


def _state(folder: Path, words: list[str]) -> tuple[int, int] | None:
    """What tells the output file from one written since."""
    target = folder / words[words.index("-o") + 1] if "-o" in words else None
    if target is None or not target.exists():
        return None
    status = target.stat()
    return status.st_ino, status.st_mtime_ns


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


def _end_of(child: int, said: Path, before: int) -> tuple[int, float, int, str]:
    _, status, usage = os.wait4(child, 0)
    text = said.read_text(encoding="utf-8", errors="replace")[:2000] if said.exists() else ""
    # a forked process begins with the resident memory of its parent, which is large in a long session
    memory = max(0, usage.ru_maxrss * 1024 - before)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, memory, text


def table(outcomes: Iterable[Outcome], per: str) -> str:
    """Rows of Markdown for each verb or kind of file: files, runs, exit codes, most time, most memory."""
    rows = [
        f"| {per} | files | runs | exit 0 | 1 | 2 | 3 | other | seconds at most | MB at most |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(one.verb if per == "verb" else one.file.partition("/")[0], []).append(one)
    for name, found in sorted(groups.items()):
        codes = [sum(one.code == code for one in found) for code in range(4)]
        rows.append(
            f"| {name} | {len({one.file for one in found})} | {len(found)} | {' | '.join(map(str, codes))} | "
            f"{len(found) - sum(codes)} | {max(one.seconds for one in found):.1f} | "
            f"{max(one.memory for one in found) >> 20} |"
        )
    return "\n".join(rows) + "\n"


def _logged(log: Path) -> list[Outcome]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    found = [Outcome(**json.loads(line)) for line in lines]
    return [replace(one, words=tuple(one.words), left=tuple(one.left)) for one in found]


def main() -> None:
    """Run every verb on every file, tell what is wrong, and print the tables."""
    log, wanted = Path(sys.argv[1]), tuple(sys.argv[2:])
    found = _logged(log)
    with tempfile.TemporaryDirectory() as name, log.open("a", encoding="utf-8") as file:
        folder = Path(name)
        names = [n for n in write_corpus(folder) if not wanted or n.startswith(wanted)]
        done = {_line(one.file, one.words) for one in found}
        for outcome in run_all(folder, names, True, done):
            found.append(outcome)
            file.write(json.dumps(asdict(outcome)) + "\n")
            file.flush()
            if outcome.wrong:
                last = outcome.said.strip().splitlines()
                sys.stderr.write(
                    f"{outcome.wrong}: gslc {' '.join(outcome.words)} ({outcome.seconds:.1f} s, "
                    f"{outcome.memory >> 20} MB): {last[-3:][:1]}\n"
                )
                sys.stderr.flush()
    print(table(found, "files"), table(found, "verb"), sep="\n")


if __name__ == "__main__":
    main()
