"""Running ONNX graphs with onnxruntime, as they are written: its own rewriting is switched off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.memory import Memory
from gslang.evaluate.onnx_refusals import refuse
from gslang.formats.onnx.fatal import why_fatal
from gslang.formats.onnx.records import model_record
from gslang.formats.onnx.sessions import error_of, leave_out_unread, session_of
from gslang.formats.onnx.writer import onnx_model
from gslang.graph.graph import Graph

if TYPE_CHECKING:
    from onnx import ModelProto


def runtime_installed() -> bool:
    return find_spec("onnxruntime") is not None


@cache
def newest_opset() -> int:
    """The newest operator set of which the installed onnxruntime loads models; it may be older than the one
    of the `onnx` package.
    """
    import onnx
    import onnxruntime  # type: ignore[import-untyped]

    tensor = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Abs", ["x"], ["y"])], "probe", [tensor], [result])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for version in range(onnx.defs.onnx_opset_version(), 13, -1):
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", version)], ir_version=10
        )
        try:
            onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
            return version
        except Exception:  # it has an exception class for each of its status codes
            continue
    return 13


def run_graph(graph: Graph, inputs: Mapping[str, object], more: Sequence[str] = ()) -> list[object]:
    """The values of a graph's outputs, then those of other values by name.

    Raises `EvaluationError`, `InputError`.
    """
    memory = Memory(graph, inputs)
    memory.check_types(graph)
    return run_model(onnx_model(graph), model_folder(graph), inputs, memory, more)


def model_folder(graph: Graph) -> str:
    """Where the external data of the model that a graph was read from lies; nothing if it has none."""
    record = model_record(graph)
    return "" if record is None else record.folder


def refuse_to_load(model: ModelProto) -> None:
    """Raises `EvaluationError` for a model that onnxruntime does not survive."""
    if why := why_fatal(model):
        raise EvaluationError(why)


def run_model(
    model: ModelProto, folder: str, inputs: Mapping[str, object], memory: Memory, more: Iterable[str] = ()
) -> list[object]:
    """The same of a message, whose external data lies in `folder`, within the limit of `memory`. Raises
    `EvaluationError`.
    """
    import numpy
    import onnxruntime  # type: ignore[import-untyped]

    refuse_to_load(model)
    refuse(model, inputs)
    stated = {value.name for value in model.graph.output}
    wanted = [value.name for value in model.graph.output]
    for name in more:
        wanted.append(name)
        if name not in stated:
            stated.add(name)
            model.graph.output.add(name=name)
    leave_out_unread(model, inputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    if folder:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    try:
        session = session_of(model.SerializeToString(), options, memory, ["CPUExecutionProvider"])
        feeds = {value.name: numpy.asarray(inputs[value.name]) for value in session.get_inputs()}
        return list(_until_a_signal(session, wanted, feeds))
    except EvaluationError:
        raise
    # onnxruntime has an exception class for each of its status codes, and protobuf its own
    except Exception as error:
        raise error_of(error, memory) from error


def _until_a_signal(session: Any, wanted: Sequence[str], feeds: Mapping[str, object]) -> Any:
    """The outputs.

    Computed in a thread of its own: what interrupts this one, a signal or Ctrl-C, ends the run at its next
    node.
    """
    import onnxruntime

    options = onnxruntime.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")  # for what runs next
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(session.run, wanted, feeds, options)
        try:
            return running.result()
        finally:
            options.terminate = True
