"""Size, depth, and files that are cut off or damaged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gslang.base.diagnostics import InputError
from gslang.formats.relay import read_relay, write_relay
from gslang.graph.graph import Graph
from tests.counted import calls_of

from .samples import CLOSURE, CONVOLUTION, DIALECT, PARTITIONED, main, read, result

DEEP = 20_000  # far beyond any limit of recursion


def chain(length: int) -> str:
    lets = "".join(f"let %v{i + 1} = nn.relu(%{f'v{i}' if i else 'x'});\n" for i in range(length))
    return main(f"{lets}%v{length}")


@pytest.mark.parametrize(
    ("body", "nodes"),
    [
        ("nn.relu(" * DEEP + "%x" + ")" * DEEP, DEEP + 1),
        ("(" * DEEP + "%x" + ")" * DEEP, 1),
        ("{" * DEEP + "%x" + "}" * DEEP, 1),
        ("%x + " * DEEP + "%x", DEEP + 1),
        ("(" * DEEP + "%x" + ",)" * DEEP, DEEP + 1),
        ("(let %y = " * DEEP + "%x" + "; %y)" * DEEP, 1),
    ],
    ids=["calls", "parentheses", "braces", "infix", "tuples", "lets"],
)
def test_depth(body: str, nodes: int) -> None:
    graph = read_relay(main(body), "deep", dialect=None)
    assert len(graph) == nodes
    assert len(read_relay(write_relay(graph, None), "again", dialect=None)) == nodes


def test_a_chain_of_lets() -> None:
    graph = read(chain(DEEP))
    assert len(graph) == DEEP + 1
    assert str(graph.types[result(graph)]) == "float32[2, 3]"


@pytest.mark.parametrize(
    "text",
    [
        main("my.op(%x, a=" + "[" * DEEP + "]" * DEEP + ")"),
        main("%x", "%x: " + "(" * DEEP + ")" * DEEP),
        main("fn () {" * 1000 + "%x" + "}" * 1000),
        main("%x") + "\n#[metadata]\n" + "[" * DEEP,
        main("my.op(%x, a=" + "9" * 10_000 + ")"),
        main("9" * 10_000),
        main("%x." + "9" * 10_000),
    ],
    ids=["lists", "types", "functions", "json", "attribute", "literal", "field"],
)
def test_what_is_limited_is_refused_not_crashed(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


def test_effort_of_reading_grows_with_the_text_alone() -> None:
    def effort(pairs: int) -> int:
        lines = "".join(
            f"  %{2 * i} = nn.dense(%{2 * i - 1 if i else 'x'}, meta[relay.Constant][{i % 9}] /* "
            "ty=Tensor[(3, 3), float32] */, units=3)"
            f" /* ty=Tensor[(2, 3), float32] span=dense_{i}/MatMul;dense_{i}/BiasAdd:0:0 */;\n"
            f"  %{2 * i + 1} = add(%{2 * i}, 0.5f /* ty=float32 */) /* ty=Tensor[(2, 3), float32] */;\n"
            for i in range(pairs)
        )
        text = main(lines + f"  %{2 * pairs - 1}")
        graphs: list[Graph] = []
        calls = calls_of(lambda: graphs.append(read(text)))
        assert len(graphs[0]) == pairs * 3 + 10
        return calls

    effort(9)  # what is made once
    assert effort(1600) < 8.5 * effort(200)


SAMPLES = [
    CONVOLUTION, PARTITIONED, CLOSURE,
    main('my.op(%x, a=[[1i64]], b="c", meta[relay.attrs.X][0]) /* ty=(int8, (int8,)) */.0'),
]
TOKENS = list('(){}[],;:.=%@"') + [
    "%0", "%x", "fn", "let %y =", "/*", "*/", "//", "->", "1f", "Tensor[(1), int8]",
    "meta[relay.Constant][0]", "\0", "\r", "é",
]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_a_text_that_is_cut_off_is_refused(sample: str, data: st.DataObject) -> None:
    sample = sample.rstrip()
    end = data.draw(st.integers(sample.index("def"), len(sample) - 1))
    try:
        graph = read_relay(
            sample[:end], "cut", function="helper" if "@helper" in sample else "main", dialect=DIALECT
        )
    except InputError as error:
        assert str(error).startswith("cut:")
    else:
        assert "@helper" in sample and graph.name == "helper"  # cut between two definitions


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_a_damaged_text_is_read_or_refused_never_crashed_on(sample: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(sample)))
        length = data.draw(st.integers(0, 6))
        sample = sample[:at] + data.draw(st.sampled_from([*TOKENS, ""])) + sample[at + length :]
    try:
        graph = read_relay(sample, "damaged", dialect=DIALECT)
    except InputError as error:
        assert str(error).startswith("damaged:")
    else:
        read_relay(write_relay(graph, DIALECT), "again", dialect=DIALECT)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_metadata_section_never_crashes(data: st.DataObject) -> None:
    section = (
        '{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": '
        '[2]},'
        '{"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0"}}],'
        '"b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAACAPwAAgD8="]}'
    )
    at = data.draw(st.integers(0, len(section)))
    piece = data.draw(
        st.sampled_from(["", "0", "-1", "9", '"', "null", "{", "[", "A", "=", "é", '"data": 7,', "[[1]]"])
    )
    text = (
        main("exp(meta[relay.Constant][0])") + "\n#[metadata]\n"
        + section[:at] + piece + section[at + data.draw(st.integers(0, 4)) :]
    )
    try:
        graph = read_relay(text, "damaged", dialect=DIALECT)
        for node in graph.values:
            graph.value(node)
        write_relay(graph, DIALECT)
    except InputError:
        pass


def test_an_attribute_name_ends_in_no_dot() -> None:
    """What is read can be written: `kernel.=3` is refused, not carried."""
    with pytest.raises(InputError, match="expected"):
        read('#[version = "0.0.5"]\ndef @main(%x: Tensor[(1), float32]) { nn.relu(%x, kernel.=3) }\n')


def test_inlining_that_doubles_at_each_level_is_refused_before_it_is_done() -> None:
    step = "def @f{}(%x: Tensor[(2, 3), float32]) {{\n  add(@f{}(%x), @f{}(%x))\n}}\n"
    first = "def @f0(%x: Tensor[(2, 3), float32]) {\n  nn.relu(%x)\n}\n"

    def text(levels: int) -> str:
        return (
            main(f"@f{levels - 1}(%x)") + first
            + "".join(step.format(k, k - 1, k - 1) for k in range(1, levels))
        )

    assert len(read_relay(text(8), "m.relay", inline=True)) == 2**8
    with pytest.raises(InputError, match="with all calls inlined; at most 200,000 are made"):
        read_relay(text(300), "m.relay", inline=True)
    assert len(read_relay(text(300), "m.relay")) == 2
