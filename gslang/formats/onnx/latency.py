"""Latency of ONNX graphs in onnxruntime, before and after: sessions run in turn, so that the load of the
machine affects all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.evaluate.memory import Memory
from gslang.evaluate.onnx_refusals import refuse
from gslang.evaluate.times import Change, Times, change
from gslang.formats.onnx.runtime import model_folder, refuse_to_load
from gslang.formats.onnx.sessions import error_of, leave_out_unread, session_of
from gslang.formats.onnx.writer import onnx_model
from gslang.graph.graph import Graph

LEVELS: Final = {
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
"""onnxruntime's optimization level on loading a model; `all` is its default."""
LEAST_ROUNDS: Final = 11
MOST_ROUNDS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings of a measurement: `rounds`, or as many as fit into `seconds`; `warm_up` more come first and do
    not count."""

    provider: str = "CPUExecutionProvider"
    level: str = "all"
    threads: int = 0
    warm_up: int = 5
    rounds: int | None = None
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Times of a model, and after rules have changed it; `change` compares them."""

    version: str
    setting: Setting
    before: Times
    after: Times | None = None
    change: Change | None = None

    def report(self) -> dict[str, object]:
        """As JSON says it, times in seconds."""
        found: dict[str, object] = {
            "measured": True,
            "runtime": f"onnxruntime {self.version}",
            "provider": self.setting.provider,
            "level": self.setting.level,
            "threads": self.setting.threads,
            "before": self.before.report(),
        }
        if self.after is not None and self.change is not None:
            found |= {"after": self.after.report(), **self.change.report()}
        return found


def full_provider(name: str) -> str:
    """The execution provider that a name or its beginning (`cpu`, `CUDA`) means.

    Raises `InputError` if onnxruntime here has none.
    """
    import onnxruntime  # type: ignore[import-untyped]

    there: dict[str, str] = {provider.lower(): provider for provider in onnxruntime.get_available_providers()}
    wanted = name.lower()
    if found := there.get(wanted) or there.get(f"{wanted}executionprovider"):
        return found
    short = [provider.removesuffix("ExecutionProvider") for provider in there.values()]
    guess = did_you_mean(name, [*there.values(), *short])
    raise InputError(
        f"onnxruntime has no execution provider `{name}` here",
        help=f"did you mean `{guess}`?" if guess else f"there are: {', '.join(there.values())}",
    )


def measure_latency(
    before: Graph,
    after: Graph | None,
    inputs: Mapping[str, object],
    setting: Setting,
) -> Latency:
    """Times of runs on the same inputs. Raises `InputError`, `EvaluationError`."""
    import onnxruntime

    memory = Memory(before, inputs)
    graphs = [before] if after is None else [before, before, after]
    sessions = [_session(graph, inputs, setting, memory) for graph in graphs]
    runs = [_run(session, inputs, memory) for session in sessions]
    times = _take_turns(runs, setting, perf_counter)
    if after is None:
        return Latency(onnxruntime.__version__, setting, times[0])
    return Latency(onnxruntime.__version__, setting, times[0], times[2], change(*times))


def _take_turns(
    runs: list[Callable[[], object]], setting: Setting, clock: Callable[[], float]
) -> list[Times]:
    """Times of each of the runs; every round has all of them, each time beginning with another."""
    for _ in range(setting.warm_up):
        for run in runs:
            run()
    seconds: list[list[float]] = [[] for _ in runs]
    end, number = clock() + setting.seconds, 0
    while (
        number < setting.rounds if setting.rounds is not None
        else number < LEAST_ROUNDS or clock() < end and number < MOST_ROUNDS
    ):
        for k in range(len(runs)):
            turn = (number + k) % len(runs)
            began = clock()
            runs[turn]()
            seconds[turn].append(clock() - began)
        number += 1
    return [Times(tuple(found)) for found in seconds]


def _run(session: Any, inputs: Mapping[str, object], memory: Memory) -> Callable[[], object]:
    import numpy

    feeds = {value.name: numpy.asarray(inputs[value.name]) for value in session.get_inputs()}

    def run() -> object:
        try:
            return session.run(None, feeds)
        except Exception as error:  # onnxruntime has an exception class for each of its status codes
            raise error_of(error, memory) from error

    return run


def _session(graph: Graph, inputs: Mapping[str, object], setting: Setting, memory: Memory) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[setting.level])
    options.log_severity_level = 4
    options.intra_op_num_threads = setting.threads
    if folder := model_folder(graph):
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    model = onnx_model(graph)
    leave_out_unread(model, inputs)
    memory.check_types(graph)
    refuse_to_load(model)
    refuse(model, inputs)
    providers = list(dict.fromkeys([setting.provider, "CPUExecutionProvider"]))
    try:
        session = session_of(model.SerializeToString(), options, memory, providers)
    except Exception as error:  # as above, and protobuf has its own
        raise error_of(error, memory) from error
    if session.get_providers()[0] != setting.provider:
        raise InputError(
            f"onnxruntime cannot run this model with {setting.provider}",
            help="remove --provider to measure on the CPU",
        )
    return session

