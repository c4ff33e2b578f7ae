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
from dataclasses import dataclass, field
from random import Random

from gslang.base.diagnostics import InputError
from tests.hostile.readers import readers

SECONDS = 10  # of processor time that one input may take
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


@dataclass
class Outcome:
    """`done`: reader → inputs, "reader refused" → those of them that it refused.

    `wrong`: what ended otherwise, each as a line.
    """

    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def run(first: int, last: int) -> Outcome:
    """Inputs number `first` to `last`."""
    kinds = [kind for kind, reader in readers().items() for _ in range(reader.share)]
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, _late)
    outcome = Outcome()
    for number in range(first, last):
        random = Random(number)
        kind = kinds[number % len(kinds)]
        data = mutated(random, random.choice(readers()[kind].files))
        outcome.done[kind] += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            readers()[kind].read(data)
        except InputError:
            outcome.done[f"{kind} refused"] += 1
        except (Exception, Hang) as error:
            outcome.wrong.append(f"input {number} ({kind}): {type(error).__name__}: {error}"[:300])
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return outcome


def run_in_processes(count: int, jobs: int, start: int = 0) -> Iterator[Outcome]:
    """`count` inputs in several processes, each of which may take 2 GB; an outcome for each 2,000."""
    from concurrent.futures import ProcessPoolExecutor

    step = 2_000
    bounds = [(k, min(k + step, start + count)) for k in range(start, start + count, step)]
    with ProcessPoolExecutor(jobs, initializer=_limit) as pool:
        yield from pool.map(run, *zip(*bounds))


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def main() -> None:
    """Run, and print rows of Markdown."""
    count, jobs, first = (*map(int, sys.argv[1:]), *(1, 0)[len(sys.argv) - 2 :])
    began, done, wrong = time.time(), Counter[str](), 0
    for outcome in run_in_processes(count, jobs, first):
        done += outcome.done
        wrong += len(outcome.wrong)
        sys.stderr.write("".join(f"{line}\n" for line in outcome.wrong))
        total = sum(done[kind] for kind in readers())
        if total % 50_000 == 0:
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
