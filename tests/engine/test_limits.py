"""What attribute expressions, functions and tuples may cost: beyond it there is an error that names the
limit, at once.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import pytest
from numpy.random import default_rng

import gslang
from gslang.base.diagnostics import InputError
from gslang.base.recursion import deep_walks
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.limits import LimitExceeded
from gslang.dialect.tensor_type import TensorType
from gslang.engine.fixed_point import run_to_fixed_point
from gslang.formats.json_reader import read_json
from gslang.graph.graph import Graph
from gslang.verify.field.points import random_point
from gslang.verify.field.residues import NoField
from tests.engine.readable import readable_only

pytestmark = pytest.mark.usefixtures("code_at_once")

GRAPH = """{"format": "gsl-graph", "version": 1, "dialect": "relay", "nodes": [
  {"id": "x", "kind": "input", "shape": [2, 3, 4], "dtype": "float32"},
  {"id": "t", "kind": "call", "op": "transpose", "inputs": ["x"], "attrs": {"axes": [0, 2, 1]}},
  {"id": "y", "kind": "call", "op": "nn.relu", "inputs": ["t"]}], "outputs": ["y"]}"""


def chain(first: str, step: str, last: str, count: int = 60) -> str:
    lets = [
        f"v0 = {first};",
        *(step.replace("NEW", f"v{k}").replace("OLD", f"v{k - 1}") for k in range(1, count + 1)),
    ]
    return (
        f"rule r(a) {{ x = transpose(a, axes = (p := _)); {' '.join(lets)} nn.relu(x) where "
        f"{last.replace('LAST', f'v{count}')} => x }}"
    )


def functions(first: str, step: str, rule: str, count: int = 40) -> str:
    return f"fn f0(x) = {first};\n" + "".join(
        f"fn f{k}(x) = {step.replace('OLD', f'f{k - 1}')};\n" for k in range(1, count + 1)
    ) + rule.replace("LAST", f"f{count}")


def checked(text: str):
    return check_source(Source("limits.gsl", "dialect relay;\n" + text))


def run(text: str) -> int:
    program = checked(text)
    assert program.ok, program.diagnostics
    graph = read_json(GRAPH, "g.json")
    run_to_fixed_point(graph, list(program.rules.values()))
    return sum(graph.op[node] == "nn.relu" for node in graph.ordered())


TOO_MUCH = {
    "spread": (chain("p", "NEW = (*OLD, *OLD);", "len(LAST) > 3"), "more than 1,000,000 items"),
    "plus": (chain("p", "NEW = OLD + OLD;", "len(LAST) > 3"), "more than 1,000,000 items"),
    "nested": (chain("p", "NEW = (OLD, OLD);", "LAST == p"), "more than 1,000,000 items"),
    "concat": (chain("p", "NEW = concat(OLD, OLD);", "len(LAST) > 3"), "more than 1,000,000 items"),
    "text": (chain('"ab" * len(p)', "NEW = OLD + OLD;", 'LAST == "a"'), "more than 1,000,000 items"),
    "square": (chain("3 + len(p)", "NEW = OLD * OLD;", "LAST > 3"), "more than 4096 bits"),
    "product": (chain("p", "", "prod([9 ** 100 for i in range(1000)]) > 3", 0), "more than 4096 bits"),
    "power": (chain("p", "", "9 ** 9 ** 9 ** len(p) > 1", 0), "more than 4096 bits"),
    "repetition": (chain("p", "", "len(p * 1000000000) > 3", 0), "more than 1,000,000 items"),
    "range": (chain("p", "", "sum([i for i in 0..1000000000]) > 3", 0), "more than 1,000,000 items"),
    "rounds": (
        chain(
            "p", "",
            "sum([sum([sum([1 for i in range(1000)]) for j in range(1000)]) for k in range(1000)]) > len(p)",
            0,
        ),
        "run through more than 250,000 items",
    ),
    "tuples of the target": (
        "rule r(a) { nn.relu(a) => t0 = (a, a); "
        + " ".join(f"t{k} = (t{k - 1}, t{k - 1});" for k in range(1, 41)) + " t40.0 }",
        "a tuple has more than 100,000 fields",
    ),
}


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_is_too_much_is_an_error_that_names_the_limit(name: str, readable: bool) -> None:
    text, message = TOO_MUCH[name]
    with pytest.raises(InputError, match=message):
        if readable:
            with readable_only():
                run(text)
        else:
            run(text)


ENOUGH = {
    "names used twice": chain("len(p)", "NEW = OLD + OLD;", "LAST > 3"),
    "a function used twice": functions(
        "x", "OLD(x) + OLD(x)", "rule r(a): nn.relu(a) where LAST(a.ndim) > 3 => a;"
    ),
    "sixty alternatives": "rule r(a) { "
    + " ".join(
        f"v{k} = (nn.relu({f'v{k - 1}' if k else 'a'}) | tanh({f'v{k - 1}' if k else 'a'}));"
        for k in range(60)
    )
    + " sigmoid(v59) => a }",
    "250 statements": "rule r(a) { "
    + " ".join(f"v{k} = nn.relu({f'v{k - 1}' if k else 'a'});" for k in range(250)) + " v249 => a }",
    "3,000 functions": functions("x", "OLD(x) + 1", "rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);", 3000),
}


@pytest.mark.parametrize("name", ENOUGH)
def test_what_looks_much_is_done_at_once(name: str) -> None:
    run(ENOUGH[name])


def test_targets_share_what_a_function_gives_twice() -> None:
    program = checked(functions("nn.relu(x)", "OLD(x) + OLD(x)", "rule r(a): tanh(a) => LAST(a);"))
    assert program.ok and len(program.rules["r"].target.targets) < 100


REFUSED = {
    "a pattern that doubles": functions("nn.relu(x)", "OLD(x) + OLD(x)", "rule r(a): LAST(a) => a;"),
    "other arguments each time": functions(
        "x", "OLD(x + 1) + OLD(x + 2)", "rule r(a): nn.relu(a) where LAST(a.ndim) > 3 => a;"
    ),
    "arguments used twice": functions(
        "x + 1", "OLD(OLD(x) - OLD(x))", "rule r(a): nn.relu(a) where LAST(a.ndim) > 0 => a;", 30
    ),
    "one item each time": functions(
        "x", "OLD(x) + OLD(x)",
        "rule r(a): transpose(a, axes = (p := _)) where sum([LAST(i) for i in p]) > 3 => a;",
    ),
    "a chain that is used": functions(
        "x", "OLD(x) + 1", "rule r(a): nn.relu(a) where LAST(a.ndim) > 3 => a;", 3000
    ),
    "brackets": "rule r(a): " + "(" * 100_000 + "nn.relu(a)" + ")" * 100_000 + " => a;",
    "signs": "rule r(a): nn.relu(a) where a.ndim > " + "-" * 5000 + "1 => a;",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_checked_is_told(name: str) -> None:
    (found,) = checked(REFUSED[name] + "\nrule fine(a): tanh(a) => a;\n").diagnostics
    assert found.code == "E0107" and any(sign.isdigit() for sign in found.message)


@pytest.mark.parametrize("readable", [False, True])
def test_a_limit_is_an_input_error_that_names_the_rule(readable: bool) -> None:
    (rule,) = checked(
        "rule large(a): nn.relu(a) where sum(range(1000000000000 * users(a))) > 1 => a;"
    ).rules.values()
    assert issubclass(LimitExceeded, InputError)
    with (
        readable_only() if readable else nullcontext(),
        pytest.raises(LimitExceeded, match="^rule `large`: an attribute expression has more than"),
    ):
        run_to_fixed_point(read_json(GRAPH, "g.json"), [rule])


@pytest.mark.parametrize("levels", [150, 190])
def test_calls_as_deep_as_may_be(levels: int) -> None:
    (rule,) = gslang.parse_rules(f"rule r(a): {'exp(' * levels}a{')' * levels} => a;")
    assert len(rule.rule.nodes) == levels + 1
    graph = Graph("relay")
    last = graph.add_input("x", TensorType((2,), "float32"))
    for _ in range(levels):
        last = graph.add("exp", (last,), {})
        graph.types[last] = TensorType((2,), "float32")
    graph.set_outputs([last])
    assert len(list(rule.matches(graph))) == 1


def test_the_limit_on_recursion_is_left_as_it_was() -> None:
    """That of a library belongs to who uses it: not at import, not after rules are read or applied."""
    code = (
        "import sys; before = sys.getrecursionlimit(); import gslang; "
        "rules = gslang.parse_rules('rule r(a): exp(' + 'exp(' * 150 + 'a' + ')' * 151 + ' => a;'); "
        "graph = gslang.Graph('relay'); graph.set_outputs([graph.add_input('x', None)]); rules.apply(graph); "
        "assert sys.getrecursionlimit() == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_walks_that_overlap() -> None:
    """The last one that ends puts back what was before the first, in whatever order they end."""
    before, one, other = sys.getrecursionlimit(), deep_walks(), deep_walks()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert sys.getrecursionlimit() >= 4000
    other.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before


def test_chains_of_which_one_is_wrong() -> None:
    """What goes on from it has no node to go on from."""
    text = "chain c in 1.. from p { y = nn.relu(prev.y); } chain d in 1.. from c[-1].y { y = exp(prev.y); }"
    more = "chain e in 1.. from d[-1].y { y = nn.relu(prev.y); }"
    with pytest.raises(gslang.RuleError):
        gslang.parse_rules(f"rule r(a) {{ p = tanh(a); {text} {more} e[-1].y => a }}")


def test_an_input_of_more_axes_than_arrays_have() -> None:
    graph = Graph("relay")
    graph.set_outputs([graph.add_input("x", TensorType((1,) * 3001, "float32"))])
    with pytest.raises(NoField, match="axes"):
        random_point(graph, default_rng(0), False, 1)
