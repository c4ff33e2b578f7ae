"""Sessions of onnxruntime whose tensors take no more memory than a limit: that of the arena they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gslang.evaluate.errors import EvaluationError, TooMuchMemoryError
from gslang.evaluate.memory import Memory

_FULL: Final = "is smaller than requested bytes"  # says onnxruntime of an arena


def session_of(data: bytes, options: Any, memory: Memory, providers: Sequence[str]) -> Any:
    """A session for a serialized model. Raises what onnxruntime raises, which `error_of` puts into words."""
    import onnxruntime  # type: ignore[import-untyped]

    if _arena(memory.most + memory.given):
        options.add_session_config_entry("session.use_env_allocators", "1")
    return onnxruntime.InferenceSession(data, options, providers=list(providers))


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
