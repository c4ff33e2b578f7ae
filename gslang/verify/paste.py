"""A counterexample as a `test` item that can be pasted into the rule file: the rule must leave this graph
alone.
"""

from __future__ import annotations

import numpy as np

from gslang.check.checked import CheckedRule
from gslang.graph.call_text import call_text, constant_text
from gslang.graph.graph import ABSENT, CONST, INPUT, PARAM, Graph


def as_test(rule: CheckedRule, graph: Graph) -> str:
    """The text of the test.

    Constants with several different elements become `const` inputs with values of their own.
    """
    names: dict[int, str] = {}
    inputs: list[str] = []
    lines: list[str] = []
    order = graph.reverse_post_order()
    for node in order:
        op = graph.op[node]
        if op in (INPUT, PARAM):
            names[node] = f"x{len(names)}"
            inputs.append(f"{names[node]}: {'input' if op is INPUT else 'param'} {graph.types[node]};")
        elif op is CONST:
            value = np.asarray(graph.value(node))
            if value.ndim == 0 or value.dtype.kind in "iu" and value.ndim == 1:
                names[node] = constant_text(value)
            else:
                names[node] = f"x{len(names)}"
                inputs.append(f"{names[node]}: const {graph.types[node]};")
        else:
            operands = [names[o] if o != ABSENT else "none" for o in graph.operands[node]]
            names[node] = f"y{len(names)}"
            lines.append(f"    {names[node]} = {call_text(op, operands, graph.attrs[node])};")
    outputs = ", ".join(names[node] for node in graph.outputs)
    head = f'test "counterexample" for {rule.name} {{'
    return "\n".join([
        head, *(["    " + "  ".join(inputs)] if inputs else []), *lines, f"    {outputs}", "  => unchanged",
        "}", "",
    ])
