"""A dialect: the operators that names in rules and graphs stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.signature import Infer, Signature
from gslang.dialect.tensor_type import Type

# Which operator an infix sign stands for; every shipped dialect overrides what differs.
RELAY_INFIX = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "neg": "negative"}


@dataclass(frozen=True)
class Dialect:
    """`infer` has the type inference of each operator; an operator without one has results of unknown type.
    `refuses` tells why a graph cannot have a new call, which is then not made: (its meta, operator,
    attributes, operand types, whether operand k is a constant, places of operands that are there).
    """

    name: str
    operators: Mapping[str, Signature]
    infix: Mapping[str, str] = field(default_factory=lambda: dict(RELAY_INFIX))
    infer: Mapping[str, Infer] = field(default_factory=dict, repr=False)
    refuses: (
        Callable[
            [
                Mapping[str, object], str, Mapping[str, object], tuple[Type | None, ...],
                Callable[[int], bool], tuple[int, ...],
            ],
            str | None,
        ]
        | None
    ) = field(default=None, repr=False)
    added: tuple[Signature, ...] = ()  # a file's own declarations, on top of the shipped ones

    def get(self, operator: str) -> Signature | None:
        return self.operators.get(operator)

    def operand_dtype(self, operators: tuple[str, ...], place: int) -> str | None:
        """The type of a new constant as operand `place`, where all these operators want the same one."""
        wanted = {self.operators[operator].constant_dtype(place) for operator in operators}
        return wanted.pop() if len(wanted) == 1 else None

    def dtype_beside(self, operator: str, place: int, dtypes: Sequence[str | None]) -> str | None:
        """The type of a new constant as operand `place` of a call whose other operands have these; of an
        unknown operator, the first."""
        signature = self.operators.get(operator)
        return (
            next((d for d in dtypes if d is not None), None)
            if signature is None
            else signature.dtype_beside(place, dtypes)
        )

    def with_operators(self, more: Iterable[Signature]) -> Dialect:
        """This dialect with a file's own `op` declarations added (they hide equal names)."""
        more = tuple(more)
        operators = {**self.operators, **{s.name: s for s in more}}
        added = (*self.added, *more)
        infer = self.infer
        if departing := {s.name for s in more if s.departs}:
            infer = {name: each for name, each in infer.items() if name not in departing}
        return replace(self, operators=operators, added=added, infer=infer)

    @cached_property
    def by_trait(self) -> dict[str, tuple[str, ...]]:
        """Trait → operators that have it, sorted by name."""
        table: dict[str, list[str]] = {}
        for name in sorted(self.operators):
            for trait in self.operators[name].traits:
                table.setdefault(trait, []).append(name)
        return {trait: tuple(names) for trait, names in table.items()}
