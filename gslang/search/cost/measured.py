"""`ort-cpu`: microseconds of processor time that a call takes in onnxruntime on one core of this machine,
measured once and kept. What is chosen by such costs is measured as a whole too.

Weights are cold: a model has as many copies of the call, each with weights of its own, as a cache does not
hold, and its time is shared among them. A network streams its weights through the cache likewise; measured
alone, a call would find its weights there. The lower quartile of several runs counts. onnxruntime's own
rewriting is off: what a call costs is what its kernel costs.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Callable
from hashlib import sha256
from math import prod
from pathlib import Path
from statistics import quantiles
from time import process_time
from typing import Any, Final

from gslang.base.cache import cache_folder
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.versions import OPSETS
from gslang.dialect.tensor_type import TensorType, TupleType, Type, is_static
from gslang.evaluate.memory import Memory
from gslang.evaluate.random_inputs import random_inputs
from gslang.formats.onnx.latency import LEVELS
from gslang.formats.onnx.runtime import newest_opset, refuse_to_load
from gslang.formats.onnx.sessions import session_of
from gslang.formats.onnx.writer import onnx_model
from gslang.graph.graph import Graph
from gslang.search.cost.relay_in_onnx import NotInOnnx, relay_in_onnx
from gslang.search.cost.whole_graph import NOISE, relative_time, runnable
from gslang.search.cost.work import RENAMES, Call, bytes_of, unknown

_COLD: Final = 64 << 20  # bytes of weights, and of results, of all copies together
_MOST_COPIES: Final = 32
_RUNS: Final = 9
_LEAST_SECONDS: Final = 0.02  # of all runs that count
_ENOUGH_SECONDS: Final = 0.3  # after which fewer runs do


class MeasuredCosts:
    """The table `ort-cpu`. `measure`: call → microseconds, for those that no earlier run has measured."""

    name, unit, weights = "ort-cpu", "µs", "free"

    def __init__(self, measure: Callable[[Call], float] | None = None, path: Path | None = None) -> None:
        folder = cache_folder()
        self._measure = measure or measure_call
        self._path = path or (None if folder is None else folder / "ort-cpu.sqlite")
        self._known: dict[str, float] = {} if self._path is None else _stored(self._path)

    def cost(self, call: Call) -> float:
        """Raises `UnknownCost` for a call that onnxruntime cannot run."""
        if call.operator in RENAMES:
            return 0.0
        key = call_key(call)
        if key not in self._known:
            self._known[key] = found = self._measure(call)
            if self._path is not None:
                _store(self._path, key, found)
        return self._known[key]

    def slowdown(self, before: Graph, after: Graph, dialect: Dialect) -> float | None:
        """The time of `after` as a multiple of that of `before`, with onnxruntime's own rewriting, if it
        takes longer beyond noise. None too for graphs that cannot be run as a whole. Measured once and kept.
        """
        import onnxruntime  # type: ignore[import-untyped]

        digest = sha256("".join(map(_shown, (before, after))).encode()).hexdigest()
        key = json.dumps([f"slowdown {digest}", onnxruntime.__version__, _machine()])
        if key not in self._known:
            try:
                wholes = runnable(before, dialect), runnable(after, dialect)
                found = relative_time(*wholes, lambda graph: seconds_of(graph, "all"))
            except Exception:  # onnxruntime has an exception class for each of its status codes
                return None
            self._known[key] = found
            if self._path is not None:
                _store(self._path, key, found)
        return self._known[key] if self._known[key] > NOISE else None


def _stored(path: Path) -> dict[str, float]:
    """The measurements in a file; none if it cannot be read."""
    try:
        with sqlite3.connect(path, timeout=10) as db:
            db.execute("create table if not exists costs (call text primary key, microseconds real not null)")
            return {
                str(key): float(value)
                for key, value in db.execute("select call, microseconds from costs") if value >= 0
            }
    except (sqlite3.Error, TypeError, ValueError):
        return {}


def _store(path: Path, key: str, microseconds: float) -> None:
    try:
        with sqlite3.connect(path, timeout=10) as db:
            db.execute("insert or ignore into costs values (?, ?)", (key, microseconds))
    except sqlite3.Error:
        pass  # it will be measured again


def call_key(call: Call) -> str:
    """A text that is equal for calls that cost the same: operator, types, attributes, which operands are
    weights, versions, machine.
    """
    import onnxruntime

    attrs = sorted((name, repr(value)) for name, value in call.attrs.items())
    types = [str(type) for type in (*call.operands, call.result)]
    values = sorted((k, value.dtype.str, value.tolist()) for k, value in call.values.items())
    return json.dumps(
        [call.operator, types, attrs, list(call.fixed), values, onnxruntime.__version__, _machine()]
    )


def _shown(graph: Graph) -> str:
    """A text that is equal for graphs of the same calls; numbers of weights take no time."""
    order = graph.reverse_post_order()
    number = {node: k for k, node in enumerate(order)}
    lines = [
        f"{graph.op[node]} {[number.get(o) for o in graph.operands[node]]} {graph.types[node]} "
        f"{sorted((name, repr(value)) for name, value in graph.attrs[node].items())}"
        for node in order
    ]
    return "\n".join([*lines, str([number[output] for output in graph.outputs]), ""])


def _machine() -> str:
    """The processor's name, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return f"{platform.machine()} {platform.processor() or os.name}"


