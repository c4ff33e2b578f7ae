"""Models that are not evaluated: what would never end, or end the process in code that is not ours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.onnx.function_size import MOST_NODES, bodies_of, expanded_size
from gslang.evaluate.errors import EvaluationError

_MOST_ROUNDS: Final = 10_000_000  # of loops whose condition stays as it is, in onnxruntime
MOST_ROUNDS_OF_REFERENCE: Final = 100_000
_MOST_WORDS: Final = 1_000_000
_FOREVER: Final = 1 << 62


def refuse(model: Any, inputs: Mapping[str, object]) -> None:
    """Raises `EvaluationError` for a model that onnxruntime should not be asked to run on these inputs."""
    refuse_endless(model)
    known = {
        **constants_of(model.graph),
        **{name: np.asarray(value) for name, value in inputs.items() if not isinstance(value, list)},
    }
    refuse_loops(model.graph.node, known, _MOST_ROUNDS)
    refuse_overflow(model.graph.node, known)


def refuse_endless(model: Any) -> None:
    """Raises `EvaluationError` for local functions that double or call themselves, until there are too many
    nodes to compute.
    """
    if model.functions and expanded_size(model) > MOST_NODES:
        raise EvaluationError(
            f"its local functions call themselves, or give more than {MOST_NODES:,} nodes where they are "
            "written out"
        )


def refuse_loops(nodes: Iterable[object], known: Attrs, most: int) -> None:
    """Raises `EvaluationError` for loops that take more than `most` rounds for sure, for those over more
    inputs than there are, and for trees that are circles.

    `known`: values by name.
    """
    nodes = list(nodes)
    _refuse_scans(nodes)
    _refuse_calls(nodes)
    if _rounds(nodes, known) > most:
        raise EvaluationError(f"its loops take more than {most:,} iterations")


def _refuse_scans(nodes: Iterable[Any]) -> None:
    """Raises `EvaluationError` for a `Scan` over more inputs than it has: the reference lists them all."""
    for node in nodes:
        count = next((a.i for a in node.attribute if a.name == "num_scan_inputs"), 0)
        if node.op_type == "Scan" and not 0 <= count <= len(node.input):
            raise EvaluationError(f"`num_scan_inputs` of `Scan` is {count}, beyond its inputs")
        for body in bodies_of(node):
            _refuse_scans(body.node)


def _rounds(nodes: Iterable[Any], known: Attrs) -> int:
    """The rounds of loops whose number of them is known, and whose condition never changes."""
    total = 0
    for node in nodes:
        bodies = list(bodies_of(node))
        inside = max((_rounds(body.node, {**known, **constants_of(body)}) for body in bodies), default=0)
        if node.op_type == "Loop" and all(_goes_on(body) for body in bodies):
            inside = _trips(node, known) * max(inside, 1)
        total += inside
    return total


def _trips(node: Any, known: Attrs) -> int:
    """The number of rounds of a loop whose condition stays as it is; once where that is not known."""
    trips, condition = [*node.input, "", ""][:2]
    if condition and not _is_true(known.get(condition)):
        return 1
    if not trips:
        return _FOREVER
    value = known.get(trips)
    return (
        max(int(value.reshape(-1)[0]), 0) if value is not None and value.size == 1 and value.dtype.kind == "i"
        else 1
    )


def _is_true(value: Array | None) -> bool:
    return value is not None and value.size == 1 and bool(value.reshape(-1)[0])


def _goes_on(body: Any) -> bool:
    """True if a loop's body hands its condition on as it is."""
    if len(body.input) < 2 or not body.output:
        return False
    makers = {name: node for node in body.node for name in node.output}
    name = body.output[0].name
    for _ in range(len(body.node)):
        if name not in makers or makers[name].op_type != "Identity" or not makers[name].input:
            break
        name = makers[name].input[0]
    return bool(name == body.input[1].name) or _is_true(constants_of(body).get(name))


