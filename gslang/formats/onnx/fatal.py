"""Models that onnxruntime does not survive: it infers types as the `onnx` package does when it loads one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from gslang.dialect.onnx.harmful import FRAGILE, GUARDED, harmful_nodes
from gslang.formats.onnx.in_rounds import Harmful, InRounds, nodes_in
from gslang.formats.onnx.types import without_weights

if TYPE_CHECKING:
    from onnx import ModelProto

_TRIAL: Final = """
import sys
import onnxruntime
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.log_severity_level = 4
try:
    onnxruntime.InferenceSession(sys.stdin.buffer.read(), options, providers=["CPUExecutionProvider"])
except Exception:
    pass
"""


def why_fatal(model: ModelProto) -> str | None:
    """Why onnxruntime would not survive loading a model, or None.

    Where a size that decides it is not known before, a process of its own tries.
    """
    if why := next(harmful_nodes(model), None):
        return why
    calls_decide = any(
        attribute.ref_attr_name
        for function in model.functions for node in nodes_in(function) if node.op_type in GUARDED
        for attribute in node.attribute
    )
    if not calls_decide and not any(
        node.op_type in FRAGILE for part in (model.graph, *model.functions) for node in nodes_in(part)
    ):
        return None
    light = without_weights(model)
    try:
        asked = InRounds(light)
        asked.types()
        asked.types(data_prop=True)
        if asked.is_certain and not calls_decide:
            return None
    except Harmful as error:
        return str(error)
    except Exception:  # the package's own errors, which onnxruntime need not have
        pass
    return None if _survives(light) else "onnxruntime crashes when it loads this model"


def _survives(light: ModelProto) -> bool:
    return (
        subprocess.run(
            [sys.executable, "-c", _TRIAL], input=light.SerializeToString(), check=False, close_fds=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"},
        ).returncode
        == 0
    )
