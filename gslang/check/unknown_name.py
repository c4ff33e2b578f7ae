"""Names that nothing binds: what may be meant."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final, NoReturn

from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.check.context import Lost, Lowering
from gslang.check.walks import walk
from gslang.dialect.dtypes import dtype_elsewhere, dtype_exists
from gslang.syntax import nodes as n

_LITERALS: Final[Mapping[str, str]] = {
    "none": "none", "null": "none", "nil": "none", "nullptr": "none", "true": "true", "false": "false",
}
"""Literals as other languages write them, in lower case."""

_NUMBERS: Final[Mapping[str, str]] = {
    "inf": "inf", "infinity": "inf", "pi": str(math.pi), "e": str(math.e),
}
"""Numbers that other languages name, as they are written here. NaN equals nothing."""


def refuse_module(lowering: Lowering, name: str, span: Span) -> None:
    """Report `np.float32` and `math.pi`, of modules that rules do not have; of other names nothing."""
    module, _, last = name.rpartition(".")
    if lowering.look_up(module.partition(".")[0]) is not None:
        return
    if dtype := dtype_elsewhere(last):
        hint = f'data types are strings: `"{dtype}"`'
    elif number := _NUMBERS.get(last.lower()):
        hint = f"write the number: `{number}`"
    else:
        return
    lowering.stop("E0201", f"unknown name `{name}`", span, hint)


def refuse_name(lowering: Lowering, name: str, span: Span) -> NoReturn:
    """Report a name that nothing binds, with what may be meant, or else `if_unknown`."""
    if lowering.if_unknown is None and name in lowering.dialect.operators:
        lowering.stop(
            "E0504", f"`{name}` is an operator: call it", span,
            f'write `{name}(…)`; its name as a text is `"{name}"`',
        )
    if lowering.inside is not None and name == lowering.inside.name:
        other = "prev" if lowering.inside.block in lowering.runs else "first"
        lowering.stop(
            "E0201", f"`{name}` cannot be used inside its own block", span,
            f"read another instance with `{other}.NAME`; ask for all of them outside the block: "
            f"`where len({name}) > 2`",
        )
    hint = next(_meant(lowering, name, span), lowering.if_unknown or lowering.in_a_rule)
    if not lowering.expanding:
        lowering.names.setdefault(name, Lost())  # told once
    lowering.stop("E0201", f"unknown name `{name}`", span, hint)


def _meant(lowering: Lowering, name: str, span: Span) -> Iterator[str]:
    """Helps that fit a name, the likeliest first."""
    if name == lowering.defining:
        yield f"`{name}` is what this statement defines, which is not known before"
    if name in lowering.inputs_ahead:
        this, *later = lowering.inputs_ahead
        if name in later:
            yield f"`{name}` is declared later: move it before `{this}`, or read it in the `where`"
        yield f"state in the `where` what depends on `{name}` itself"
    if name in lowering.below:
        yield "the statement that defines it comes later: move it up"
    if any(start > span.start for start in _bound_within(lowering, name)):
        yield f"`({name} := …)` comes later: bind it where it is read first"
    for template in lowering.templates:
        if name in template.declared and template is not lowering.inside:
            number = -1 if template.block in lowering.runs else 0
            yield f"it belongs to a block: read an instance, `{template.name}[{number}].{name}`"
    if name in lowering.of_target:
        yield "the target defines it, and a source can only use its own names"
    if guess := did_you_mean(name, lowering.visible()) or _LITERALS.get(name.lower()):
        yield f"did you mean `{guess}`?"
    if not lowering.in_graph and did_you_mean(name, ("unchanged",)):
        yield "did you mean `unchanged`?"
    if dtype_exists(name):
        yield f'data types are strings: `"{name}"`'
    elif lowering.if_unknown is None and (elsewhere := dtype_elsewhere(name)):
        yield f'data types are strings: `"{elsewhere}"`'
    if len(name) > 1 and (written := _NUMBERS.get(name.lower())):
        yield f"write the number: `{written}`"


def _bound_within(lowering: Lowering, name: str) -> list[int]:
    """Where the expressions of the function, or of the side, that is lowered bind a name."""
    function = lowering.functions[lowering.expanding[-1]] if lowering.expanding else None
    text = function.body if isinstance(function, n.FnDecl) else lowering.text
    return [
        part.span.start for part in walk(text) if isinstance(part, n.Walrus) and part.name.id == name
    ]
