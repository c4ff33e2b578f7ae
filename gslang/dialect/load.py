"""The shipped dialects: declarations from `stdlib_rules/NAME/ops.gsl`, inference from `gslang.dialect.NAME`.

`onnx` is declared by the schemas of the package of that name instead, and by `gslang.dialect.onnx`.
"""

from __future__ import annotations

from functools import cache

from gslang.base.cache import cached
from gslang.base.resources import stdlib_path
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Signature


def dialect_names() -> list[str]:
    """The shipped dialects."""
    return sorted({"onnx", *(path.parent.name for path in stdlib_path().glob("*/ops.gsl"))})


@cache
def load_dialect(name: str) -> Dialect:
    """A shipped dialect. Raises `KeyError` if there is none of this name."""
    if name == "onnx":
        from gslang.dialect.onnx import onnx_dialect

        return onnx_dialect()
    path = stdlib_path() / name / "ops.gsl"
    if not path.is_file():
        raise KeyError(name)
    text = path.read_text(encoding="utf-8")
    signatures = cached("dialect", (name, text), lambda: declared_operators(f"stdlib_rules/{name}/ops.gsl", text))
    return Dialect(name, {s.name: s for s in signatures}, infer=_inference(name))


def require_inference(dialect: Dialect) -> None:
    """Raises `InputError` where the types of results cannot be inferred for want of a package."""
    if dialect.name == "onnx":
        from gslang.dialect.onnx import needs_onnx
        from gslang.dialect.onnx.package_schemas import package_installed

        if not package_installed():
            raise needs_onnx()


def _inference(name: str):  # type: ignore[no-untyped-def]
    if name == "relay":
        from gslang.dialect.relay import INFER

        return INFER
    return {}


def declared_operators(path: str, text: str) -> list[Signature]:
    """The signatures of a shipped file of declarations."""
    from gslang.base.source import Source
    from gslang.dialect.declarations import signature_of
    from gslang.syntax import nodes as n
    from gslang.syntax.parser import parse

    parsed = parse(Source(path, text))
    problems = list(parsed.diagnostics)
    signatures = []
    for item in parsed.program.items:
        if isinstance(item, n.OpDecl):
            signature, found = signature_of(item)
            signatures.append(signature)
            problems += found
    if problems:
        shown = "; ".join(f"{d.primary.span}: {d.message}" for d in problems)
        raise AssertionError(f"the shipped dialect does not load: {shown}")
    return signatures
