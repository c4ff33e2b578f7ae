"""ONNX's protobuf classes and its compiled part, without the rest of the `onnx` package, whose import takes
longer than many a run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def messages() -> Any:
    """A module with `ModelProto`, `NodeProto` and so on: the very classes that `import onnx` gives, before or
    after.

    Raises `ImportError` where the package is missing.
    """
    module = _alone("onnx_ml_pb2", [".py"])
    if module is not None:
        return module
    import onnx

    return onnx


@cache
def compiled() -> Any:
    """The package's compiled part, with `defs` (schemas) and `shape_inference`, which take serialized
    messages: the very module that `import onnx` gives, before or after.

    Raises `ImportError` where the package is missing.
    """
    module = _alone("onnx_cpp2py_export", EXTENSION_SUFFIXES)
    if module is not None:
        return module
    from onnx import onnx_cpp2py_export

    return onnx_cpp2py_export


def _alone(name: str, suffixes: Iterable[str]) -> ModuleType | None:
    """A module of the package, loaded without the package, which takes it from `sys.modules` if it is loaded
    later; None where that cannot be done.
    """
    full = f"onnx.{name}"
    if full in sys.modules:
        return sys.modules[full]
    found = None if "onnx" in sys.modules else find_spec("onnx")
    folder = None if found is None or found.origin is None else Path(found.origin).parent
    paths = [] if folder is None else [folder / (name + suffix) for suffix in suffixes]
    path = next((path for path in paths if path.is_file()), None)
    spec = None if path is None else spec_from_file_location(full, path)
    if spec is None or spec.loader is None:
        return None
    try:
        module = sys.modules[full] = module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception:  # a package that keeps its parts otherwise
        sys.modules.pop(full, None)
        return None
    if _Attaching not in sys.meta_path:
        sys.meta_path.insert(0, _Attaching)
    return module


class _Attaching:
    """A finder that gives the package, when it is imported later, the parts that are there already as its
    attributes. Python does so only for parts that are loaded after it.
    """

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "onnx":
            return None
        others = [finder.find_spec for finder in sys.meta_path if finder is not cls]
        spec = next((spec for find in others if (spec := find(name, path, target)) is not None), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(package: ModuleType) -> None:
                sys.meta_path.remove(cls)
                for full, part in list(sys.modules.items()):
                    if full.startswith("onnx."):
                        setattr(package, full[len("onnx.") :], part)
                run(package)

            spec.loader.exec_module = exec_module  # type: ignore[assignment, method-assign]
        return spec


def operator_set(domain: str, version: int) -> Any:
    """An `OperatorSetIdProto`."""
    return messages().OperatorSetIdProto(domain=domain, version=version)
