"""The `onnx` dialect, from the schemas of the `onnx` package, and onnxruntime's contrib operators."""

from __future__ import annotations

from typing import Final

from gslang.base.cache import cached
from gslang.base.diagnostics import InputError
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.installed import installed_onnx
from gslang.dialect.signature import Signature

INFIX: Final = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "neg": "Neg"}


def onnx_dialect() -> Dialect:
    """The dialect, its signatures remembered between runs. Raises `InputError` if the package is not installed."""
    
    from gslang.dialect.onnx.admission import why_refused
    from gslang.dialect.onnx.contrib import contrib_inference, declarations
    from gslang.dialect.onnx.infer import inference
    from gslang.dialect.onnx.versions import constant_dtype

    installed = installed_onnx()
    if installed is None:
        raise needs_onnx()
    own, contrib = cached("dialect", ("onnx", installed, declarations()), _signatures)
    operators = {s.name: s for s in (*own, *contrib)}
    standard = inference(own)
    return Dialect("onnx", operators, INFIX, {**standard, **contrib_inference(operators, standard)}, why_refused, constant_dtype)


def _signatures() -> tuple[list[Signature], list[Signature]]:
    from gslang.dialect.onnx.contrib import contrib_signatures
    from gslang.dialect.onnx.schemas import signatures

    return signatures(), contrib_signatures()


def needs_onnx(path: str = "") -> InputError:
    return InputError("ONNX models and rules over them need the package `onnx`", path=path, help="pip install 'gslang[onnx]'")
