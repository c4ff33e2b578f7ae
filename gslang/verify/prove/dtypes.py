"""Element types of which it is only known which ones are equal."""

from __future__ import annotations

from typing import Any

from gslang.verify.prove.paths import Choices, Impossible, NotProved


class Dtype:
    """An element type that may be any. Compared with another one, or with a name, it is the same or not: a case each."""

    __slots__ = ("choices", "name", "others", "parent")

    def __init__(self, choices: Choices, unlike: Any = None) -> None:
        self.choices = choices
        self.parent: Dtype | None = None
        self.name: str | None = None
        self.others: list[Any] = [] if unlike is None else [unlike]  # known to be different

    def __hash__(self) -> int:
        raise NotProved("an element type that is not known")

    def __repr__(self) -> str:
        return self.root().name or "?"

    def root(self) -> Dtype:
        """What stands for all element types that are known to equal this one."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Dtype, str)) or other == "":
            return False
        known = compared(self, other)
        if known is not None:
            return known
        if self.choices.choose(2) == 0:
            unify(self, other)
            return True
        self.root().others.append(other)
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other


def compared(a: Any, b: Any) -> bool | None:
    """Whether two element types are equal; None where it is not known."""
    x: Any = a.root() if isinstance(a, Dtype) else a
    y: Any = b.root() if isinstance(b, Dtype) else b
    if x is y:
        return True
    left, right = (z.name if isinstance(z, Dtype) else z for z in (x, y))
    if left is not None and right is not None:
        return bool(left == right)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Dtype):
            for z in one.others:
                w: Any = z.root() if isinstance(z, Dtype) else z
                if w is other or (w.name if isinstance(w, Dtype) else w) == (other.name if isinstance(other, Dtype) else other) is not None:
                    return False
    return None


def unify(a: Any, b: Any) -> None:
    """Both are the same in this case."""
    known = compared(a, b)
    if known is not None:
        if not known:
            raise Impossible
        return
    x: Any = a.root() if isinstance(a, Dtype) else a
    y: Any = b.root() if isinstance(b, Dtype) else b
    if not isinstance(x, Dtype):
        x, y = y, x
    if isinstance(y, Dtype):
        y.name = y.name or x.name
        y.others += x.others
        x.parent = y
    else:
        x.name = y
