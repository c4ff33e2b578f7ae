"""Objects made of the values of their fields, without `__init__`: so stored data is read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any


def filler(kind: type, names: Sequence[str]) -> Callable[[Sequence[object]], Any]:
    """Makes an object of `kind` of the values of these fields, in this order; other fields are not there.

    The function raises `ValueError` for another number of values. Functions for the same number of fields
    share their code, which is compiled once: hundreds of classes have a dozen such numbers.
    """
    given: dict[str, object] = {"_new": object.__new__, "_kind": kind}
    given.update({f"_set{k}": _setter(kind, name) for k, name in enumerate(names)})
    return FunctionType(_code(len(names)), given)


def _setter(kind: type, name: str) -> Callable[[object, object], None]:
    slot = getattr(kind, name, None)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda made, value: object.__setattr__(made, name, value)


@cache
def _code(count: int) -> CodeType:
    values = [f"value{k}" for k in range(count)]
    lines = [
        "def fill(values):",
        f" [{', '.join(values)}] = values",
        " made = _new(_kind)",
        *[f" _set{k}(made, {value})" for k, value in enumerate(values)],
        " return made",
    ]
    scope: dict[str, Any] = {}
    exec("\n".join(lines), scope)
    code: CodeType = scope["fill"].__code__
    return code
