"""The options of a run: which rules, how far, and what else is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.engine.passes import FOLD_LIMIT


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `RuleSet.apply`; each may also be given to it by name. Raises `ValueError` for a number
    below its minimum.

    `rules`: only these (None: all). `skip`: not these. `pass_name`: a pass instead of all rules together.
    `once`: one sweep; `sweeps`: at most so many (None: until nothing changes). `limit`: the most applications
    before a run counts as an infinite loop (None: 10 per node + 1000). `stop_after`: stop after so many
    applications, without complaint. `fold`: pre-compute at the end what depends on constants only;
    `fold_limit`: bytes that a pre-computed constant may exceed the constants it is computed from by (None:
    any number). `provenance`: new nodes record their origin in `extras[node]["origin"]`. `subgraphs`: also
    rewrite bodies and local functions of an ONNX model, after the graph around them.
    """

    rules: Sequence[str] | None = None
    skip: Sequence[str] = ()
    pass_name: str | None = None
    once: bool = False
    sweeps: int | None = None
    limit: int | None = None
    stop_after: int | None = None
    fold: bool = False
    fold_limit: int | None = FOLD_LIMIT
    provenance: bool = False
    subgraphs: bool = True

    def __post_init__(self) -> None:
        for name, least in (("sweeps", 1), ("limit", 1), ("stop_after", 0), ("fold_limit", 0)):
            given = getattr(self, name)
            if given is not None and given < least:
                raise ValueError(f"`{name}` is a number from {least}, not {given}")
        for name in ("rules", "skip"):
            if isinstance(getattr(self, name), str):
                raise TypeError(
                    f"`{name}` is a list of rule names, not a text: {name} = [{getattr(self, name)!r}]"
                )

    def with_changes(self, changes: dict[str, Any]) -> Options:
        """These options with some fields changed. Raises `TypeError` for a name that is no option."""
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                guess = did_you_mean(name, known)
                raise TypeError(
                    f"unknown option `{name}`; "
                    + (f"did you mean `{guess}`?" if guess else f"options: {', '.join(known)}")
                )
        return replace(self, **changes)
