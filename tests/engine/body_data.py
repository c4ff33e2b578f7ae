"""Bodies of calls as plain data: what a rule says of one, its text, what a graph has, and whether that fits.

Written from docs/language.md (Bodies) and nothing of the engine. `my.branch` has two bodies; what they read
from outside are its operands behind the first one.

A description is a tuple with a part for each output: "_", ("outer", pattern node), ("input", number),
("const", value), ("splat", value), ("any const",), ("or", *parts), ("result", call, number) or
("call", operator, operands, axes): operands are parts or None, axes the numbers that the attribute may be,
None if nothing is said. A body is nodes, as those of a graph, and outputs; further leaves are "outer"
(attribute `of`: the node outside) and "own" (attribute `number`: an input of the body).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from tests.engine.rule_data import BINARY, COMMUTATIVE, DEFAULT_AXIS, UNARY, WITH_AXIS

Part = Any
Description = tuple[Part, ...]
NAMES = ("left", "right")
INPUTS = 2  # of every body
_COUNTED = {"split": ", indices_or_sections = 2"}


@dataclass(frozen=True)
class Body:
    nodes: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...]
    outputs: tuple[int, ...]


# ── meaning ─────────────────────────────────────────────────────────────────────────────────────────────────


def is_described(stated: Description, body: Body, matched: dict[int, int], constants: frozenset[int]) -> bool:
    """Whether a body is as a rule says. `matched`: pattern node → node outside; `constants`: those outside.
    """
    return len(stated) == len(body.outputs) and all(
        _fits(part, node, body, matched, constants) for part, node in zip(stated, body.outputs)
    )


def _fits(part: Part, node: int, body: Body, matched: dict[int, int], constants: frozenset[int]) -> bool:
    if part == "_":
        return True
    operator, operands, attributes = body.nodes[node]

    def again(part: Part, node: int) -> bool:
        return _fits(part, node, body, matched, constants)

    if operator == "Identity" and part[0] != "or" and part[:2] != ("call", "Identity"):
        return again(part, operands[0])
    match part:
        case ("or", *parts):
            return any(again(each, node) for each in parts)
        case ("outer", k):
            return operator == "outer" and attributes["of"] == matched.get(k)
        case ("input", number):
            return operator == "own" and attributes["number"] == number
        case ("any const",):
            return operator == "const" or operator == "outer" and attributes["of"] in constants
        case ("const" | "splat" as how, value):
            elements = attributes["value"] if operator == "const" else ()
            elements = elements if isinstance(elements, tuple) else (elements,)
            return (len(elements) == 1 or how == "splat" and len(elements) > 0) and set(elements) == {value}
        case ("result", call, number):
            return operator == "proj" and attributes["index"] == number and again(call, operands[0])
        case ("call", wanted, parts, axes):
            if operator != wanted or axes and attributes.get("axis", DEFAULT_AXIS[wanted]) not in axes:
                return False
            orders = [operands, operands[::-1]] if wanted in COMMUTATIVE else [operands]
            return any(_each_fits(parts, order, again) for order in orders)
    raise AssertionError(part)


def _each_fits(parts: tuple[Part, ...], operands: tuple[int, ...], fits: Any) -> bool:
    count = max(len(parts), len(operands))
    parts += (None,) * (count - len(parts))
    operands += (-1,) * (count - len(operands))
    return all(
        node < 0 if part is None else node >= 0 and fits(part, node) for part, node in zip(parts, operands)
    )


# ── text ────────────────────────────────────────────────────────────────────────────────────────────────────


def description_text(stated: Description) -> str:
    parts = [_text(part) for part in stated]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _text(part: Part) -> str:
    match part:
        case "_":
            return "_"
        case None:
            return "none"
        case ("outer", k):
            return f"p{k}"
        case ("input", number):
            return f"input[{number}]"
        case ("any const",):
            return "const()"
        case ("const", value):
            return str(value)
        case ("splat", value):
            return f"splat({value})"
        case ("or", *parts):
            return f"({' | '.join(map(_text, parts))})"
        case ("result", call, number):
            return f"{_text(call)}[{number}]"
        case ("call", operator, operands, axes):
            stated = f", axis = {' | '.join(map(str, axes))}" if axes else ""
            return f"{operator}({', '.join(map(_text, operands))}{_COUNTED.get(operator, '')}{stated})"
    raise AssertionError(part)


# ── at random ───────────────────────────────────────────────────────────────────────────────────────────────


def random_description(random: Random, outer: tuple[int, ...]) -> Description:
    return tuple(_random_part(random, outer, 2) for _ in range(random.choice((1, 1, 1, 2))))


def _random_part(random: Random, outer: tuple[int, ...], depth: int) -> Part:
    roll = random.random()
    if depth == 0 or roll < 0.2:
        return random.choice((
            *[("outer", k) for k in outer] * 4, ("input", 0), ("input", 1), ("const", 1.0), ("splat", 2.0),
            ("any const",), "_",
        ))  # fmt: skip

    def below() -> Part:
        return _random_part(random, outer, depth - 1)

    if roll < 0.4:
        return ("call", random.choice((*UNARY, "Identity")), (below(),), None)
    if roll < 0.65:
        return ("call", random.choice(BINARY), (below(), below()), None)
    if roll < 0.75:
        axes = random.choice((None, (0,), (-1, 1)))
        return ("call", random.choice(WITH_AXIS), (below(),), axes)
    if roll < 0.83:
        return ("result", ("call", "split", (below(),), random.choice((None, (0,)))), random.choice((0, 1)))
    if roll < 0.9:
        parts = random.choice(((below(),), (below(), below()), (below(), None, below())))
        return ("call", "my.pick", parts, None)
    return ("or", below(), below())


def random_body(
    random: Random, stated: Description | None, outer: tuple[int, ...], place: dict[int, int]
) -> Body:
    """A body that is nearly as stated. `place`: pattern node → node outside."""
    making = _Making(random, place)
    stated = random_description(random, outer) if stated is None else stated
    outputs = [making.node(part, outer) for part in stated]
    if random.random() < 0.05:
        outputs.append(outputs[0])
    return Body(tuple(making.nodes), tuple(outputs))


class _Making:
    def __init__(self, random: Random, place: dict[int, int]) -> None:
        self.random, self.place = random, place
        self.nodes: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
            ("own", (), {"number": number}) for number in range(INPUTS)
        ]
        self.shown: dict[int, int] = {}  # node outside → leaf
        self.made: dict[str, int] = {}

    def add(self, operator: str, operands: tuple[int, ...], attributes: dict[str, Any]) -> int:
        self.nodes.append((operator, operands, attributes))
        return len(self.nodes) - 1

    def node(self, part: Part, outer: tuple[int, ...]) -> int:
        random = self.random
        if part == "_" or random.random() < 0.02:
            part = _random_part(random, outer, 1)
        if repr(part) in self.made and random.random() < 0.5:
            return self.made[repr(part)]
        found = self.made[repr(part)] = self._new(part, outer)
        return self.add("Identity", (found,), {}) if random.random() < 0.1 else found

    def _new(self, part: Part, outer: tuple[int, ...]) -> int:
        random = self.random
        match part:
            case "_":
                return 0
            case ("outer", k):
                slot = self.place[k if random.random() < 0.92 else random.choice(outer)]
                if slot not in self.shown:
                    self.shown[slot] = self.add("outer", (), {"of": slot})
                return self.shown[slot]
            case ("input", number):
                return int(number if random.random() < 0.85 else 1 - number)
            case ("any const",):
                return self.add("const", (), {"value": random.choice((1.0, (1.0, 2.0)))})
            case ("const", value):
                shown = random.choices((value, (value,), (value, value), 3.0), (8, 4, 1, 1))[0]
                return self.add("const", (), {"value": shown})
            case ("splat", value):
                shown = random.choices((value, (value, value), (value, 3.0)), (4, 4, 1))[0]
                return self.add("const", (), {"value": shown})
            case ("or", *parts):
                return self.node(random.choice(parts), outer)
            case ("result", call, number):
                base = self._new(call, outer)
                return self.add("proj", (base,), {"index": number if random.random() < 0.95 else 1 - number})
            case ("call", operator, operands, axes):
                slots = [
                    self.node(o, outer) if o is not None else random.choice((0, *[-1] * 6)) for o in operands
                ]
                if operator in COMMUTATIVE and random.random() < 0.5:
                    slots.reverse()
                if operator == "my.pick" and random.random() < 0.3:
                    slots += [-1] * (3 - len(slots))
                elif random.random() < 0.03 and operator != "split":
                    operator = random.choice(UNARY) if len(slots) == 1 else random.choice(BINARY)
                attributes: dict[str, Any] = {}
                if operator in WITH_AXIS and random.random() < 0.8:
                    attributes["axis"] = random.choice(axes or (0, 1, -1))
                if operator == "split":
                    attributes["indices_or_sections"] = 2
                return self.add(operator, tuple(slots), attributes)
        raise AssertionError(part)
