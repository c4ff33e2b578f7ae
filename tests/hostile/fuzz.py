"""Mutated inputs for every reader, in one process or several: each is read, or refused with an `InputError`;
nothing else.

`python -m tests.hostile.fuzz COUNT [JOBS [FIRST]]` runs COUNT inputs, tells what is wrong, and prints how
many each reader had. An input is known by its number.
"""

from __future__ import annotations

import re
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from random import Random
from typing import Final

from gslang.base.diagnostics import InputError
from tests.hostile.readers import readers

SECONDS = 10  # of processor time that one input may take
_PART: Final = 10_000  # inputs of one process
_SIGNS = [*b"(){}[];,=>.:\"%/-*|?@#_\0\xff\xfe\x80", *b"\x08\x12\x1a\x0a\x7f"]
_WORDS = [
    b"null", b"-1", b"NaN", b"1e999", b"9223372036854775807", b"99999999999999999999", b"none", b" where ",
    b" each ", b"/*", b"\\ud800", b"..", b"0",
]

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
                    data = (
                        data[: found.start()]
                        + random.choice((b"0", b"-1", b"7", b"4294967296", b"9223372036854775807", b"3.5"))
                        + data[found.end() :]
                    )
            case _:
                data = data[:at] if random.random() < 0.2 else data
    return data


def _late(*_: object) -> None:
    raise Hang


End = str  # of an input: nothing if it was read, "refused", or what is wrong


@dataclass
class Outcome:
    """`done`: reader → inputs, "reader refused" → those of them that it refused.

    `wrong`: what ended otherwise, each as a line.
    """

    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, kind: str, end: End) -> None:
        """Count an input."""
        self.done[kind] += 1
        if end == "refused":
            self.done[f"{kind} refused"] += 1
        elif end:
            self.wrong.append(end)


@cache
def _kinds() -> list[str]:
    return [kind for kind, reader in readers().items() for _ in range(reader.share)]


def kind_of(number: int) -> str:
    """The reader that an input is for."""
    return _kinds()[number % len(_kinds())]


def document(number: int) -> bytes:
    """An input by its number."""
    random = Random(number)
    return mutated(random, random.choice(readers()[kind_of(number)].files))


def run(first: int, last: int) -> Outcome:
    """Inputs number `first` to `last`, in this process."""
    outcome = Outcome()
    for number in range(first, last):
        outcome.add(kind_of(number), end_of(number))
    return outcome


def end_of(number: int) -> End:
    """Read an input."""
    kind, data = kind_of(number), document(number)
    signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    signal.setitimer(signal.ITIMER_PROF, 3 * SECONDS)  # ends the process if foreign code does not return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            readers()[kind].read(data)
        return ""
    except InputError:
        return "refused"
    except (Exception, Hang) as error:
        return f"input {number} ({kind}): {type(error).__name__}: {error}"[:300]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def run_in_processes(count: int, jobs: int, start: int = 0) -> Iterator[Outcome]:
    """`count` inputs in several processes, each of which may take 2 GB; an outcome for each part of them.

    An input that ends its process is wrong; another process goes on behind it.
    """
    for reader in readers().values():  # the processes find all modules imported, and rules compiled
        with suppress(InputError):
            reader.read(reader.files[0])
    waiting = [(k, min(k + _PART, start + count)) for k in range(start, start + count, _PART)][::-1]
    running: dict[Connection, tuple[BaseProcess, int, int, Outcome]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            first, last = waiting.pop()
            receiver, process = _started(first, last)
            running[receiver] = process, first, last, Outcome()
        for receiver in wait(list(running)):
            assert isinstance(receiver, Connection)
            process, number, last, outcome = running.pop(receiver)
            try:
                outcome.add(kind_of(number), receiver.recv())
                running[receiver] = process, number + 1, last, outcome
                continue
            except EOFError:
                process.join()
            if number < last:
                why = f"input {number} ({kind_of(number)}): its process ended with {process.exitcode}"
                outcome.add(kind_of(number), why)
                waiting.append((number + 1, last))
            yield outcome


def _started(first: int, last: int) -> tuple[Connection, BaseProcess]:
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, first, last))
    process.start()
    sender.close()
    return receiver, process


def _send(sender: Connection, first: int, last: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    for number in range(first, last):
        sender.send(end_of(number))


def main() -> None:
    """Run, and print rows of Markdown."""
    count, jobs, first = (*map(int, sys.argv[1:]), *(1, 0)[len(sys.argv) - 2 :])
    began, done, wrong = time.time(), Counter[str](), 0
    for outcome in run_in_processes(count, jobs, first):
        done += outcome.done
        wrong += len(outcome.wrong)
        sys.stderr.write("".join(f"{line}\n" for line in outcome.wrong))
        total = sum(done[kind] for kind in readers())
        sys.stderr.write(f"{total:,} inputs, {wrong} wrong, {time.time() - began:.0f} s\n")
        sys.stderr.flush()
    print("| reader | inputs | refused |\n|---|--:|--:|")
    for kind in readers():
        print(f"| {kind} | {done[kind]:,} | {done[f'{kind} refused']:,} |")
    print(
        f"\n{sum(done[kind] for kind in readers()):,} inputs from number {first:,} on, {wrong} of them wrong."
    )


if __name__ == "__main__":
    main()