def refuse_overflow(nodes: Iterable[Any], known: Attrs) -> None:
    """Raises `EvaluationError` for the least integer divided by what may be -1, and a split into parts of no
    elements: onnxruntime ends the process there.
    """
    for node in nodes:
        if node.op_type == "SplitToSequence" and len(node.input) > 1:
            size = known.get(node.input[1])
            if size is not None and size.ndim == 0 and not size:
                raise EvaluationError("`SplitToSequence` splits into parts of size 0")
        if node.op_type in ("Div", "Mod") and len(node.input) == 2:
            left, right = (known.get(name) for name in node.input)
            if (
                left is None or left.dtype.kind != "i" or not left.size
                or left.min() > np.iinfo(left.dtype).min
            ):
                continue
            if right is None or (right == -1).any():
                raise EvaluationError(
                    f"`{node.op_type}` divides {left.min()}, the least {left.dtype}, by what may be -1, "
                    "which crashes onnxruntime"
                )


def refuse_call(operator: str, attrs: Mapping[str, Any]) -> None:
    """Raises `EvaluationError` for calls whose attributes let them go on without end: trees of ONNX-ML with a
    branch that leads back to itself, words that are counted farther than any text is long.
    """
    if operator.endswith("TfIdfVectorizer"):
        _refuse_many_words(attrs)
    elif "TreeEnsemble" in operator:
        _refuse_circles(operator, attrs)


def _refuse_many_words(attrs: Mapping[str, Any]) -> None:
    words = len(attrs.get("pool_int64s") or attrs.get("pool_strings") or ())
    firsts = (*attrs.get("ngram_counts", ()), words)
    if any(first > last for first, last in zip(firsts, firsts[1:])) or firsts[0] < 0:
        raise EvaluationError("`ngram_counts` are not increasing positions in the pool of words")
    far = max((attrs.get("max_skip_count") or 0, *attrs.get("ngram_indexes", ())))
    if far > _MOST_WORDS:
        raise EvaluationError(f"it counts words up to position {far}; {_MOST_WORDS} is the limit")


def _refuse_circles(operator: str, attrs: Mapping[str, Any]) -> None:
    ways = [attrs.get(f"nodes_{way}nodeids", ()) for way in ("true", "false")]
    if operator.endswith("TreeEnsemble"):  # of version 5, where ids are places in the lists
        leaves = [attrs.get(f"nodes_{way}leafs", ()) for way in ("true", "false")]
        below: dict[Hashable, Sequence[Hashable]] = {
            k: [ids[k] for ids, ends in zip(ways, leaves) if k < len(ends) and not ends[k]]
            for k in range(min(map(len, ways)))
        }
        _refuse_circle(below)
        return
    keys = list(zip(attrs.get("nodes_treeids", ()), attrs.get("nodes_nodeids", ())))
    modes = [mode if isinstance(mode, str) else mode.decode() for mode in attrs.get("nodes_modes", ())]
    _refuse_circle({
        key: [(key[0], below) for below in ends]
        for key, mode, *ends in zip(keys, modes, *ways) if mode != "LEAF"
    })


def _refuse_circle(below: Mapping[Hashable, Sequence[Hashable]]) -> None:
    above: dict[Hashable, list[Hashable]] = {}
    for key, ends in below.items():
        for end in ends:
            above.setdefault(end, []).append(key)
    left = {key: sum(end in below for end in ends) for key, ends in below.items()}
    ready = [key for key, count in left.items() if not count]
    for key in ready:
        for user in above.get(key, ()):
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    if len(ready) < len(below):
        raise EvaluationError("a branch of its trees is cyclic")


def _refuse_calls(nodes: Iterable[Any]) -> None:
    """The same as `refuse_call` for all nodes, and those inside of them."""
    for node in nodes:
        if node.op_type.startswith(("TreeEnsemble", "TfIdfVectorizer")):
            refuse_call(node.op_type, {a.name: a.ints or a.strings or a.i for a in node.attribute})
        for body in bodies_of(node):
            _refuse_calls(body.node)


def constants_of(graph: object) -> dict[str, Array]:
    """Small tensors that the graph states, by name."""
    return dict(_stated_values(graph))


def _stated_values(graph: Any) -> Iterator[tuple[str, Array]]:
    from onnx import numpy_helper

    tensors = [(tensor.name, tensor) for tensor in graph.initializer]
    tensors += [
        (node.output[0], a.t)
        for node in graph.node if node.op_type == "Constant" and node.output
        for a in node.attribute if a.name == "value"
    ]
    for name, tensor in tensors:
        if (
            tensor.data_location != tensor.EXTERNAL and tensor.data_type != tensor.STRING
            and tensor.ByteSize() < 10_000
        ):
            try:
                yield name, numpy_helper.to_array(tensor)
            except Exception:  # what is damaged says nothing
                continue
