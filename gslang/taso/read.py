"""TASO's file of substitutions, as JSON, into `Substitution` values.

The file is a list of `{index, srcOp, dstOp, mappedOutputs}`, each operator `{type, inputs: [{opId, tsId}],
params: [{key, value}]}` in topological order; `opId` below 0 is an input of the rule. Operators and
parameters are those of the published `graph_subst.pb`; others are refused by name. Not here: what the
operators do to shapes (`shapes`), rule text (`translate`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import read_bytes
from gslang.base.suggest import did_you_mean

# operator: how many operands, which parameters it has to have
OPERATORS: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "OP_MATMUL": (2, ()),
    "OP_EW_ADD": (2, ()),
    "OP_EW_MUL": (2, ()),
    "OP_RELU": (1, ()),
    "OP_CONCAT": (2, ("PM_AXIS", "PM_NUMDIM")),
    "OP_SPLIT": (1, ("PM_AXIS",)),
    "OP_CONV2D": (2, ("PM_STRIDE_H", "PM_STRIDE_W", "PM_PAD")),
}
# parameter: which values are understood
VALUES: Final[Mapping[str, range]] = {
    "PM_ACTI": range(4),
    "PM_AXIS": range(4),
    "PM_NUMDIM": range(1, 5),
    "PM_PAD": range(2),
    "PM_STRIDE_H": range(1, 2),
    "PM_STRIDE_W": range(1, 2),
    "PM_KERNEL_H": range(1, 1 << 16),
    "PM_KERNEL_W": range(1, 1 << 16),
    "PM_NUM_INPUTS": range(2, 3),
    "PM_NUM_OUTPUTS": range(2, 3),
}


@dataclass(frozen=True, slots=True)
class Tensor:
    """Output `part` of operator `op` of the same list; below 0, an input of the rule."""

    op: int
    part: int = 0


@dataclass(frozen=True, slots=True)
class Operator:
    kind: str
    operands: tuple[Tensor, ...]
    params: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Substitution:
    """`outputs`: pairs of what is replaced in the source and by what in the target."""

    index: int
    source: tuple[Operator, ...]
    target: tuple[Operator, ...]
    outputs: tuple[tuple[Tensor, Tensor], ...]


def read_substitutions(path: str | Path) -> list[Substitution]:
    """All substitutions of a file. Raises `InputError` with the place (a JSON pointer) of what is wrong."""
    shown = str(path)
    try:
        with file_errors(path, "cannot be read"):
            data = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"invalid JSON: {error}", path=shown,
            help="TASO's own file is protobuf; decode it to JSON first",
        ) from None
    try:
        rules = [_substitution(item, f"/{k}", k) for k, item in enumerate(_list(data, ""))]
        seen: dict[int, int] = {}
        for k, rule in enumerate(rules):
            if rule.index in seen:
                raise _Wrong(f"/{k}/index", f"the index {rule.index} is that of /{seen[rule.index]}, too")
            seen[rule.index] = k
    except _Wrong as wrong:
        raise InputError(wrong.message, path=shown, place=wrong.place, help=wrong.help) from None
    if not rules:
        raise InputError("no substitutions found", path=shown)
    return rules


class _Wrong(Exception):
    def __init__(self, place: str, message: str, help: str = "") -> None:
        self.place, self.message, self.help = place, message, help


def _substitution(item: object, place: str, number: int) -> Substitution:
    item = _object(item, place)
    source = _operators(item.get("srcOp"), f"{place}/srcOp")
    target = _operators(item.get("dstOp"), f"{place}/dstOp")
    pairs = []
    for k, pair in enumerate(_list(item.get("mappedOutputs"), f"{place}/mappedOutputs")):
        at = f"{place}/mappedOutputs/{k}"
        pair = _object(pair, at)
        left = Tensor(
            _number(pair.get("srcOpId"), f"{at}/srcOpId"), _number(pair.get("srcTsId"), f"{at}/srcTsId")
        )
        right = Tensor(
            _number(pair.get("dstOpId"), f"{at}/dstOpId"), _number(pair.get("dstTsId"), f"{at}/dstTsId")
        )
        for tensor, side, name in ((left, source, "srcOpId"), (right, target, "dstOpId")):
            if tensor.op < 0:
                raise _Wrong(f"{at}/{name}", "an output is one of an operator, not an input of the rule")
            _check_tensor(tensor, side, len(side), f"{at}/{name}")
        pairs.append((left, right))
    if not pairs:
        raise _Wrong(f"{place}/mappedOutputs", "a substitution has at least one output")
    rule = Substitution(_number(item.get("index", number), f"{place}/index"), source, target, tuple(pairs))
    _check_whole(rule, place)
    return rule


def _check_whole(rule: Substitution, place: str) -> None:
    """Nothing idle on either side, no split in the source, no input that only the target has."""
    for side, ops, outputs in (
        ("srcOp", rule.source, [s for s, _ in rule.outputs]),
        ("dstOp", rule.target, [t for _, t in rule.outputs]),
    ):
        used = {tensor.op for op in ops for tensor in op.operands} | {tensor.op for tensor in outputs}
        for k in range(len(ops)):
            if k not in used:
                raise _Wrong(f"{place}/{side}/{k}", "nothing uses this operator, and it is not an output")
    for k, op in enumerate(rule.source):
        if op.kind == "OP_SPLIT":
            raise _Wrong(f"{place}/srcOp/{k}", "a split in a source: its position is not in the file")
    known = {tensor.op for op in rule.source for tensor in op.operands if tensor.op < 0}
    for k, op in enumerate(rule.target):
        for n, tensor in enumerate(op.operands):
            if tensor.op < 0 and tensor.op not in known:
                raise _Wrong(f"{place}/dstOp/{k}/inputs/{n}", f"the source has no input {tensor.op}")


def _operators(item: object, place: str) -> tuple[Operator, ...]:
    made: list[Operator] = []
    for k, entry in enumerate(_list(item, place)):
        at = f"{place}/{k}"
        entry = _object(entry, at)
        kind = str(entry.get("type"))
        if kind not in OPERATORS:
            guess = did_you_mean(kind, OPERATORS)
            raise _Wrong(
                f"{at}/type", f"no operator `{kind}` is translated",
                f"did you mean `{guess}`?" if guess else f"known: {', '.join(OPERATORS)}",
            )
        count, required = OPERATORS[kind]
        operands = []
        for n, tensor in enumerate(_list(entry.get("inputs"), f"{at}/inputs")):
            there = f"{at}/inputs/{n}"
            tensor = _object(tensor, there)
            operands.append(Tensor(
                _number(tensor.get("opId"), f"{there}/opId"), _number(tensor.get("tsId"), f"{there}/tsId")
            ))
            _check_tensor(operands[-1], made, k, there)
        if len(operands) != count:
            raise _Wrong(f"{at}/inputs", f"`{kind}` has {count} operands, not {len(operands)}")
        made.append(
            Operator(kind, tuple(operands), _params(entry.get("params"), f"{at}/params", kind, required))
        )
    if not made:
        raise _Wrong(place, "a side has at least one operator")
    return tuple(made)


def _params(item: object, place: str, kind: str, required: tuple[str, ...]) -> dict[str, int]:
    params: dict[str, int] = {}
    for k, entry in enumerate(_list(item, place)):
        at = f"{place}/{k}"
        entry = _object(entry, at)
        key, value = str(entry.get("key")), _number(entry.get("value"), f"{at}/value")
        if key not in VALUES:
            raise _Wrong(f"{at}/key", f"no parameter `{key}` is translated")
        if value not in VALUES[key]:
            allowed = VALUES[key]
            raise _Wrong(
                f"{at}/value", f"`{key}` is {value}; translated are {allowed.start} to {allowed.stop - 1}"
            )
        params[key] = value
    for key in required:
        if key not in params:
            raise _Wrong(place, f"`{kind}` needs `{key}`")
    return params


def _check_tensor(tensor: Tensor, ops: Any, before: int, place: str) -> None:
    if tensor.op >= before:
        raise _Wrong(place, f"no operator {tensor.op} before this position")
    parts = 2 if tensor.op >= 0 and ops[tensor.op].kind == "OP_SPLIT" else 1
    if not 0 <= tensor.part < parts:
        raise _Wrong(place, f"no output {tensor.part}")


def _list(item: object, place: str) -> list[object]:
    if not isinstance(item, list):
        raise _Wrong(place, "a list is expected here")
    return item


def _object(item: object, place: str) -> dict[str, object]:
    if not isinstance(item, dict):
        raise _Wrong(place, "an object is expected here")
    return item


def _number(item: object, place: str) -> int:
    if isinstance(item, bool) or not isinstance(item, int):
        raise _Wrong(place, "a whole number is expected here")
    return item
