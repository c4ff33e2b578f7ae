"""Every construct of the language at work: each rule below is applied by its own `test` items, positive and
negative.
"""

from __future__ import annotations

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.testing import run_tests

CONSTRUCTS = {
    "sharing": """rule r(x) { y = exp(x); y * y => exp(x * 2.0) }
        test "same" for r { x: input float32[2]; y = exp(x); y * y => exp(x * 2.0) }
        test "other" for r { x: input float32[2]; exp(x) * exp(x) => unchanged }""",
    "walrus": """rule r(x): (y := exp(x)) * y => exp(x * 2.0);
        test "same" for r { x: input float32[2]; y = exp(x); y * y => exp(x * 2.0) }""",
    "commutative": """rule r(x, y): exp(x) + abs(y) => abs(y) - negative(exp(x));
        test "swapped" for r { x: input float32[2]; y: input float32[2]; abs(y) + exp(x) => abs(y) - negative(exp(x)) }""",
    "ordered": """rule r(x, y): ordered (exp(x) + abs(y)) => x - y;
        test "swapped" for r { x: input float32[2]; y: input float32[2]; abs(y) + exp(x) => unchanged }""",
    "infix": """rule r(x, y): -(x - y) / y => (y - x) / y;
        test "signs" for r { x: input float32[2]; y: input float32[2]; -(x - y) / y => (y - x) / y }""",
    "optional operator": """rule r(x): exp(nn.relu?(abs(x))) => exp(maximum(abs(x), x));
        test "there" for r { x: input float32[2]; exp(nn.relu(abs(x))) => exp(maximum(abs(x), x)) }
        test "not there" for r { x: input float32[2]; exp(abs(x)) => exp(maximum(abs(x), x)) }""",
    "alternatives and match": """rule r(x) { y = (a := nn.leaky_relu(x)) | (b := nn.relu(x)); negative(negative(y))
          => match y { a => nn.leaky_relu(x, a.*), b => nn.leaky_relu(x, alpha = 0.0) } }
        test "first" for r { x: input float32[2]; negative(negative(nn.leaky_relu(x))) => nn.leaky_relu(x) }
        test "second" for r { x: input float32[2]; negative(negative(nn.relu(x))) => nn.leaky_relu(x, alpha = 0.0) }""",
    "keep": """rule r(x): negative(keep negative(x)) => x;
        test "another user" for r { x: input float32[2]; y = negative(x); negative(y), abs(y) => x, abs(negative(x)) }""",
    "operators as arguments": """fn twice(f, x) = f(f(x));
        fn four(f, x) = twice(f, twice(f, x));
        rule r(x): twice(abs, x) => abs(x);
        rule s(x) for f in nn.relu, abs: four(f, x) => f(x);
        rule t(x, f: op(idempotent)) { y = twice(f, x); exp(y) => exp(f(x)) }
        test "named" for r { x: input float32[2]; abs(abs(x)) => abs(x) }
        test "by rows" for s[nn.relu] { x: input float32[2]; nn.relu(nn.relu(nn.relu(nn.relu(x)))) => nn.relu(x) }
        test "a variable" for t { x: input float32[2]; exp(nn.relu(nn.relu(x))) => exp(nn.relu(x)) }
        test "another operator" for t { x: input float32[2]; exp(nn.relu(abs(x))) => unchanged }""",
    "literals as arguments": """fn small(v) = v == none or v < 3;
        fn plus(y, b) = y if b == none else y + b;
        fn shape_of(v) = () if not (v != none and v.ndim > 0) else v.shape;
        rule r(x) { y = negative(x); negative(y) where small(none), small(y.ndim), shape_of(none) == () => plus(x, none) }
        rule s(x) for limit in none, 2 { abs(abs(x)) where limit == none or x.ndim > limit => abs(x) }
        test "none" for r { x: input float32[2]; negative(negative(x)) => x }
        test "without a limit" for s[none] { x: input float32[2]; abs(abs(x)) => abs(x) }
        test "with a limit" for s[2] { x: input float32[2]; abs(abs(x)) => unchanged }""",
    "operator variable": """rule r(x, f: op(elementwise, unary, not nn.relu)) { a = f(x); f(a, a.*) => a }
        test "twice" for r { x: input float32[2]; abs(abs(x)) => abs(x) }
        test "excluded" for r { x: input float32[2]; nn.relu(nn.relu(x)) => unchanged }
        test "two operators" for r { x: input float32[2]; exp(abs(x)) => unchanged }""",
    "types of new nodes": """rule r(x): abs(exp(x)) => reshape(exp(cast((y := reshape(x, newshape = (-1,))), dtype = y.dtype)), newshape = x.shape);
        rule s(x, y) { t = tanh(x + y); t + t => z = x + y; tanh(z) * const(value = 2, dtype = z.dtype) if z.ndim > 1 else tanh(z) + tanh(z) }
        test "flat" for r { x: input float16[2, 3]; abs(exp(x)) => reshape(exp(cast(reshape(x, newshape = (-1,)), dtype = "float16")), newshape = (2, 3)) }
        test "short" for s { x: input float32[2]; y: input float32[1]; t = tanh(x + y); t + t => z = x + y; tanh(z) + tanh(z) }
        test "long" for s { x: input float32[2, 1]; y: input float32[1]; t = tanh(x + y); t + t => tanh(x + y) * 2.0 }""",
    "operator variable by trait": """rule r(x, y, f: op(elementwise)): f(f(x, y), y) => f(x, y);
        rule s(x, f: op(_)): f(transpose(transpose(x))) => f(x);
        test "two operands" for r { x: input float32[2]; y: input float32[2]; maximum(maximum(x, y), y) => maximum(x, y) }
        test "one operand" for r { x: input float32[2]; exp(exp(x)) => unchanged }
        test "any operator" for s { x: input float32[2, 3]; nn.softmax(transpose(transpose(x))) => nn.softmax(x) }
        test "of one operand" for s { x: input float32[2, 3]; transpose(transpose(x)) + x => unchanged }""",
    "chain": """op fused(x: tensor, *rest: tensor, names: str[]) -> tensor;
        rule r(x) { chain c in 2.. from x { y = nn.relu(prev.y); } c[-1].y => nn.relu(x) }
        rule s(x, w) { conv = nn.conv2d(x, w); chain c in 1..3 from conv { f = op(elementwise, unary); y = f(prev.y); where y.op != prev.y.op; }
          c[-1].y => fused(nn.conv2d(x, w, conv.*), names = [i.y.op for i in c]) }
        rule t(x) { chain c in 2.. from x { b = param(); y = prev.y + b; where y.shape == prev.y.shape; } exp(c[-1].y)
          => exp(fused(x, *c.b, names = ("add",) * len(c))) }
        rule u(x) { chain blocks in 2.. from x { w = var(); y = prev.y + tanh(nn.dense(prev.y, w)); } blocks[-1].y => fused(x, *[b.w for b in blocks], names = ()) }
        rule v() { chain c in .. { y = keep clip(prev.y, a_min = prev.y.a_min); } c[-1].y where c[-1].y.a_max > 1.0, len(c) > 1 => clip(c[0].y, a_min = 0.0, a_max = c[-1].y.a_max) }
        test "whole run" for r { x: input float32[2]; tanh(nn.relu(nn.relu(nn.relu(x)))) => tanh(nn.relu(x)) }
        test "too short" for r { x: input float32[2]; nn.relu(x) => unchanged }
        test "begins behind what is used elsewhere" for r { x: input float32[2]; a = nn.relu(x); b = nn.relu(a); nn.relu(nn.relu(b)), abs(b)
          => b = nn.relu(x); nn.relu(b), abs(b) }
        test "its end may be an output" for r { x: input float32[2]; a = nn.relu(nn.relu(x)); a, nn.relu(a) => a = nn.relu(x); a, nn.relu(a) }
        test "operators of its own, three at most" for s { x: input float32[1, 1, 2, 2]; w: param float32[1, 1, 1, 1]; abs(exp(tanh(nn.relu(nn.conv2d(x, w)))))
          => abs(fused(nn.conv2d(x, w), names = ("nn.relu", "tanh", "exp"))) }
        test "a condition on neighbours" for s { x: input float32[1, 1, 2, 2]; w: param float32[1, 1, 1, 1]; exp(exp(nn.conv2d(x, w)))
          => exp(fused(nn.conv2d(x, w), names = ("exp",))) }
        test "side operands" for t { x: input float32[2]; a: param float32[2]; b: param float32[1]; exp((a + x) + b) => exp(fused(x, a, b, names = ("add", "add"))) }
        test "the first one against where it starts" for t { x: input float32[1]; a: param float32[2]; b: param float32[1]; c: param float32[2]; exp(((x + a) + b) + c)
          => exp(fused(x + a, b, c, names = ("add", "add"))) }
        test "residual stack" for u { x: input float32[2, 2]; v: param float32[2, 2]; w: param float32[2, 2]; a = x + tanh(nn.dense(x, v)); tanh(nn.dense(a, w)) + a
          => fused(x, v, w, names = ()) }
        test "another residual" for u { x: input float32[2, 2]; v: param float32[2, 2]; w: param float32[2, 2]; a = x + tanh(nn.dense(x, v)); tanh(nn.dense(a, w)) + x => unchanged }
        test "kept" for v { x: input float32[2]; a = clip(x, a_min = 0.0, a_max = 3.0); clip(a, a_min = 0.0, a_max = 2.0), exp(a)
          => a = clip(x, a_min = 0.0, a_max = 3.0); clip(a, a_min = 0.0, a_max = 2.0), exp(a) }
        test "another bound" for v { x: input float32[2]; clip(clip(x, a_min = 0.0, a_max = 3.0), a_min = 1.0, a_max = 2.0) => unchanged }""",
    "use counts": """rule r(x) { y = keep exp(x); tanh(y) where users(y) == 2, users(y, nn.relu) == 1 => tanh(exp(x)) }
        rule s(x) { t = keep transpose(x, axes = [1, 0]); exp(t) where users(t, nn.relu | abs) == 0 => exp(transpose(x, axes = [-1, 0])) }
        rule u(x) { s = keep nn.softmax(x); abs(s) where users(s, nn.softmax, axis = s.axis) == 1, users(s, elementwise) == 1 => s }
        rule v(x, f: op(elementwise, unary)) { y = f(x); abs(y) where users(x, f) == users(x), users(x, y.op) > 1 => y }
        test "two users" for r { x: input float32[2]; y = exp(x); tanh(y), nn.relu(y) => tanh(exp(x)), nn.relu(exp(x)) }
        test "three users" for r { x: input float32[2]; y = exp(x); tanh(y), nn.relu(y), sin(y) => unchanged }
        test "another user" for r { x: input float32[2]; y = exp(x); tanh(y), sin(y) => unchanged }
        test "followed by none" for s { x: input float32[2, 2]; y = transpose(x, axes = [1, 0]); exp(y), sin(y) => exp(transpose(x, axes = [-1, 0])), sin(transpose(x, axes = [1, 0])) }
        test "followed by one" for s { x: input float32[2, 2]; y = transpose(x, axes = [1, 0]); exp(y), abs(y) => unchanged }
        test "same axis" for u { x: input float32[2, 2]; y = nn.softmax(x); abs(y), nn.softmax(y) => y = nn.softmax(x); y, nn.softmax(y) }
        test "another axis" for u { x: input float32[2, 2]; y = nn.softmax(x); abs(y), nn.softmax(y, axis = 0) => unchanged }
        rule w(x, a) { y = exp(x + a); y where users(x, a.op) == 0 => y + 0.0 - 0.0 }
        test "the operator of no call" for w { x: input float32[2]; a: input float32[2]; exp(x + a) => exp(x + a) + 0.0 - 0.0 }
        test "all users alike" for v { x: input float32[2]; abs(exp(x)), exp(x) + 1.0 => exp(x), exp(x) + 1.0 }
        test "not alike" for v { x: input float32[2]; abs(exp(x)), exp(x) + 1.0, sin(x) => unchanged }""",
    "use counts in blocks": """param wanted: str[] = ("exp", "sin");
        @changes("all of it") rule r(x) { each b in 2.. { f = op(exp | tanh); y = f(x); where users(x, first.y.op) == 2; } *b.y => *[abs(x) for i in b] }
        @changes("all of it") rule s(x) { chain c in 2.. from x { f = op(abs | exp | sin); y = f(prev.y); where users(prev.y, prev.y.op) == 0; } c[-1].y => abs(x) }
        @changes("all of it") rule u(x) { chain c in 2.. from x { f = op(abs | exp | sin); y = f(prev.y); } c[-1].y where users(x, c[0].y.op) == 1 => abs(x) }
        @changes("all of it") rule v(x): tanh(x) where users(x, wanted) == 2 => x;
        @changes("all of it") rule w(x, f: op(exp | tanh)) { chain c in 2.. from x { y = f(prev.y); } c[-1].y where users(x, f) == 1 => abs(x) }
        test "of the variable" for w { x: input float32[2]; tanh(tanh(x)), exp(x) => abs(x), exp(x) }
        test "more of the variable" for w { x: input float32[2]; tanh(tanh(x)), tanh(x) => unchanged }
        test "two of the first" for r { x: input float32[2]; exp(x), exp(x), tanh(x) => abs(x), abs(x), abs(x) }
        test "one of the first" for r { x: input float32[2]; exp(x), tanh(x) => unchanged }
        test "no two in a row" for s { x: input float32[2]; exp(sin(exp(x))) => abs(x) }
        test "two in a row" for s { x: input float32[2]; exp(exp(x)) => unchanged }
        test "another beside the first" for u { x: input float32[2]; exp(sin(x)), exp(x) => abs(x), exp(x) }
        test "the same beside the first" for u { x: input float32[2]; exp(sin(x)), sin(x) => unchanged }
        test "a parameter" for v { x: input float32[2]; tanh(x), exp(x), sin(x) => x, exp(x), sin(x) }
        test "not the parameter's" for v { x: input float32[2]; tanh(x), exp(x), abs(x) => unchanged }""",
    "outputs of the graph": """rule r(x) { y = keep exp(x); tanh(y) where not is_output(y) => tanh(exp(x)) }
        rule s(x): negative(negative(x)) => x if is_output(x) else exp(x) - exp(x) + x;
        test "no output" for r { x: input float32[2]; y = exp(x); tanh(y), sin(y) => tanh(exp(x)), sin(exp(x)) }
        test "an output" for r { x: input float32[2]; y = exp(x); tanh(y), y => unchanged }
        test "an output in a tuple" for r { x: input float32[2]; y = exp(x); (tanh(y), y) => unchanged }
        test "in a tuple that is none" for r { x: input float32[2]; y = exp(x); tanh(y), concatenate((y, x), axis = 0) => tanh(exp(x)), concatenate((exp(x), x), axis = 0) }
        test "an input and output" for s { x: input float32[2]; negative(negative(x)), x => x, x }
        test "an input" for s { x: input float32[2]; negative(negative(x)) => exp(x) - exp(x) + x }""",
    "families": """rule neutral(x) for (Op, e) in (add, 0), (subtract, 0), (multiply, 1): Op(x, e) => x;
        rule same(x) for f in abs, nn.relu { a = f(x); f(a) => a }
        test "one of them" for neutral[add, 0] { x: input float32[2]; (x + 0.0) * 1.0 => x * 1.0 }
        test "all of them" for neutral { x: input float32[2]; (x + 0.0) * 1.0 => x }
        test "none of them" for neutral { x: input float32[2]; (x + 1.0) * 0.0 => unchanged }
        test "not this one" for same[nn.relu] { x: input float32[2]; abs(abs(x)) => unchanged }
        test "dotted" for same[nn.relu] { x: input float32[2]; nn.relu(nn.relu(x)) => nn.relu(x) }""",
    "operator list": """rule r(x, f: op(exp | tanh)): abs(f(x)) => f(x);
        test "other" for r { x: input float32[2]; abs(sin(x)) => unchanged }""",
    "constant": """rule r(x): x * 1.0 => x;
        test "one" for r { x: input float32[2]; x * 1.0 => x }
        test "two" for r { x: input float32[2]; x * 2.0 => unchanged }""",
    "splat": """rule r(x): x + splat(0) => x;
        test "number" for r { x: input float32[2]; x + 0.0 => x }""",
    "shape constraint": """rule r(x: any(shape = (*_, (h := _), h))): exp(x) => reshape(x, newshape = x.shape[:-2] + (h * h,));
        test "not square" for r { x: input float32[2, 3, 4]; exp(x) => unchanged }""",
    "one of two": """rule r(x): transpose(x, axes = none | [1, 0]) => transpose(x, axes = [-1, 0]);
        test "third" for r { x: input float32[2, 3]; transpose(x, axes = [0, 1]) => unchanged }""",
    "each element": """rule r(x): transpose(x, axes = [i for i in ..]) => x;
        test "identity" for r { x: input float32[2, 3]; transpose(x, axes = [0, 1]) => x }
        test "swap" for r { x: input float32[2, 3]; transpose(x, axes = [1, 0]) => unchanged }""",
    "functions": """fn gelu(x: tensor) = x * 0.5 * (1 + erf(x * 0.70710678));
        fn first_axis(t) = t.axis == 0;
        rule r(x): gelu(x) => nn.relu(x);
        rule s(x) { c = nn.softmax(x); c where first_axis(c) => x }
        test "last axis" for s { x: input float32[2, 3]; nn.softmax(x) => unchanged }""",
    "names in functions": """fn square(x) = (t := exp(x)) * t;
        fn rows(x) = (n := x.shape[0]) * n;
        rule r(t): abs(square(t)) => square(t);
        rule s(x): tanh(tanh(x)) where rows(x) == 9 => tanh(tanh(square(x) - square(x) + x));
        test "shared" for r { x: input float32[2]; y = exp(x); abs(y * y) => y = exp(x); y * y }
        test "not shared" for r { x: input float32[2]; abs(exp(x) * exp(x)) => unchanged }
        test "a value" for s { x: input float32[2]; tanh(tanh(x)) => unchanged }""",
    "operands named like kinds": """op my.twice(input: tensor) -> tensor { value = input + input };
        rule r(x): my.twice(input = x) => x * 2.0;
        test "call" for r { x: input float32[2]; my.twice(x) => x * 2.0 }""",
    "distinct": """rule r(x, y): x * y where distinct(x, y) => x;
        test "equal" for r { x: input float32[2]; x * x => unchanged }""",
    "where three-valued": """rule r(x) { exp(x) where x.shape[5] == 1 or x.ndim > 3 => x }
        test "unknown" for r { x: input float32[2]; exp(x) => unchanged }""",
    "symbolic": """rule r(x, y: any(shape = x.shape)): exp(x) + y => y + exp(x);
        test "other symbols" for r { x: input float32[n]; y: input float32[m]; exp(x) + reshape(y, newshape = [-1]) => unchanged }""",
    "bounds": """rule r() { each f in 2..3 { x = any(); y = exp(x); } c = concatenate((*f.y,)); c
          => exp(concatenate([i.x for i in f], axis = c.axis)) }
        test "two" for r { x: input float32[2]; y: input float32[2]; concatenate((exp(x), exp(y))) => exp(concatenate((x, y))) }
        test "one" for r { x: input float32[2]; concatenate((exp(x),)) => unchanged }""",
    "once": """@once
        rule r(x): exp(x) => exp(negative(negative(x)));
        test "ends" for r { x: input float32[2]; exp(x) => exp(negative(negative(x))) }""",
    "optional operand": """rule r(x, v: any?) { p = nn.pad(x, v, pad_mode = "constant"); p where v == none => nn.pad(x, v, p.*, pad_mode = "edge") }
        test "given" for r { x: input float32[2]; nn.pad(x, 1.0, pad_width = [[0, 0]]) => unchanged }""",
    "named operand": """rule r(x): nn.pad(x, pad_width = [[0, 0]], pad_value = 0) => x;
        test "named" for r { x: input float32[2]; nn.pad(x, pad_value = 0.0, pad_width = [[0, 0]]) => x }""",
    "choice in the target": """rule r(x): exp(x) => abs(x) if x.ndim == 1 else tanh(x);
        rule s(x): sin(x) => x;
        test "other" for s { x: input float32[2]; cos(x) => unchanged }""",
    "own operator": """op my.twice(x: tensor) -> tensor is elementwise, unary;
        rule r(x): x + x => my.twice(x);
        test "made" for r { x: input float32[2]; x + x => my.twice(x) }""",
    "variadic operands": """op my.cat(*inputs: tensor, axis: int = 0) -> tensor;
        rule r() { each f in 2.. { x = any(); y = exp(x); } c = my.cat(*f.y, axis = 1); c => exp(my.cat(*[i.x for i in f], c.*)) }
        test "two" for r { x: input float32[2]; y: input float32[2]; my.cat(exp(x), exp(y), axis = 1) => exp(my.cat(x, y, axis = 1)) }
        test "another axis" for r { x: input float32[2]; y: input float32[2]; my.cat(exp(x), exp(y)) => unchanged }""",
    "operand or attribute": """op my.clip(input: tensor, low: tensor | float = 0.0, high: tensor | float = 1.0) -> tensor;
        rule r(x) { c = my.clip(x, low = 0.0, high = _); c where c.high == 6.0 => nn.relu(x) }
        test "operands" for r { x: input float32[2]; my.clip(x, const(value = 0.0), const(value = 6.0)) => nn.relu(x) }
        test "defaults" for r { x: input float32[2]; my.clip(x) => unchanged }""",
    "several results": """rule r(x): nn.dropout(x).0 => x;
        test "mask" for r { x: input float32[2]; d = nn.dropout(x); d.1 => unchanged }""",
    "where as an operator": """rule r(c, x): where(c, x, x) => x;
        test "same" for r { c: input bool[2]; x: input float32[2]; where(c, x, x) => x }""",
    "operator named like a built-in": """rule r(x): sum(x, axis = []) => x;
        test "dialect in front" for r { x: input float32[2]; relay.sum(x) => unchanged }""",
}


@pytest.mark.parametrize("name", CONSTRUCTS)
@pytest.mark.parametrize("generated", [False, True])
def test_construct(name: str, generated: bool, request: pytest.FixtureRequest) -> None:
    if generated:
        request.getfixturevalue("code_at_once")
    program = check_source(Source("construct.gsl", CONSTRUCTS[name]))
    assert [(d.code, d.message, str(d.primary.span)) for d in program.diagnostics] == []
    outcomes = run_tests(program)
    assert outcomes, "a construct without a test shows nothing"
    assert [(o.title, o.problem) for o in outcomes if not o.passed] == []
