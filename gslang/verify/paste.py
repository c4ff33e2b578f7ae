"""A counterexample as a `test` item that can be pasted into the rule file: the rule must leave this graph
alone.
"""

from __future__ import annotations

import numpy as np

from gslang.check.checked import CheckedRule
from gslang.graph.graph import ABSENT, CONST, INPUT, PARAM, PROJ, TUPLE, Graph


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
                shown = _value(value.tolist())
                names[node] = f'const(value = {shown}, dtype = "{value.dtype.name}")'
            else:
                names[node] = f"x{len(names)}"
                inputs.append(f"{names[node]}: const {graph.types[node]};")
        else:
            operands = [names[o] if o != ABSENT else "none" for o in graph.operands[node]]
            if op is TUPLE:
                text = "(" + ", ".join(operands) + ("," if len(operands) == 1 else "") + ")"
            elif op is PROJ:
                text = f"{operands[0]}.{graph.attrs[node]['index']}"
            else:
                attrs = [f"{name} = {_value(value)}" for name, value in graph.attrs[node].items()]
                text = f"{op}({', '.join([*operands, *attrs])})"
            names[node] = f"y{len(names)}"
            lines.append(f"    {names[node]} = {text};")
    outputs = ", ".join(names[node] for node in graph.outputs)
    head = f'test "counterexample" for {rule.name} {{'
    return "\n".join([
        head, *(["    " + "  ".join(inputs)] if inputs else []), *lines, f"    {outputs}", "  => unchanged",
        "}", "",
    ])


def _value(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)
