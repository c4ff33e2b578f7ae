"""Runs `gslc` over and over, killed at the n-th of its steps on files: `python kill_points.py FOLDER SIGNAL…
-- ARGUMENTS`.

Each run is a fork of this process, which has done it once. Before each run the files of `FOLDER.start` are
laid down anew; after it a line of JSON tells the signal, the step, how the process ended and what is in the
folder. The last run of a signal has no such step.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

STEPS = ("open", "os.rename", "os.remove", "os.chmod", "os.mkdir")


def content(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*")) if p.is_file()
    }


def lay_down(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(f"{folder}.start", folder)


def run(folder: Path, number: int, step: int, arguments: Sequence[str]) -> int:
    """The status of a process that gets the signal at a step, before it is done."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    from gslang.cli.main import main

    count = 0

    def watch(event: str, values: tuple[object, ...]) -> None:
        nonlocal count
        if (
            event not in STEPS or event == "open"
            and not (isinstance(values[2], int) and values[2] & (os.O_WRONLY | os.O_RDWR))
        ):
            return
        count += 1
        if count == step:
            os.kill(os.getpid(), number)

    sys.addaudithook(watch)
    sys.argv = ["gslc", *arguments]
    code = 4
    try:
        code = main()
    finally:
        os._exit(code)


def every_step(folder: Path, number: int, arguments: Sequence[str]) -> None:
    step = ended = 0
    while ended != "whole":
        step += 1
        lay_down(folder)
        status = run(folder, number, step, arguments)
        ended = "signal" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if ended == 0:
            ended = "whole"
        print(
            json.dumps({"signal": number, "step": step, "ended": ended, "files": content(folder)}), flush=True
        )


def main_loop() -> None:
    split = sys.argv.index("--")
    folder, names, arguments = Path(sys.argv[1]), sys.argv[2:split], sys.argv[split + 1 :]
    from gslang.cli.main import main

    # a background job of a shell starts with it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    lay_down(folder)
    os.chdir(folder)
    with (
        open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere),
        contextlib.redirect_stdout(nowhere),
    ):
        main(arguments)  # what is loaded now is loaded in each fork
    os.chdir("/")
    for name in names:
        every_step(folder, int(signal.Signals[name]), arguments)


if __name__ == "__main__":
    main_loop()
