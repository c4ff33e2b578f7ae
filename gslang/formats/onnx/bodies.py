"""Graphs inside a model — bodies of `If`, `Loop`, `Scan`, and local functions — read, rewritten on request,
and put back.

A body is a graph of its own: outer values that it reads are inputs of it, or constants where they are ones,
so that a match never reaches out. New names are new in the whole model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.attributes import Body, all_names, body_of, captures_of, with_common_captures
from gslang.dialect.onnx.function_size import LocalFunctions
from gslang.dialect.onnx.schemas import operator_name
from gslang.dialect.onnx.versions import OPSETS, history
from gslang.formats.onnx.model_graph import read_message
from gslang.formats.onnx.outside import Outside, add_functions, model_around
from gslang.formats.onnx.records import KEY, ModelRecord, model_record, node_record
from gslang.formats.onnx.writer import onnx_model
from gslang.graph.graph import PROJ, Graph

if TYPE_CHECKING:
    pass

Rewrite = Callable[[str, Graph], None]
"""Changes a graph inside a model; told its path: `y/then_branch` is a body of the node that makes `y`,
`local.F()` a function.
"""


def has_insides(graph: Graph) -> bool:
    """True if a graph has bodies or local functions."""
    record = model_record(graph)
    if record is None:
        return False
    if record.functions.messages:
        return True
    having = frozenset(op for op in set(graph.op) if _may_have_bodies(op))
    return bool(having) and any(
        isinstance(part, Body)
        for op, attrs in zip(graph.op, graph.attrs) if op in having
        for part in _parts(attrs)
    )


@lru_cache(maxsize=1024)
def _may_have_bodies(op: str) -> bool:
    """False for a standard operator none of whose attributes is a graph, and for what is no call."""
    versions = history().operators.get(op)
    return (
        op[0] != "%" if versions is None
        else any(kind.startswith("GRAPH") for version in versions for kind in version.kinds.values())
    )


def insides(graph: Graph, dialect: Dialect) -> list[tuple[str, Graph]]:
    """All bodies and local functions of a graph with their paths, those inside of others too, outer ones
    first. `graph` stays as it is.
    """
    found: list[tuple[str, Graph]] = []

    def note(path: str, inner: Graph) -> None:
        found.append((path, inner))
        rewrite_insides(inner, dialect, note, f"{path}/")

    rewrite_insides(graph.copy(), dialect, note)
    return found


def rewrite_insides(graph: Graph, dialect: Dialect, rewrite: Rewrite, prefix: str = "") -> int:
    """Let `rewrite` change each body and local function of a graph; returns how many it did change.

    `prefix`: of their paths.
    """
    record = model_record(graph)
    if record is None or not has_insides(graph):
        return 0
    taken = set(record.taken) | set(all_names(record.message.graph))
    changed = 0
    for node in graph.in_order():
        attrs = graph.attrs[node]
        if not any(isinstance(part, Body) for part in _parts(attrs)):
            continue
        inside = _Insides(graph, node, record, dialect, rewrite, taken)
        place = prefix + _result_name(graph, node)
        new = {name: inside.rewritten(f"{place}/{name}", value) for name, value in attrs.items()}
        if inside.changed:
            _exchange(graph, node, new)
            changed += inside.changed
    changed += _rewrite_functions(graph, record, dialect, rewrite)
    if changed:
        known = model_record(graph)
        assert known is not None
        graph.meta[KEY] = replace(known, taken=frozenset(taken))
    return changed


def _result_name(graph: Graph, node: int) -> str:
    """The name of a call's first result that has one."""
    if name := graph.names[node]:
        return name
    record = node_record(graph, node)
    if record is not None and record.message is not None:
        return next((name for name in record.message.output if name), graph.label(node))
    return next(
        (
            name
            for user in sorted(graph.users[node]) if graph.op[user] is PROJ and (name := graph.names[user])
        ),
        graph.label(node),
    )


