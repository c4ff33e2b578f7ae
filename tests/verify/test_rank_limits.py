"""The ranks of inputs are within the limits that the prover takes them to have."""

import pytest

import gslang.api as api
from gslang.dialect.tensor_type import TensorType
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.verify.instances.draw import Search, drawn, starts_of
from gslang.verify.prove.prove import prove
from gslang.verify.prove.ranks.rank_limits import _rank_comes_from, rank_limits
from gslang.verify.prove.ranks.same_rank import keeps_rank

DRAWN = 2  # instances of each rule
ENOUGH = 6  # calls of each operator


def limits_of(text: str) -> dict[str, int]:
    rule = api.parse_rules("dialect onnx;\n" + text).own["r"]
    return {rule.nodes[k].name: rank for k, rank in rank_limits(rule).items() if rule.nodes[k].name}


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("rule r(x): Relu(x) where x.ndim == 4 => x;", {"x": 4}),
        ("rule r(x): Relu(x) where x.ndim < 4 => x;", {"x": 3}),
        ("rule r(x): Relu(x) where x.ndim in (2, 5) => x;", {"x": 5}),
        ("rule r(x): Relu(x) where x.ndim == 2 or x.ndim == 3 => x;", {"x": 3}),
        ("rule r(x): Relu(x) where x.ndim == 2 or x.shape[0] == 3 => x;", {}),
        ("rule r(x): Relu(x) where x.ndim >= 2 => x;", {}),
        ("rule r(x): Relu(x) where not x.ndim > 2 => x;", {}),
        ("rule r(x, y): (s := x + y) where s.ndim == 3 => s;", {"s": 3, "x": 3, "y": 3}),
        ("rule r(x, y): (s := MatMul(x, y)) where s.ndim == 3 => s;", {"s": 3, "x": 4, "y": 4}),
        ("rule r(x: any(shape = (_, _)), y): Relu(x) + y where y.shape == x.shape => x;", {"x": 2, "y": 2}),
        # another operator of that name
        (
            "op Gelu(X: tensor, approximate: str = \"none\", by: int = 0) -> tensor;\n"
            "rule r(x): (y := Gelu(x)) where y.ndim == 2 => x;",
            {"y": 2},
        ),
        # `x` is part of matches that do not go through `s`
        ("rule r(x, y): (s := x + y) | Relu(x) where x.dtype == \"float32\" => x;", {}),
        ("rule r(x, w): Gemm(x, w) | MatMul(x, w) => x;", {}),
        ("rule r(x, w): Gemm(x, w) + Relu(x) => x;", {"x": 2, "w": 2}),
    ],
)  # fmt: skip
def test_limits(text: str, limits: dict[str, int]) -> None:
    assert limits_of(text) == limits


@pytest.mark.parametrize("package", ["std.relay", "std.onnx", "std.onnxruntime", "std.discovered"])
def test_instances_are_within_limits(package: str) -> None:
    looked_at = 0
    for rule in api.load(package).own.values():
        limits = rank_limits(rule)
        for k in range(DRAWN) if limits else ():
            if (found := drawn(rule, Search(), 7, k)) is None:
                continue
            graph = found.before
            if any(graph.attrs[node].get("block_size") for node in graph.reverse_post_order()):
                continue  # proofs say that they leave these out
            for scope in (s for start in starts_of(graph) for s in matches(program_of(rule), graph, start)):
                for node, limit in limits.items():
                    slot = scope.slots[node]
                    if slot >= 0 and isinstance(type_ := graph.types[slot], TensorType):
                        assert type_.shape is not None and len(type_.shape) <= limit, (rule.name, node)
                        looked_at += 1
    assert looked_at > 5


def test_a_proof_looks_at_each_rank_within_limits() -> None:
    rule = api.parse_rules(
        "dialect onnx;\nrule r(x, y): (s := MatMul(x, y)) where s.ndim == 3 => MatMul(x, y);"
    ).own["r"]
    proof = prove(rule)
    assert proof.ranks is None and proof.suffices is None


def calls_of(package: str) -> list[tuple[str, str]]:
    """A rule for each operator of a dialect whose result has the rank of some operand: a call of it."""
    dialect = next(iter(api.load(package).own.values())).dialect
    found = []
    for name, signature in dialect.operators.items():
        plain = "elementwise" in signature.traits and not signature.operands[0].variadic
        if plain or keeps_rank(dialect, name):
            places = [k for k, operand in enumerate(signature.operands) if not operand.optional]
            inputs = ", ".join(f"x{k}" for k in places)
            result = "" if signature.results == "tensor" else ".0"
            given = ', direction = "LEFT"' if "direction" in signature.attributes else ""
            call = f"{name}({inputs}{given}){result}"
            found.append((name, f"dialect {dialect.name};\nrule r({inputs}): {call} => x0;"))
    return found


@pytest.mark.parametrize(("operator", "text"), calls_of("std.relay") + calls_of("std.onnxruntime"))
def test_operators_keep_the_ranks_of_operands(operator: str, text: str) -> None:
    rule = api.parse_rules(text).own["r"]
    call = next(node for node in rule.nodes if node.operators == (operator,))
    compared = _rank_comes_from(rule, call) or ()
    looked_at = 0
    for k in range(40 if compared else 0):
        if looked_at == ENOUGH or (found := drawn(rule, Search(), 3, k)) is None:
            continue
        graph = found.before
        node = next(n for n in graph.nodes() if graph.op[n] == operator)
        types = [graph.types[o] for o in graph.operands[node][: len(compared)]]
        if graph.attrs[node].get("output_shape"):
            continue  # where it is smaller than the input, ONNX's inference forgets its sizes
        result = getattr(graph.types[node], "fields", (graph.types[node],))[0]
        if result is not None and result.shape is not None:  # it depends on numbers that are computed
            looked_at += 1
            assert len(result.shape) == max(len(type_.shape) for type_ in types)
    assert looked_at or not compared or operator in ("GroupNormalization", "Pad", "Slice")
