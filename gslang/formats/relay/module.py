"""The rest of a Relay file beside the function that became the graph: kept in `graph.meta["relay"]`, written
back.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.formats.relay.metadata import Metadata

META_KEY: Final = "relay"
VERSION_LINE: Final = '#[version = "0.0.5"]'
OLD_VERSION_LINE: Final = "v0.0.4"

# Operators of nodes that are no operator calls in Relay. A call of `@f` has the operator "@f".
FN: Final = "fn"  # a nested function value: attribute `text`; operands are what it captures
CALL: Final = "call"  # a call of a function value: the value, then the arguments
GLOBAL: Final = "global"  # a global function as an argument (`call_lowered(@f, …)`): attribute `name`
WHOLE_ATTRS: Final = "*"  # the attribute that stands for one positional `meta[relay.attrs.…][i]`


@dataclass(frozen=True)
class RelayModule:
    """`form` is "def", "fn" (a bare function) or "expr" (a bare expression, inputs declared by `free_var`).

    `header` is the first line, empty for none; text that is carried from an old file keeps the old version.
    `before` and `after` are the other definitions, verbatim, in their order around the function.
    """

    form: str = "def"
    header: str = VERSION_LINE
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    attributes: Attrs = field(default_factory=dict)
    metadata: Metadata | None = None
