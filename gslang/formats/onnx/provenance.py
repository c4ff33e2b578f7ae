"""Where new nodes and tensors come from, in their `metadata_props`: `gslang.rule`, `gslang.application`, `gslang.from`.

In the graph that is `extras[node]["origin"]`, as in JSON. `from` is a JSON list of names.
"""

from __future__ import annotations

import json
from typing import Any, Final

from gslang.graph.graph import Graph

_PREFIX: Final = "gslang."
_KEYS: Final = ("rule", "application", "from")


def state_origin(message: Any, graph: Graph, node: int) -> None:
    """Note at a new message where its node comes from, if that is known."""
    origin = graph.extras.get(node, {}).get("origin")
    if origin is None or not hasattr(message, "metadata_props"):
        return
    for key in _KEYS:
        value = origin[key]
        message.metadata_props.add(key=_PREFIX + key, value=value if key == "rule" else json.dumps(value, ensure_ascii=False))


def stated_origin(message: Any) -> dict[str, Any] | None:
    """The origin that a message states; None if it states none, or something else under these keys."""
    texts = [(entry.key, entry.value) for entry in message.metadata_props if type(entry.key) is type(entry.value) is str]  # bytes are no UTF-8
    found = {key[len(_PREFIX) :]: value for key, value in texts if key.startswith(_PREFIX)}
    if not all(key in found for key in _KEYS):
        return None
    try:
        application, nodes = json.loads(found["application"]), json.loads(found["from"])
    except (ValueError, RecursionError):
        return None
    if type(application) is not int or not isinstance(nodes, list) or not all(isinstance(name, str) for name in nodes):
        return None
    return {"rule": found["rule"], "application": application, "from": nodes}