def _parts(attrs: Attrs) -> list[Any]:
    return [part for value in attrs.values() for part in (value if isinstance(value, tuple) else (value,))]


class _Insides:
    """The bodies of a node, rewritten; `changed`: how many are others now."""

    def __init__(
        self, graph: Graph, node: int, record: ModelRecord, dialect: Dialect, rewrite: Rewrite,
        taken: set[str],
    ) -> None:  # fmt: skip
        self.graph, self.rewrite, self.taken = graph, rewrite, taken
        self.outside = Outside(read_message, graph, node, record, dialect)
        self.changed = 0

    def rewritten(self, path: str, value: object) -> object:
        match value:
            case Body():
                return self._body(path, value)
            case tuple() if any(isinstance(part, Body) for part in value):
                return tuple([
                    self._body(f"{path}[{k}]", part) if isinstance(part, Body) else part
                    for k, part in enumerate(value)
                ])
        return value

    def _body(self, path: str, body: Body) -> Body:
        shown: set[str] = set()
        inner = self.outside.read(body, shown, frozenset(self.taken))
        self.rewrite(path, inner)
        written = onnx_model(inner)
        for field in (written.graph.input, written.graph.initializer):
            kept = [item for item in field if item.name not in shown]
            if len(kept) < len(field):
                del field[:]
                field.extend(kept)
        self.taken.update(all_names(written.graph))
        result = body_of(written.graph)
        if result.data != body.data:
            self.changed += 1
            _import(self.graph, written)
        return result


def _exchange(graph: Graph, node: int, attrs: Mapping[str, object]) -> None:
    """Give a node other bodies; what these no longer read is no operand any more."""
    before, old = captures_of(graph.attrs[node].values()), graph.operands[node]
    formal = old[: len(old) - len(before)]
    where = dict(zip(before, old[len(formal) :]))
    graph.attrs[node] = with_common_captures(attrs, attrs)
    graph.operands[node] = (*formal, *[where[name] for name in captures_of(attrs.values())])
    dropped = sorted(set(old) - set(graph.operands[node]))
    for operand in dropped:
        graph.drop_user(operand, node)
    graph.remove_dead(dropped)


def _import(graph: Graph, written: Any) -> None:
    """Operator sets that a rule has brought into a part are those of the whole."""
    opsets = dict(graph.meta[OPSETS])
    for entry in written.opset_import:
        opsets.setdefault("" if entry.domain == "ai.onnx" else entry.domain, entry.version)
    graph.meta[OPSETS] = opsets


# ── functions ───────────────────────────────────────────────────────────────────────────────────────────────


def _rewrite_functions(graph: Graph, record: ModelRecord, dialect: Dialect, rewrite: Rewrite) -> int:
    """Local functions; their inputs have no types. Names in them are their own."""
    functions = list(record.functions.messages)
    changed = 0
    for place, function in enumerate(functions):
        model = model_around(record)
        del model.opset_import[:]
        model.opset_import.extend(function.opset_import or record.message.opset_import)
        model.graph.name = function.name
        model.graph.node.extend(function.node)
        add_functions(model, record)
        model.graph.value_info.extend(function.value_info)
        for name in function.input:
            model.graph.input.add(name=name)
        for name in function.output:
            model.graph.output.add(name=name)
        inner = read_message(
            model, record.path, record.folder, dialect, frozenset(), constants_are_nodes=True
        )
        overload = f":{function.overload}" if function.overload else ""
        rewrite(f"{operator_name(function.domain, function.name)}{overload}()", inner)
        written = onnx_model(inner)
        if list(written.graph.node) == list(function.node):
            continue
        new = type(function)()
        new.CopyFrom(function)
        del new.node[:], new.value_info[:], new.opset_import[:]
        new.node.extend(written.graph.node)
        new.value_info.extend(written.graph.value_info)
        new.opset_import.extend(written.opset_import)
        functions[place] = new
        _import(graph, written)
        changed += 1
    if changed:
        graph.meta[KEY] = replace(record, functions=LocalFunctions(functions))
    return changed
