"""The operator sets and the IR version of a written model: those it had, and the needs of its new parts.

Before IR version 4 every initializer is an input too. A new initializer that were one would change the
model's interface, and a `Constant` node in its place would be a node more than before; so a model with new
initializers has IR version 4, which says nothing else about older parts. Operator sets are stated since IR
version 3, which models before it have implied version 1 of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from onnx import ModelProto

from gslang.base.diagnostics import InputError
from gslang.dialect.onnx.messages import operator_set

_INITIALIZERS_ALONE: Final = 4  # the first IR version in which an initializer need not be an input
_OPERATOR_SETS: Final = 3  # the first IR version in which a model imports operator sets


def plain_domain(domain: str) -> str:
    """The one name of a domain: the default one has two."""
    return "" if domain == "ai.onnx" else domain


def imported_sets(model: ModelProto, path: str) -> dict[str, int]:
    """Domain → version of the operator sets that a model imports. Raises `InputError` if it says none."""
    found = {plain_domain(entry.domain): entry.version for entry in model.opset_import}
    if not found:
        if model.ir_version >= _OPERATOR_SETS:
            help = "the version of its operators is unknown; `onnx.checker` reports the same"
            raise InputError("the model imports no operator set", path=path, help=help)
        found[""] = 1
    return found


def import_operator_sets(model: ModelProto, opsets: Mapping[str, int]) -> None:
    """Import what `opsets` has and the model has not (domain → version, the default domain is "")."""
    known = {plain_domain(entry.domain) for entry in model.opset_import}
    missing = {domain: version for domain, version in opsets.items() if domain not in known}
    if _implies_operator_set(model) and missing == {"": 1}:
        return
    model.opset_import.extend(operator_set(domain, version) for domain, version in missing.items())


def raise_ir_version(model: ModelProto, new_initializers: bool) -> None:
    """Give a complete model the IR version that it needs. `new_initializers`: initializers that
    are not inputs were added.

    A model that states no IR version keeps to that.
    """
    if not 0 < model.ir_version < _INITIALIZERS_ALONE:
        return
    implied = _implies_operator_set(model)
    if new_initializers or (implied and model.opset_import):
        model.ir_version = _INITIALIZERS_ALONE
        if implied and not any(entry.domain in ("", "ai.onnx") for entry in model.opset_import):
            model.opset_import.append(operator_set("", 1))


def _implies_operator_set(model: ModelProto) -> bool:
    return bool(model.ir_version < _OPERATOR_SETS)
