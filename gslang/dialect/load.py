"""The shipped dialects: declarations from `stdlib_rules/NAME/ops.gsl`, inference from `gslang.dialect.NAME`.

`onnx` is declared by the schemas of the package of that name instead, and by `gslang.dialect.onnx`.
"""

from __future__ import annotations

import copyreg
from functools import cache

from gslang.base.cache import cached
from gslang.base.diagnostics import InputError
from gslang.base.plain_data import declare_form
from gslang.base.resources import stdlib_path
from gslang.dialect.dialect import Dialect
from gslang.dialect.shipped import declared_operators
from gslang.dialect.signature import Signature


def dialect_names() -> list[str]:
    """The shipped dialects."""
    return sorted({"onnx", *(path.parent.name for path in stdlib_path().glob("*/ops.gsl"))})


_LONGEST_NAME = 100  # characters of the name of a dialect


@cache
def load_dialect(name: str) -> Dialect:
    """A shipped dialect. Raises `KeyError` if there is none of this name."""
    if name == "onnx":
        from gslang.dialect.onnx import onnx_dialect

        return onnx_dialect()
    path = stdlib_path() / name / "ops.gsl"
    if not name.isidentifier() or len(name) > _LONGEST_NAME or not path.is_file():
        raise KeyError(name)
    text = path.read_text(encoding="utf-8")
    signatures = cached(
        "dialect", (name, text), lambda: declared_operators(f"stdlib_rules/{name}/ops.gsl", text)
    )
    return Dialect(name, {s.name: s for s in signatures}, infer=_inference(name))


def of_other_dialect(graph_is: str, dialect: str, rules: Dialect, path: str) -> InputError:
    """The error that a graph is of another dialect than the rules; `graph_is`: “ONNX models are”."""
    return InputError(
        f"{graph_is} of dialect `{dialect}`, the rules are of dialect `{rules.name}`", path=path,
        help=f"begin the rule file with `dialect {dialect};`, or use the shipped rules: `std.{dialect}`",
    )


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


# ── storing ─────────────────────────────────────────────────────────────────────────────────────────────────


def _parts(dialect: Dialect) -> tuple[str, tuple[Signature, ...]]:
    return dialect.name, dialect.added


def _restored(name: str, added: tuple[Signature, ...]) -> Dialect:
    """Shipped dialects are loaded, not stored: their inference is code."""
    dialect = load_dialect(name)
    return dialect.with_operators(added) if added else dialect


declare_form(Dialect, _parts, lambda parts: _restored(*parts), home=__name__)
copyreg.pickle(Dialect, lambda dialect: (_restored, _parts(dialect)))
