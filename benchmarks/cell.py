"""One measurement in a process of its own: `python -m benchmarks.cell TOOL JOB NODES …` prints one line of
JSON.

Two modes. `inside`: rules and graph are made, the rules are run on a small graph (so that nothing is
loaded or compiled for the first time on the clock), then each step is timed, and the result is counted.
`whole`: the steps and no others; the process that starts it measures the time. The process ends without
tearing down its graph.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import sys
from time import perf_counter, process_time

from benchmarks.families import FAMILY_OF_JOB, family_of
from benchmarks.tools import TOOLS, make_tool

WARM_UP_NODES = 24
WARM_UPS = 6  # gslang makes code for a rule when it has matched some times
DEEP = 100_000  # levels of recursion: some tools walk their graphs recursively


def measure(
    name: str, job: str, nodes: int, path: str, small: str, out: str, inside: bool
) -> dict[str, object]:
    """Seconds per step, what was found, peak memory in MB before and after rewriting."""
    clock = perf_counter
    tool = make_tool(name)
    t0 = clock()
    tool.prepare()
    t1 = clock()
    rules = tool.rules(job)
    t2 = clock()
    if inside:
        for _ in range(WARM_UPS):
            tool.rewrite(tool.load(small, job), rules)
        gc.collect()
    t3 = clock()
    graph = tool.load(path, job)
    t4 = clock()
    if inside:
        gc.collect()
    before = peak_megabytes()
    t5, cpu = clock(), process_time()
    result = tool.rewrite(graph, rules)
    t6, cpu = clock(), process_time() - cpu
    after = peak_megabytes()
    t7 = clock()
    tool.save(result, out)
    t8 = clock()
    found: dict[str, object] = {
        "import_s": t1 - t0,
        "rules_s": t2 - t1,
        "load_s": t4 - t3,
        "rewrite_s": t6 - t5,
        "save_s": t8 - t7,
        "rewrite_cpu_s": cpu,
        "memory_loaded_mb": before,
        "memory_rewritten_mb": after,
    }
    if inside:
        family = family_of(job)
        counts = tool.operators(result)
        left = sum(counts[op] for op in family.target)
        found["complete"] = left == family.after * family.blocks(nodes)
        found["left"] = left
        if hasattr(tool, "matches"):
            found["matches"] = tool.matches
            found["complete"] = found["complete"] and tool.matches == family.expected_matches(nodes)
    return found


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("job", choices=FAMILY_OF_JOB)
    parser.add_argument("nodes", type=int)
    parser.add_argument("path")
    parser.add_argument("small")
    parser.add_argument("out")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--memory-mb", type=int, default=0)
    a = parser.parse_args()
    if a.memory_mb:
        resource.setrlimit(resource.RLIMIT_AS, (a.memory_mb << 20, a.memory_mb << 20))
    sys.setrecursionlimit(DEEP)
    found = measure(a.tool, a.job, a.nodes, a.path, a.small, a.out, not a.whole)
    with open(a.out + ".found", "w", encoding="utf-8") as file:  # not standard output: tools print there
        json.dump(found, file)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
