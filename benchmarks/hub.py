"""One tensor with 100 to 10,000 users: `python -m benchmarks.hub`.

A pair rule (k/2 matches), a variadic rule (one match of k branches), and both where all shapes differ and
nothing matches. Time per user must be flat. In this process, gslang alone, median of n.
"""

from __future__ import annotations

import argparse

from benchmarks.thesis import rewriting_seconds
from benchmarks.tools.gslang_tool import RULES
from gslang.api import load
from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

SIZES = (100, 300, 1000, 3000, 10_000)
FLAT_AT_MOST = 2.0


def hub(users: int, alike: bool) -> Graph:
    """`users` dense layers of one tensor; their weights all of one shape, or no two alike."""
    b = Builder(load_dialect("relay"), "hub")
    x = b.input("x", (2, 4))
    return b.finish(
        *(b.call("nn.dense", x, b.param(f"w{k}", (3 if alike else k + 1, 4))) for k in range(users))
    )


def expected_matches(rule: str, users: int, alike: bool) -> int:
    return 0 if not alike else users // 2 if rule == "hub_pair" else 1


def measure(rule: str, alike: bool, sizes: tuple[int, ...], rounds: int) -> bool:
    """One line per size, then whether time per user is flat."""
    rules = load(RULES / f"{rule}.gsl")
    what = f"{rule}, {'all alike' if alike else 'nothing matches'}"
    per_user = []
    ok = True
    for users in sizes:
        seconds, applications = rewriting_seconds(rules, hub(users, alike), rounds)
        ok &= applications == expected_matches(rule, users, alike)
        per_user.append(seconds / users * 1e6)
        print(
            f"{what}: {users:6d} users, {applications} applications, {seconds * 1e3:8.1f} ms, "
            f"{per_user[-1]:6.2f} µs per user",
            flush=True,
        )
    growth = per_user[-1] / per_user[0]
    flat = ok and growth <= FLAT_AT_MOST
    print(
        f"{'PASS' if flat else 'FAIL'}  {what}: time per user ×{growth:.2f} from {sizes[0]} to {sizes[-1]} "
        f"users, at most {FLAT_AT_MOST:g}",
        flush=True,
    )
    return flat


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    results = [
        measure(rule, alike, tuple(a.users), a.rounds)
        for rule in ("hub_pair", "hub_variadic")
        for alike in (True, False)
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
