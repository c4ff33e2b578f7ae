"""ONNX's protobuf classes without the rest of the `onnx` package, whose import takes longer than many a run.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

_CLASSES: Final = "onnx.onnx_ml_pb2"


@cache
def messages() -> Any:
    """A module with `ModelProto`, `NodeProto` and so on: the very classes that `import onnx` gives, before or
    after.

    Raises `ImportError` where the package is missing.
    """
    found = None if "onnx" in sys.modules else find_spec("onnx")
    path = None if found is None or found.origin is None else Path(found.origin).with_name("onnx_ml_pb2.py")
    spec = None if path is None or not path.is_file() else spec_from_file_location(_CLASSES, path)
    if spec is not None and spec.loader is not None and _CLASSES not in sys.modules:
        module = sys.modules[_CLASSES] = module_from_spec(spec)  # the package takes it from there
        try:
            spec.loader.exec_module(module)
            return module
        except Exception:  # a package that keeps its classes otherwise
            del sys.modules[_CLASSES]
    import onnx

    return onnx


def operator_set(domain: str, version: int) -> Any:
    """An `OperatorSetIdProto`."""
    return messages().OperatorSetIdProto(domain=domain, version=version)
