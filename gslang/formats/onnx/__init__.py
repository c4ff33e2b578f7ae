"""ONNX models: reading and writing. Untouched parts are preserved (`docs/onnx.md`)."""

from __future__ import annotations

from gslang.formats.onnx.reader import read_onnx, read_onnx_bytes
from gslang.formats.onnx.writer import onnx_model, write_onnx

__all__ = ["onnx_model", "read_onnx", "read_onnx_bytes", "write_onnx"]
