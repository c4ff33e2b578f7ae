"""Where new nodes and tensors come from, in their `metadata_props`: `gslang.rule`, `gslang.application`,
`gslang.from`.

In the graph that is `extras[node]["origin"]`, as in JSON. `from` is a JSON list of names. What rules attach
to nodes stands there as well, each under its own name, as text for other tools, and all together as JSON
under `gslang.attached`, from which it is read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from gslang.graph.annotations import Annotation, annotations_of, as_annotation, attachable
from gslang.graph.graph import Graph

if TYPE_CHECKING:
    from onnx import NodeProto

PREFIX: Final = "gslang."
_KEYS: Final = ("rule", "application", "from")
_ATTACHED: Final = PREFIX + "attached"


def state_origin(message: NodeProto, graph: Graph, node: int) -> None:
    """Note at a new message where its node comes from, if that is known."""
    origin = graph.extras.get(node, {}).get("origin")
    if origin is None or not hasattr(message, "metadata_props"):
        return
    for key in _KEYS:
        value = origin[key]
        message.metadata_props.add(
            key=PREFIX + key, value=value if key == "rule" else json.dumps(value, ensure_ascii=False)
        )


def stated_origin(message: NodeProto) -> dict[str, object] | None:
    """The origin that a message states; None if it states none, or something else under these keys."""
    # bytes are no UTF-8
    texts = [
        (entry.key, entry.value)
        for entry in message.metadata_props if type(entry.key) is type(entry.value) is str
    ]
    found = {key[len(PREFIX) :]: value for key, value in texts if key.startswith(PREFIX)}
    if not all(key in found for key in _KEYS):
        return None
    try:
        application, nodes = json.loads(found["application"]), json.loads(found["from"])
    except (ValueError, RecursionError):
        return None
    if (
        type(application) is not int or not isinstance(nodes, list)
        or not all(isinstance(name, str) for name in nodes)
    ):
        return None
    return {"rule": found["rule"], "application": application, "from": nodes}


def state_annotations(message: NodeProto, graph: Graph, node: int) -> None:
    """Note at a new message what is attached to its node."""
    attached = annotations_of(graph, node)
    if not attached or not hasattr(message, "metadata_props"):
        return
    for key, value in attached.items():
        message.metadata_props.add(key=key, value=value if isinstance(value, str) else json.dumps(value))
    message.metadata_props.add(key=_ATTACHED, value=json.dumps(dict(attached), ensure_ascii=False))


def stated_annotations(message: NodeProto) -> dict[str, Annotation]:
    """The annotations of a message; other tools' metadata are not among them."""
    for entry in message.metadata_props:
        if type(entry.value) is str and entry.key == _ATTACHED:
            try:
                found = json.loads(entry.value)
            except (ValueError, RecursionError):
                return {}
            kept = (
                {name: as_annotation(value) for name, value in found.items()}
                if isinstance(found, dict)
                else {}
            )
            return kept if all(map(attachable, kept.values())) else {}
    return {}
