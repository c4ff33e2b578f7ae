"""A test for a rule that has none: a small graph that the rule matches, found as verification finds its
instances, and the graph after it.

Only a test that passes is offered. Slow (up to seconds): for a thread of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gslang.base.diagnostics import Diagnostic
from gslang.base.open_types import Attrs
from gslang.base.source import Source
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.check.tests import check_test
from gslang.fmt.format_source import format_source
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse
from gslang.testing import run_tests

if TYPE_CHECKING:
    from gslang.graph.graph import Graph

_SECONDS, _ATTEMPTS, _WANTED = 4.0, 80, 6


def new_test(
    program: CheckedProgram, functions: Mapping[str, n.FnDecl | n.ParamDecl], name: str
) -> str | None:
    """The text of a `test` item: of some, the one with the most inputs and without scalars, then the
    shortest. None if none passes.
    """
    from gslang.verify.instances.draw import Search, instances

    rule = program.rules[name]
    found: list[str] = []
    for instance in instances(rule, Search(), 0, _SECONDS, _ATTEMPTS):
        text = _text(rule, instance.before, instance.after) if instance.after is not None else None
        if text is not None and _passes(program, functions, text):
            found.append(text)
            if len(found) == _WANTED:
                break
    return min(
        found,
        key=lambda text: ("[];" in text, -text.count(": input ") - text.count(": param "), len(text), text),
        default=None,
    )


def _passes(program: CheckedProgram, functions: Mapping[str, n.FnDecl | n.ParamDecl], text: str) -> bool:
    problems: list[Diagnostic] = []
    items = parse(Source("<test>", text)).program.items
    tests = [
        check_test(item, program.dialect, functions, program.rules, set(), problems)
        for item in items if isinstance(item, n.Test)
    ]
    if problems or len(tests) != 1 or tests[0] is None:
        return False
    return all(outcome.passed for outcome in run_tests(replace(program, tests=(tests[0],))))


def _text(rule: CheckedRule, before: Graph, after: Graph) -> str | None:
    """Both graphs as the sides of a test, in the one style. None for values that no test can state."""
    # node → name and declaration; nodes that stay have the same number in both graphs
    inputs: dict[int, tuple[str, str]] = {}
    sides = [_side(rule, graph, inputs) for graph in (before, after)]
    if None in sides:
        return None
    declared = "  ".join(f"{name}: {kind};" for name, kind in inputs.values())
    return format_source(Source(
        "<test>", f'test "an instance" for {rule.name} {{\n{declared}\n{sides[0]}\n=>\n{sides[1]}\n}}\n'
    )).text


def _side(rule: CheckedRule, graph: Graph, inputs: dict[int, tuple[str, str]]) -> str | None:
    """The statements and outputs of a graph.

    What several nodes read has a name, all else stands where it is read.
    """
    from gslang.graph.call_text import call_text
    from gslang.graph.graph import ABSENT, CONST, INPUT, PARAM

    order = graph.reverse_post_order()
    uses = Counter(operand for node in order for operand in graph.operands[node]) + Counter(graph.outputs)
    shown: dict[int, str] = {}
    statements: list[str] = []
    for node in order:
        op = graph.op[node]
        operands = [shown[o] if o != ABSENT else "none" for o in graph.operands[node]]
        if op in (INPUT, PARAM):
            shown[node] = inputs.setdefault(
                node, (f"x{len(inputs)}", f"{'input' if op is INPUT else 'param'} {graph.types[node]}")
            )[0]
            continue
        if op is CONST:
            constant = _constant(graph, node)
            if constant is None:
                return None
            shown[node] = constant
            continue
        signature = rule.dialect.get(op)
        defaults: Attrs = signature.defaults if signature is not None else {}
        text = call_text(op, operands, {
            key: value for key, value in graph.attrs[node].items()
            if key not in defaults or defaults[key] != value
        })
        if uses[node] > 1:
            statements.append(f"y{len(statements)} = {text};")
            text = f"y{len(statements) - 1}"
        shown[node] = text
    return "\n".join([*statements, ", ".join(shown[node] for node in graph.outputs)])


def _constant(graph: Graph, node: int) -> str | None:
    """A constant of one element, or a short list of whole numbers."""
    import numpy as np

    from gslang.graph.call_text import constant_text

    array = np.asarray(graph.value(node))
    if array.ndim == 0 or array.dtype.kind in "iu" and array.ndim == 1 and array.size <= 8:
        return constant_text(array)
    return None
