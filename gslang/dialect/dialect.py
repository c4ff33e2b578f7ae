"""A dialect: the operators that names in rules and graphs stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from gslang.dialect.signature import Infer, Signature

# Which operator an infix sign stands for; every shipped dialect overrides what differs.
RELAY_INFIX = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "neg": "negative"}


@dataclass(frozen=True)
class Dialect:
    """`infer` has the type inference of each operator; an operator without one has results of unknown type."""

    name: str
    operators: Mapping[str, Signature]
    infix: Mapping[str, str] = field(default_factory=lambda: dict(RELAY_INFIX))
    infer: Mapping[str, Infer] = field(default_factory=dict, repr=False)

    def get(self, operator: str) -> Signature | None:
        return self.operators.get(operator)

    def with_operators(self, more: Iterable[Signature], infer: Mapping[str, Infer] | None = None) -> Dialect:
        """This dialect with a file's own `op` declarations added (they hide equal names)."""
        operators = {**self.operators, **{s.name: s for s in more}}
        return replace(self, operators=operators, infer={**self.infer, **(infer or {})})

    @cached_property
    def by_trait(self) -> dict[str, tuple[str, ...]]:
        """Trait → operators that have it, sorted by name."""
        table: dict[str, list[str]] = {}
        for name in sorted(self.operators):
            for trait in self.operators[name].traits:
                table.setdefault(trait, []).append(name)
        return {trait: tuple(names) for trait, names in table.items()}
