"""Which version of the `onnx` package is installed, found without loading it."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def installed_onnx() -> str | None:
    """The package's version, or None if it is not installed."""
    spec = find_spec("onnx")
    if spec is None or spec.origin is None:
        return None
    found = sorted(path.name for path in Path(spec.origin).parent.parent.glob("onnx-*.dist-info"))
    if len(found) == 1:
        return found[0][len("onnx-") : -len(".dist-info")]
    from importlib.metadata import PackageNotFoundError, version  # which takes longer to load than all else here

    try:
        return version("onnx")
    except PackageNotFoundError:
        return None
