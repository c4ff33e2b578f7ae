"""Sessions of onnxruntime: of what has values, and with tensors that take no more memory than a limit, that
of the arena they lie in.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, Final

from gslang.dialect.onnx.attributes import free_names, graphs_of
from gslang.evaluate.errors import EvaluationError, TooMuchMemoryError
from gslang.evaluate.memory import Memory

if TYPE_CHECKING:
    from onnx import ModelProto

_FULL: Final = "is smaller than requested bytes"  # says onnxruntime of an arena


def session_of(data: bytes, options: Any, memory: Memory, providers: Sequence[str]) -> Any:
    """A session for a serialized model. Raises what onnxruntime raises, which `error_of` puts into words."""
    import onnxruntime  # type: ignore[import-untyped]

    if _arena(memory.most + memory.given):
        options.add_session_config_entry("session.use_env_allocators", "1")
    return onnxruntime.InferenceSession(data, options, providers=list(providers))


def leave_out_unread(model: ModelProto, given: Container[str]) -> None:
    """Remove inputs that are not `given`, and nodes that read these: onnxruntime asks also for inputs that no
    output needs. Raises `EvaluationError` for one that an output does need.
    """
    graph = model.graph
    stated = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    missing = [v.name for v in graph.input if v.name not in given and v.name not in stated]
    if not missing:
        return
    gone, nodes = {name: name for name in missing}, []
    for node in graph.node:
        read = [*node.input, *(name for inner in graphs_of(node) for name in free_names(inner))]
        needed = next((gone[name] for name in read if name in gone), None)
        if needed is None:
            nodes.append(node)
        else:
            gone.update((name, needed) for name in node.output if name)
    for output in graph.output:
        if output.name in gone:
            raise EvaluationError(f"input `{gone[output.name]}` has no value")
    inputs = [value for value in graph.input if value.name not in gone]
    del graph.node[:], graph.input[:]
    graph.node.extend(nodes)
    graph.input.extend(inputs)


def _arena(most: int) -> bool:
    """Put an arena of at most `most` bytes in the place of the one for new sessions; earlier sessions keep
    theirs. False where onnxruntime is too old for a second one.
    """
    import onnxruntime

    place = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    # extended by what is asked for, not by powers of two, which would reach the limit long before
    size = onnxruntime.OrtArenaCfg({
        "max_mem": most, "arena_extend_strategy": 1, "initial_chunk_size_bytes": -1,
        "max_dead_bytes_per_chunk": -1,
    })
    try:
        onnxruntime.create_and_register_allocator(place, size)
    except Exception:  # it has an exception class for each of its status codes
        return False
    return True


def error_of(error: Exception, memory: Memory) -> EvaluationError:
    """An error with what onnxruntime raised in one line."""
    reason = str(error).strip().splitlines()
    if _FULL in str(error):
        return TooMuchMemoryError(f"onnxruntime: {memory.limit}")
    return EvaluationError(f"onnxruntime: {reason[0] if reason else type(error).__name__}")
