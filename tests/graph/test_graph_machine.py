"""Random sequences of changes: after each the invariants hold, and the graph says what a naive model says."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import ABSENT, CONST, DEAD, INPUT, Graph
from tests.graph.invariants import check_invariants

TYPE = TensorType((2,), "float32")


class GraphMachine(RuleBasedStateMachine):
    """`model` maps each living node to its operands; users, order and outputs are derived from it naively."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()
        self.model: dict[int, tuple[int, ...]] = {}
        self.outputs: list[int] = []

    @initialize()
    def start(self) -> None:
        for k in range(2):
            self.model[self.graph.add_input(f"x{k}", TYPE)] = ()

    def living(self) -> list[int]:
        return sorted(self.model)

    def reaches(self, start: int, goal: int) -> bool:
        """True if `start` is `goal` or depends on it."""
        stack, seen = [start], set()
        while stack:
            node = stack.pop()
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                stack.extend(o for o in self.model[node] if o >= 0)
        return False

    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        """Many operands, so that some node gets more users than a list holds."""
        operands = data.draw(
            st.lists(st.sampled_from([*self.living()[:3], *self.living(), ABSENT]), max_size=4)
        )
        node = self.graph.add("f", operands)
        if self.graph.order is not None:
            self.place(node, max((self.graph.order.label[o] for o in operands if o >= 0), default=0))
        self.model[node] = tuple(operands)

    def place(self, node: int, low: int) -> None:
        """A new node has no users yet, so any label above its operands' will do."""
        self.graph.order.grow(node + 1)
        assert self.graph.order.spread([node], low, low + 5)

    @rule(data=st.data(), count=st.integers(15, 25))
    def add_fan(self, data: st.DataObject, count: int) -> None:
        base = data.draw(st.sampled_from(self.living()))
        for _ in range(count):
            node = self.graph.add("g", (base,))
            if self.graph.order is not None:
                self.place(node, self.graph.order.label[base])
            self.model[node] = (base,)

    @rule(data=st.data())
    def add_and_discard(self, data: st.DataObject) -> None:
        first = len(self.graph.op)
        operands = data.draw(st.lists(st.sampled_from(self.living()), max_size=3))
        inner = self.graph.add("h", operands)
        self.graph.add("h", [inner, *operands])
        self.graph.discard_from(first)
        assert len(self.graph.op) == first

    @rule(data=st.data())
    def set_outputs(self, data: st.DataObject) -> None:
        self.outputs = data.draw(st.lists(st.sampled_from(self.living()), max_size=3))
        self.graph.set_outputs(self.outputs)

    @rule()
    def order(self) -> None:
        self.graph.ordered()

    @rule(data=st.data())
    def replace_uses(self, data: st.DataObject) -> None:
        """`old` by a node that does not depend on it, moved in front of the users where the order asks for
        it.
        """
        old = data.draw(st.sampled_from(self.living()))
        fitting = [n for n in self.living() if n != old and not self.reaches(n, old)]
        if not fitting:
            return
        new = data.draw(st.sampled_from(fitting))
        staying = frozenset(data.draw(st.sets(st.sampled_from(self.living()), max_size=1)))
        users = [n for n, operands in self.model.items() if old in operands and n not in staying]
        if any(self.reaches(new, user) for user in users):
            return
        order = self.graph.order
        if order is not None and any(order.label[new] >= order.label[user] for user in users):
            self.graph.order = None  # moving nodes is the rewriter's work; a fresh order is as good here
        changed = self.graph.replace_uses({old: new}, staying)
        assert sorted(changed) == sorted(users)
        for user in users:
            self.model[user] = tuple(new if o == old else o for o in self.model[user])
        self.outputs = [new if o == old else o for o in self.outputs]

    @rule(data=st.data())
    def remove_dead(self, data: st.DataObject) -> None:
        candidates = data.draw(st.lists(st.sampled_from(self.living()), max_size=4))
        removed = self.graph.remove_dead(candidates)
        expected: set[int] = set()
        stack = list(candidates)
        while stack:
            node = stack.pop()
            used = node in self.outputs or any(node in operands for operands in self.model.values())
            if node in expected or used or self.graph.names[node] is not None:
                continue
            expected.add(node)
            stack.extend(o for o in self.model.pop(node) if o >= 0)
        assert sorted(removed) == sorted(expected)
        assert all(self.graph.op[node] is DEAD for node in removed)

    @precondition(lambda self: any(self.model.values()))
    @rule(data=st.data())
    def fold(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from([n for n, operands in self.model.items() if operands]))
        self.graph.set_value(node, CONST, 1.0, TYPE)
        self.model[node] = ()

    @precondition(lambda self: any(self.model.values()))
    @rule(data=st.data())
    def fold_with_what_only_it_reads(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from([n for n, operands in self.model.items() if operands]))
        gone = {
            o for o in self.model[node] if o >= 0 and self.model[o] and o not in self.outputs
            and all(user == node for user, operands in self.model.items() if o in operands)
        }  # fmt: skip
        self.graph.set_values({node: (CONST, 1.0, TYPE)}, sorted(gone))
        below = list(self.model[node]) + [o for n in gone for o in self.model[n]]
        self.model[node] = ()
        for n in gone:
            del self.model[n]
        while below:
            o = below.pop()
            unused = (
                o in self.model and o not in self.outputs
                and not any(o in operands for operands in self.model.values())
            )
            if unused and self.graph.names[o] is None:
                below.extend(self.model.pop(o))

    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        """Go on with the copy; what happens to it must not show in the original."""
        original = self.graph
        before = (
            original.op[:], original.operands[:], [list(u) for u in original.users], original.outputs[:],
        )
        labels = None if original.order is None else list(original.order)
        self.graph = original.copy()
        self.add(data)
        self.set_outputs(data)
        self.remove_dead(data)
        after = (original.op, original.operands, [list(u) for u in original.users], original.outputs)
        assert before == (after[0], after[1], after[2], after[3])
        assert labels == (None if original.order is None else list(original.order))

    @invariant()
    def holds(self) -> None:
        assert check_invariants(self.graph) == []
        assert list(self.graph.nodes()) == self.living()
        assert len(self.graph) == len(self.model)
        assert self.graph.outputs == self.outputs
        for node, operands in self.model.items():
            assert self.graph.operands[node] == operands

    @invariant()
    def reverse_post_order_is_that_of_the_definition(self) -> None:
        expected: list[int] = []

        def visit(node: int) -> None:
            if node not in expected:
                for operand in self.model[node]:
                    if operand >= 0:
                        visit(operand)
                expected.append(node)

        for output in self.outputs:
            visit(output)
        assert self.graph.reverse_post_order() == expected

    @invariant()
    def inputs_stay(self) -> None:
        assert [self.graph.op[n] is INPUT for n in (0, 1)] == [True, True] if self.model else True


GraphMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestGraphMachine = GraphMachine.TestCase
