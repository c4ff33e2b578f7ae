"""Memory of one rewriting as Python allocates it: `python -m benchmarks.memory JOB NODES` prints two numbers,
bytes per node of the graph (parameters are nodes too), and of what rewriting takes at its peak beyond it (the
copy that it works on included).
"""

from __future__ import annotations

import gc
import sys
import tracemalloc

from benchmarks.cell import WARM_UP_NODES
from benchmarks.families import FAMILY_OF_JOB
from benchmarks.models import model_file
from benchmarks.tools.gslang_tool import Gslang


def bytes_per_node(job: str, nodes: int) -> tuple[float, float]:
    tool = Gslang()
    tool.prepare()
    rules = tool.rules(job)
    family = FAMILY_OF_JOB[job]
    tool.rewrite(tool.load(str(model_file(family, WARM_UP_NODES, "json")), job), rules)
    path = str(model_file(family, nodes, "json"))
    gc.collect()
    tracemalloc.start()
    graph = tool.load(path, job)
    gc.collect()
    loaded = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    tool.rewrite(graph, rules)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return loaded / len(graph), (peak - loaded) / len(graph)


if __name__ == "__main__":
    print(*bytes_per_node(sys.argv[1], int(sys.argv[2])))
