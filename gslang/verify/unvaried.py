"""Attributes that a rule leaves open and that no instance tells apart: a verdict names them."""

from __future__ import annotations

from collections.abc import Collection

from gslang.check.checked import CheckedRule
from gslang.dialect.domain import Exactly
from gslang.dialect.signature import REQUIRED
from gslang.verify.comparison.effects import Attribute, unread

SAY_NOTHING = frozenset({"momentum", "seed", "stash_type"})  # of the results that rules are about
# of an operand: another value is an error
_REPEAT_SHAPES = frozenset({"units", "channels", "kernel_size", "kernel_shape", "hidden_size"})
Values = Collection[tuple[str, str, str]]
"""(operator, attribute, value) of all instances."""


def constant_attributes(rule: CheckedRule, seen: Values) -> list[str]:
    """Notes on open attributes that had one value in all instances."""
    values: dict[Attribute, set[str]] = {}
    for operator, name, value in seen:
        values.setdefault((operator, name), set()).add(value)
    return [
        f"attribute `{name}` of `{operator}` is always {next(iter(found))}"
        for (operator, name), found in sorted(values.items())
        if len(found) == 1 and name not in SAY_NOTHING
        and not isinstance(rule.dialect.operators[operator].attributes[name].domain, Exactly)
    ]


def idle_attributes(rule: CheckedRule, seen: Values, effective: Collection[Attribute]) -> list[Attribute]:
    """Attributes that the rule looks at nowhere, though they have made no difference in any instance in which
    they had another value than the default. `effective`: those that made one.
    """
    varied = set()
    for operator, name, value in seen:
        default = rule.dialect.operators[operator].attributes[name].default
        if default is not REQUIRED and value != repr(default):
            varied.add((operator, name))
    return sorted(
        (operator, name)
        for operator, name in (varied & unread(rule)).difference(effective)
        if name not in SAY_NOTHING | _REPEAT_SHAPES
    )
