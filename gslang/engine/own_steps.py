"""Steps that the match machine makes itself on its way; they are part of no program."""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.engine import program as mp
from gslang.engine.scope import Instance


@dataclass(frozen=True, slots=True)
class At:
    """A register holds this node; `Operand` with the node found already."""

    register: int
    slot: int


@dataclass(frozen=True, slots=True)
class Enter:
    """The steps that follow are about instance `number` of a block, a new one if there are no more."""

    block: int
    number: int


@dataclass(frozen=True, slots=True)
class Leave:
    """The steps that follow are about `before` again; a new instance then belongs to the block."""

    block: int
    before: Instance | None


@dataclass(frozen=True, slots=True)
class Link:
    """Towards the beginning of a run: `slot` is the root of one more instance before `following`, or what the
    run starts from.
    """

    run: mp.Run
    slot: int
    following: Instance | None
    before: Instance | None  # that which was current when the run was met


@dataclass(frozen=True, slots=True)
class Inside:
    """The steps that follow are about this instance of a run."""

    instance: Instance | None


@dataclass(frozen=True, slots=True)
class Linked:
    """The steps of an instance of a run have held. `fits` is to know whether it is one."""

    link: Link
    instance: Instance
    fits: list[bool]


@dataclass(frozen=True, slots=True)
class Whole:
    """A run has come to its beginning; its instances were found last first."""

    link: Link
