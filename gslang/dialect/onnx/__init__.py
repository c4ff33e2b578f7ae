"""The `onnx` dialect, from the schemas of ONNX (`schemas.json`), and onnxruntime's contrib operators.

Rules are checked, linted and formatted without the `onnx` package; models, and types of results, need it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from gslang.base.cache import cached
from gslang.base.diagnostics import InputError
from gslang.base.lazy_mapping import LazyMapping
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Signature

INFIX: Final = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "neg": "Neg"}


def onnx_dialect() -> Dialect:
    """The dialect; the declarations of contrib operators and the domains of attributes are remembered between
    runs. The signature of an operator of ONNX's own is made when it is first asked for.
    """
    from gslang.dialect.onnx.admission import why_refused
    from gslang.dialect.onnx.contrib import contrib_inference, contrib_signatures, declarations
    from gslang.dialect.onnx.infer import inference
    from gslang.dialect.onnx.schemas import declared_domains, read_domains, signature_of
    from gslang.dialect.onnx.versions import history

    domains = cached("domains", (declared_domains(),), read_domains)
    contrib = {s.name: s for s in cached("dialect", ("onnx", declarations()), contrib_signatures)}
    own = history().operators.keys()

    def signature(name: str, declared: Signature | None) -> Signature:
        return signature_of(name, domains) if declared is None else declared

    operators = LazyMapping({**dict.fromkeys(own), **contrib}, signature)
    standard = inference(operators, own)
    inferences = {**standard, **contrib_inference(operators, standard)}
    return Dialect("onnx", operators, INFIX, inferences, partial(why_refused, operators))


def needs_onnx(path: str = "") -> InputError:
    return InputError(
        "ONNX graphs, and testing and verifying rules over them, need the package `onnx`", path=path,
        help="pip install 'gslang[onnx]'",
    )
