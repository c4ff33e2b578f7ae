"""Values of which the prover knows too little to answer every question that a rule may ask.

A question without an answer raises `NotProved`: the error that Python would raise would look like one that the engine meets too, by
which a condition does not hold, and the case would be lost.
"""

from __future__ import annotations

from typing import Any

from gslang.verify.prove.paths import NotProved


class Opaque:
    """A value that answers no question; subclasses answer some."""

    __slots__ = ()

    def _unknown(self, *_: object) -> Any:
        raise NotProved(f"what a rule asks of {type(self).__name__.lower()} is not known")

    __hash__ = __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = __index__ = __int__ = __float__ = __abs__ = __neg__ = _unknown  # type: ignore[assignment]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _unknown
    __mod__ = __rmod__ = __pow__ = __rpow__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown
