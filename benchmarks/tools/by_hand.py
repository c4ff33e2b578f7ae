"""The limit: transpose pairs removed by a straight loop over the columns of a gslang graph, written for
nothing else.

It copies the graph and keeps users and order right, as gslang has to; it knows one rule, looks at each node
once and tests no types, aliases or conditions other than that rule's.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.tools.gslang_tool import ONNX_NAMES
from gslang.graph.graph import DEAD, NO_ATTRS


class ByHand:
    jobs = ("tt",)
    suffix = "json"
    matches = 0

    def prepare(self) -> None:
        import gslang

        self.gslang = gslang

    def rules(self, job: str) -> Any:
        return None

    def load(self, path: str, job: str) -> Any:
        return self.gslang.read(path)

    def rewrite(self, graph: Any, rules: Any) -> Any:
        """Remove the pairs from a copy."""
        after = graph.copy()
        op, operands, users, attrs = after.op, after.operands, after.users, after.attrs
        order, matches = after.ordered(), 0
        for outer in list(order):
            if op[outer] != "transpose":
                continue
            inner = operands[outer][0]
            if op[inner] != "transpose" or len(users[inner]) != 1 or inner in after.output_uses:
                continue
            p, q = attrs[inner]["axes"], attrs[outer]["axes"]
            if any(p[axis] != place for place, axis in enumerate(q)):
                continue
            x = operands[inner][0]
            after.drop_user(x, inner)
            for user in users[outer]:
                operands[user] = tuple([x if operand == outer else operand for operand in operands[user]])
                after.add_user(x, user)
            if outer in after.output_uses:
                after.replace_outputs({outer: x})
            for gone in (inner, outer):
                op[gone], operands[gone], users[gone], attrs[gone] = DEAD, (), (), NO_ATTRS
                order.remove(gone)
            matches += 1
        after.dead += 2 * matches
        self.matches = matches
        return after

    def save(self, graph: Any, path: str) -> None:
        self.gslang.write(graph, path + ".json")

    def operators(self, graph: Any) -> Counter[str]:
        return Counter(ONNX_NAMES.get(graph.op[n], graph.op[n]) for n in graph.nodes() if graph.is_call(n))
