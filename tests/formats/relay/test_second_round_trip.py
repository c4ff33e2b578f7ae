"""Relay text that was written once does not change when it is read and written again: all constructs, all
operators with all their attributes, and dumps of TVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from gslang.base.diagnostics import InputError
from gslang.dialect.tensor_type import TensorType
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.formats.relay import read_relay, write_relay
from gslang.graph.graph import Graph

from .random_texts import Text, random_text
from .samples import DIALECT, PARTITIONED, assert_same, main, read

DUMPS = Path(__file__).parents[4] / "shared" / "data" / "relay"
WAYS: tuple[dict[str, bool], ...] = ({}, {"inline": True}, {"skip_unsupported": True})


def faults(graph: Graph) -> list[str]:
    """What is other after a second round trip, through Relay text and through JSON."""
    found = []
    for comments in (True, False):
        once = write_relay(graph, DIALECT, comments=comments)
        again = read_relay(once, "again", dialect=DIALECT)
        if write_relay(again, DIALECT, comments=comments) != once:
            found.append(f"text, comments={comments}")
        if comments:
            assert_same(graph, again)
    text = write_json(graph)
    if write_json(read_json(text, dialect=DIALECT)) != text:
        found.append("JSON")
    return found


def of_random_texts(seeds: range) -> Iterator[Graph]:
    for seed in seeds:
        text = random_text(seed, DIALECT)
        for way in WAYS:
            try:
                yield read(text, **way)
            except InputError:
                continue


def check_random_texts(seeds: range) -> None:
    count = 0
    for graph in of_random_texts(seeds):
        assert faults(graph) == [], write_relay(graph, DIALECT)
        count += 1
    assert count > 2 * len(seeds)


def test_random_modules_of_all_constructs() -> None:
    check_random_texts(range(120))


@pytest.mark.long
def test_many_random_modules() -> None:
    check_random_texts(range(120, 6000))


def test_all_operators_with_random_attributes() -> None:
    text = Text(7, DIALECT)
    for name, signature in DIALECT.operators.items():
        operands = ["%x"] * sum(not spec.optional for spec in signature.operands)
        for _ in range(3):
            attributes = text.attributes(signature)
            call = f"{name}({', '.join([*operands, *([attributes] if attributes else [])])})"
            assert faults(read(main(call))) == [], call


def test_all_operators_of_graphs_made_by_hand() -> None:
    """Attributes of every declared type, also those that a text states in another way."""
    rng = Random(3)
    numbers = (True, 0, -1, 2**40, 0.1, float("inf"), float("nan"), -0.0)
    values = (None, *numbers, "a\"b", (), (1,), ((0, 1), (2,)), (0.5, 1.0))
    tensor = TensorType((2, 3), "float32")
    for name, signature in DIALECT.operators.items():
        graph = Graph("relay", "main")
        operands = [graph.add_input(f"x{k}", tensor) for k, _ in enumerate(signature.operands)]
        attrs = {attribute: rng.choice(values) for attribute in signature.attributes}
        graph.set_outputs([graph.add(name, operands, attrs)])
        once = write_relay(read_relay(write_relay(graph, DIALECT), "g", dialect=DIALECT), DIALECT)
        assert write_relay(read_relay(once, "g", dialect=DIALECT), DIALECT) == once, attrs


def test_dumps() -> None:
    if not DUMPS.is_dir():
        pytest.skip("needs the dumps of TVM")
    count = 0
    for path in sorted(DUMPS.rglob("*.relay")):
        if path.stat().st_size > 60_000:
            continue
        for way in WAYS[:2]:
            try:
                graph = read(path.read_text(), **way)
            except InputError:
                continue
            assert faults(graph) == [], path.name
            count += 1
    assert count > 40


def test_arguments_of_another_type_are_a_warning_and_cannot_be_inlined() -> None:
    text = PARTITIONED.replace("%2 = @helper(%1, %x)", "%2 = @helper(reshape(%1, newshape=[2, 2]), %x)")
    (warning,) = read(text).meta["warnings"]
    assert "`@helper` takes another type as `%a`: shape [4] against [2, 2]" in warning
    with pytest.raises(InputError, match="`@helper` takes another type as `%a`") as error:
        read(text, inline=True)
    assert error.value.place.startswith("9:")


def test_inlined_calls_have_the_types_of_their_arguments() -> None:
    text = """\
def @f(%a: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] { nn.relu(%a) }
def @main(%x: Tensor[(2, 4), float32]) { exp(@f(%x)) }
"""
    graph = read(text, inline=True)
    assert [graph.types[node] for node in graph.reverse_post_order()] == [TensorType((2, 4), "float32")] * 3
    assert faults(graph) == []


def test_inputs_that_are_tuples_are_json_too() -> None:
    graph = read(main("add(%t.0, %t.1.0)", "%t: (float32, (Tensor[(2), float32],)), %u"))
    text = write_json(graph)
    again = read_json(text, dialect=DIALECT)
    assert_same(graph, again)
    assert write_json(again) == text and again.types == graph.types
    with pytest.raises(InputError, match="field 7 of a tuple with 2 fields"):
        read_json(text.replace('"index": 0', '"index": 7', 1), dialect=DIALECT)
