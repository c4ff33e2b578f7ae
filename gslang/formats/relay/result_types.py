"""Types of a graph that was read: inference where operators are known, what the text states elsewhere.

Inference wins over a statement; a contradiction is a finding.
"""

from __future__ import annotations

from collections.abc import Mapping

from gslang.dialect.call_check import CallError, checked_attributes
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Signature, TypeInferenceError
from gslang.dialect.tensor_type import Type
from gslang.formats.relay.spellings import BATCH_MATMUL, settle_transposition, states_transposition
from gslang.graph.graph import LEAVES, TUPLE, Graph
from gslang.graph.inference import contradiction, infer_node, refine


def complete_types(
    graph: Graph, dialect: Dialect | None, claims: Mapping[int, Type]
) -> list[tuple[int, str]]:
    """Fill in all types, operands first; returns (node, finding) for each contradiction."""
    findings = []
    stated = states_transposition(graph)
    for node in graph.reverse_post_order():
        claim = claims.get(node)
        known = graph.types[node]
        if graph.op[node] in LEAVES:
            if (why := contradiction(known, claim)) is not None:
                findings.append((node, f"the comment states a different type: {why}"))
            else:
                graph.types[node] = refine(known, claim)
            continue
        if graph.op[node] == BATCH_MATMUL:
            settle_transposition(graph, node, claim or known, stated)
        inferred: Type | None = None
        # Tuples and projections need no dialect.
        if dialect is not None or graph.op[node][0] == "%":
            signature = dialect.get(graph.op[node]) if dialect is not None else None
            undeclared = None if signature is None else _undeclared(signature, graph, node)
            try:
                inferred = infer_node(graph, dialect or _NOTHING, node)
            except TypeInferenceError as error:
                findings.append((node, f"`{graph.op[node]}` does not match its operands: {error}"))
            else:
                if undeclared is not None:
                    findings.append((node, undeclared))
        if graph.op[node] is TUPLE or known is None:
            known = inferred
        elif (why := contradiction(known, inferred)) is not None:  # of a function's body that was inlined
            findings.append((node, f"its function states a type other than the inferred one: {why}"))
            known = inferred
        else:
            known = refine(inferred, known)
        if (why := contradiction(claim, known)) is not None:
            findings.append(
                (node, f"the comment or annotation states a type other than the inferred one: {why}")
            )
            graph.types[node] = known
        else:
            graph.types[node] = refine(known, claim)
    return findings


def _undeclared(signature: Signature, graph: Graph, node: int) -> str | None:
    """The difference between a call and its operator's declaration, or None; its attributes are in normal
    form then."""
    try:
        graph.attrs[node] = checked_attributes(signature, len(graph.operands[node]), graph.attrs[node])
    except CallError as error:
        return str(error)
    return None


_NOTHING = Dialect("", {})