# ── measuring ───────────────────────────────────────────────────────────────────────────────────────────────


def measure_call(call: Call) -> float:
    """Microseconds of processor time of one call. Raises `UnknownCost` if it cannot be run."""
    try:
        copies = _copies(call)
        graph = _copied(call, copies)
        if graph.dialect != "onnx":
            graph = relay_in_onnx(graph, call.dialect)
        graph.meta[OPSETS] = {"": newest_opset(), "com.microsoft": 1}
        return seconds_of(graph) / copies * 1e6
    except NotInOnnx as error:
        raise unknown(call, f"onnxruntime has no {error}") from None
    except Exception as error:  # onnxruntime has an exception class for each of its status codes
        reason = str(error).strip().splitlines()
        raise unknown(
            call, f"onnxruntime cannot run it: {reason[0] if reason else type(error).__name__}"
        ) from None


def seconds_of(graph: Graph, level: str = "none") -> float:
    """Processor time of one run of an ONNX graph on one core, the lower quartile of several.

    `level`: one of `latency.LEVELS`. Raises `EvaluationError` for one that onnxruntime does not survive, and
    what onnxruntime raises.
    """
    import onnxruntime

    model = onnx_model(graph)
    refuse_to_load(model)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[level])
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    feeds = random_inputs(graph)
    memory = Memory(graph, feeds)
    memory.check_types(graph)
    session = session_of(model.SerializeToString(), options, memory, ["CPUExecutionProvider"])
    binding = session.io_binding()
    for value in session.get_inputs():
        binding.bind_cpu_input(value.name, feeds[value.name])
    for value in session.get_outputs():
        binding.bind_output(value.name)
    seconds: list[float] = []
    while len(seconds) < 4 or sum(seconds[1:]) < (
        _LEAST_SECONDS if len(seconds) > _RUNS else _ENOUGH_SECONDS
    ):
        began = process_time()
        session.run_with_iobinding(binding)
        seconds.append(process_time() - began)
    return quantiles(seconds[1:], n=4)[0]  # the first run allocates


def _copies(call: Call) -> int:
    weights = sum(_bytes(type) for type, fixed in zip(call.operands, call.fixed) if fixed)
    size = weights + _bytes(call.result)
    return max(2, min(_MOST_COPIES, _COLD // max(size, 1)))


def _bytes(type: Type | None) -> int:
    return 0 if type is None else bytes_of(type)


def _copied(call: Call, copies: int) -> Graph:
    """A graph with a call several times: operands that are weights differ, others are shared inputs."""
    graph = Graph(call.dialect.name, "call")
    shared: dict[int, int] = {}
    outputs: list[int] = []
    for copy in range(copies):
        operands = []
        for k, type in enumerate(call.operands):
            if type is None:
                operands.append(-1)
            elif k in call.values:
                operands.append(graph.add_const(call.values[k], type))
            elif k < len(call.fixed) and call.fixed[k]:
                operands.append(_leaf(graph, f"w{k}_{copy}", type, copy + 1))
            else:
                operands.append(
                    shared[k] if k in shared else shared.setdefault(k, _leaf(graph, f"x{k}", type, None))
                )
        node = graph.add(call.operator, operands, call.attrs, call.result)
        if isinstance(call.result, TupleType):
            wanted = [k for k, field in enumerate(call.result.fields) if field is not None]
            outputs += [graph.add_proj(node, k, type=call.result.fields[k]) for k in wanted]
        else:
            outputs.append(node)
    graph.set_outputs(outputs)
    return graph


def _leaf(graph: Graph, name: str, type: Type, seed: int | None) -> int:
    """An input, or a constant with random values where there is a seed; a tuple of them for a tuple."""
    if isinstance(type, TupleType):
        return graph.add_tuple(
            [
                _leaf(graph, f"{name}_{k}", field, seed)
                for k, field in enumerate(type.fields) if field is not None
            ],
            type=type,
        )
    if seed is None:
        return graph.add_input(name, type)
    return graph.add_const(_random(type, seed), type)


def _random(type: TensorType, seed: int) -> Any:
    import numpy

    from gslang.dialect.dtypes import numpy_dtype

    if not is_static(type.shape):
        raise NotInOnnx("operand of unknown shape")
    dtype = numpy_dtype(type.dtype or "float32")
    values = numpy.random.default_rng(seed).random(prod(type.shape), dtype=numpy.float32)  # type: ignore[arg-type]
    return (values if dtype.kind == "f" else values * 2).astype(dtype).reshape(type.shape)  # type: ignore[arg-type]
