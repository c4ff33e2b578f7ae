"""Values of attributes against what their operator declares: the types that hold them, and the domain that
they lie in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check.context import Lowering, ValueOf, article, branches_of
from gslang.check.decided import UNKNOWN
from gslang.check.known_values import known, known_items, possible
from gslang.dialect.call_check import MOST, conform
from gslang.dialect.declared_types import TypeReader
from gslang.dialect.domain import contains, literals
from gslang.dialect.domain_text import domain_text, value_text
from gslang.dialect.dtypes import DTYPE_WORDS, becomes_infinite, dtype_exists, dtype_meant, whole_numbers
from gslang.dialect.signature import AttributeSpec, AttributeType
from gslang.syntax import nodes as n

NODE_KINDS: Final = ("input", "param", "const", "call", "tuple", "proj")


def check_test(
    lowering: Lowering, expr: n.Expr | n.Star, test: ir.Test, spec: AttributeSpec, what: str
) -> None:
    """Report each literal in a constraint on an attribute that the attribute can never be."""
    for part, wanted in _equalities(lowering, expr, test):
        check_value(lowering, part, wanted, spec, what)


def unquoted(expr: n.Expr, spec: AttributeSpec | None) -> tuple[str, str | None]:
    """A name, and the help if nothing binds it: `SAME_UPPER` and `FLOAT` for the strings that an attribute
    may be. Without such a string the help is None."""
    if not isinstance(expr, n.Name) or spec is None:
        return "", None
    meant = expr.id if expr.id in literals(spec.domain) else None
    if meant is None and any(t.base == "dtype" for t in spec.types):
        meant = dtype_meant(expr.id)
    return expr.id, None if meant is None else f'strings are quoted: `"{meant}"`'


def check_dtype(lowering: Lowering, expr: n.Expr | n.Star, test: ir.Test) -> None:
    """Report each literal in a constraint on the data type of a node that names none."""
    for part, wanted in _equalities(lowering, expr, test):
        check_named(lowering, part, wanted)


def check_named(lowering: Lowering, expr: n.Expr | n.Star, found: ir.Value) -> None:
    """Report a literal for a data type that names none."""
    if isinstance(found, ir.Const) and isinstance(found.value, str):
        _check_dtype(lowering, found.value, expr)


_FACTS: Final = {
    "shape": ("a tuple of sizes", "write the sizes, `shape = (2, 3)`, and `_` for any size"),
    "ndim": ("a number from 0", "write the number of dimensions: `ndim = 2`"),
    "dtype": ("the name of a data type", 'write a string: `dtype = "float32"`'),
    "value": ("a number, or a tuple of numbers", "constants are compared with numbers"),
}


def check_fact(lowering: Lowering, field: str, expr: n.Expr | n.Star, test: ir.Test) -> None:
    """Report each known value in a constraint on the shape, rank, data type or elements of a node that none
    of them is."""
    for part, wanted in _equalities(lowering, expr, test):
        value = known(lowering, wanted)
        if value is not UNKNOWN and not _is_fact(field, value):
            what, hint = _FACTS[field]
            lowering.error("E0501", f"`{field}` is {what}, not `{value_text(value)}`", part.span, hint)


def check_elements(
    lowering: Lowering, expr: n.Expr | n.Star, test: ir.Test, constraints: Iterable[ir.Constraint]
) -> None:
    """Report each literal in a constraint on the elements of a constant that no element of its stated data
    type equals."""
    said = next((c.equal_to for c in constraints if c.field == "dtype"), None)
    dtype = said.value if isinstance(said, ir.Const) else None
    for part, wanted in _equalities(lowering, expr, test) if isinstance(dtype, str) else ():
        value = known(lowering, wanted)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(dtype, str) and (hint := _no_element(item, dtype)):
                shown = value_text(item)
                lowering.error("E0501", f"no element of type {dtype} is `{shown}`", part.span, hint)


def _no_element(value: object, dtype: str) -> str:
    """The help for a literal that is no element of a data type; empty for others."""
    limits = whole_numbers(dtype)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or limits is None:
        return ""
    if dtype == "bool":
        return "write `true` or `false`"
    least, most = limits
    whole = least <= value <= most and value == int(value)
    return "" if whole else f"write an integer from {least} to {most}"


def check_sizes(
    lowering: Lowering, code: str, expr: n.Expr | n.Star, found: ir.Value, *, unknown: bool = False
) -> None:  # fmt: skip
    """Report each literal in a shape that is no size; `unknown`: one may be `none`."""
    sizes = known_items(lowering, found)
    written = expr.items if isinstance(expr, n.TupleExpr) and len(expr.items) == len(sizes) else None
    for k, size in enumerate(sizes):
        if not (size is UNKNOWN or unknown and size is None or _is_fact("ndim", size)):
            lowering.error(
                code, f"`{value_text(size)}` is not a size", (expr if written is None else written[k]).span,
                "a size is a number from 0, or that of a node: `x.shape[0]`",
            )


def _is_fact(field: str, value: object) -> bool:
    match field:
        case "shape":
            return isinstance(value, tuple) and all(_is_fact("ndim", size) for size in value)
        case "ndim":
            return type(value) is int and value >= 0
        case "dtype":
            return isinstance(value, str)
    if isinstance(value, tuple):
        return all(_is_fact(field, item) for item in value)
    return isinstance(value, int | float)


def _check_dtype(lowering: Lowering, name: str, expr: n.Expr | n.Star) -> None:
    if not name or dtype_exists(name):
        return
    guess = dtype_meant(name)
    hint = 'data types: `"float32"`, `"int64"`, `"bool"`, …'
    if lowering.side == "source":
        hint += '; a part of the name: `"float" in x.dtype`'
    lowering.error(
        "E0313", f"`dtype` cannot be `{value_text(name)}`", expr.span,
        f'did you mean `"{guess}"`?' if guess else hint,
    )


def _equalities(
    lowering: Lowering, expr: n.Expr | n.Star, test: ir.Test
) -> Iterator[tuple[n.Expr | n.Star, ir.Value]]:  # fmt: skip
    """The values one of which a constraint demands, with where each is written."""
    if isinstance(test, ir.Equals):
        for part, found in possible(lowering, expr, ValueOf(test.value)):
            yield part, found.value
    written: Sequence[n.Expr] = ()
    match expr:
        case n.Walrus(_, inner):
            written = (inner,)
        case n.Binary("|"):
            written = branches_of(expr)
        case n.Conditional(then, _, otherwise):
            written = (then, otherwise)
    for part, of_test in zip(written, test.either):
        yield from _equalities(lowering, part, of_test)


def check_value(
    lowering: Lowering, expr: n.Expr | n.Star, found: ir.Value, spec: AttributeSpec, what: str
) -> None:
    """Report a constant that an attribute can never be."""
    value = known(lowering, found)
    if value is UNKNOWN:
        return
    if not fits(value, spec.types):
        shown = " | ".join(map(str, spec.types))
        lowering.error(
            "E0501", f"{what} is declared `{shown}`, got `{value_text(value)}`", expr.span,
            _value_like(value, spec.types) or f"write a value of type `{shown}`",
        )
    elif (limit := _beyond_width(lowering, value, spec.types)) is not None:
        lowering.error("E0313", f"{what} cannot be `{value_text(value)}`", expr.span, limit)
    elif is_outside(value, spec):
        lowering.error("E0313", f"{what} cannot be `{value_text(value)}`", expr.span, suggestion(value, spec))


def check_kind(
    lowering: Lowering, expr: n.Expr | n.Star, found: ValueOf, spec: AttributeSpec, what: str
) -> None:
    """Report a computed value of a kind that an attribute never has, as the shape of a node for a number."""
    kind = found.type
    if (
        kind not in _TOLD or any(_may_be(kind, t) for t in spec.types)
        or known(lowering, found.value) is not UNKNOWN
    ):
        return
    shown = " | ".join(map(str, spec.types))
    lowering.error(
        "E0501", f"{what} is declared `{shown}`, found {article(kind)}", expr.span,
        _number_of(kind, spec.types) or f"write a value of type `{shown}`",
    )


_TOLD: Final = frozenset({"tuple", "str", "dtype", "bool", "float", "int"})  # of others the kind is open


def _may_be(kind: str, declared: AttributeType) -> bool:
    if declared.base in ("tensor", "graph"):
        return True
    if declared.depth:
        return kind == "tuple"
    if kind in ("str", "dtype"):
        return declared.base in ("str", "dtype")
    return kind == declared.base or kind == "int" and declared.base in ("float", "bool")


def _number_of(kind: str, types: tuple[AttributeType, ...]) -> str | None:
    """The help for a condition or a tuple in place of a number, and for a number in place of a list."""
    if kind == "int" and any(t.depth == 1 and t.base == "int" for t in types):
        return "it is a list: write `[…]`"
    if not any(t.base in ("int", "float") and not t.depth for t in types):
        return None
    return {"bool": "write `1 if … else 0`", "tuple": "write one of its items, as in `x.shape[0]`"}.get(kind)


def _value_like(value: object, types: tuple[AttributeType, ...]) -> str | None:
    """The help for a value that only lacks the form of the type: the list of a number, the number of a list
    of one, or a whole number for a float; else what is written for the type."""
    lists = [kind for kind in types if kind.depth == 1]
    if lists and not isinstance(value, tuple) and fits((value,), types):
        return f"it is a list: write `[{value_text(value)}]`"
    if isinstance(value, tuple) and len(value) == 1 and fits(value[0], types):
        return f"it is a single value: write `{value_text(value[0])}`"
    if isinstance(value, float) and value.is_integer() and fits(int(value), types):
        return f"it is a whole number: write `{int(value)}`"
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
        number: object = float(value) if "." in value else int(value)
        return f"write the number, without quotes: `{value}`" if fits(number, types) else None
    if isinstance(value, bool) and fits(int(value), types):
        return f"write `{int(value)}`"
    if any(kind.base == "int" for kind in lists):
        return "write a list of whole numbers: `[1, 2]`"
    return None


def check_width(
    lowering: Lowering, expr: n.Expr, found: ir.Value, specs: Iterable[AttributeSpec], what: str
) -> None:
    """Report a number that no attribute can hold, of one that several operators declare, each its own way."""
    value = known(lowering, found)
    for spec in specs:
        if value is not UNKNOWN and (limit := _beyond_width(lowering, value, spec.types)) is not None:
            lowering.error("E0313", f"{what} cannot be `{value_text(value)}`", expr.span, limit)
            return


def _beyond_width(lowering: Lowering, value: object, types: tuple[AttributeType, ...]) -> str | None:
    """The help for a number that no attribute can hold: files have integers of 64 bits, and ONNX's have
    floats of 32. An infinite float is one of them."""
    numbers = value if isinstance(value, tuple) else (value,)
    integers = all(kind.base != "float" for kind in types)
    for number in numbers:
        if integers and isinstance(number, int) and not -MOST - 1 <= number <= MOST:
            return "integer attributes have 64 bits: from -2 ** 63 to 2 ** 63 - 1"
        if (
            not integers and lowering.dialect.name == "onnx" and isinstance(number, int | float)
            and becomes_infinite(number, "float32")
        ):
            return "float attributes are float32: at most about 3.4e38"
    return None


def is_outside(value: object, spec: AttributeSpec) -> bool:
    """True if a value of the right type lies outside the domain, whatever the operands' ranks and sizes are.
    """
    return contains(spec.domain, conform(value, spec)) is False


def suggestion(value: object, spec: AttributeSpec) -> str:
    """The literal that was probably meant, else the declared domain."""
    if isinstance(value, str):
        known = [text for text in literals(spec.domain) if isinstance(text, str)]
        guess = did_you_mean(value, known)
        if guess is None and any(t.base == "dtype" for t in spec.types):
            guess = dtype_meant(value)
        same_case = next((text for text in known if text.lower() == value.lower()), None)
        if same_case or guess:
            return f"did you mean `{value_text(same_case or guess)}`?"
    if isinstance(value, int) and any(t.base == "dtype" for t in spec.types):
        return 'data types are written by name: `"float32"`'
    return f"declared: `{domain_text(spec.domain)}`"


def check_comparison(
    lowering: Lowering, operator: str, left: ir.Value, right: ir.Value, left_expr: n.Expr, right_expr: n.Expr
) -> None:
    """Report `c.mode == "constnt"`, `"constnt" == c.mode`, and `c.mode in ("constnt", "edge")`.

    Numbers may be compared with what never occurs: `groups != 0` guards a division.
    """
    if operator in ("==", "!="):
        pairs = [(left, right, right_expr), (right, left, left_expr)]
    elif (
        operator in ("in", "not in") and isinstance(right, ir.Const) and isinstance(right.value, tuple)
        and isinstance(right_expr, n.TupleExpr)
    ):
        pairs = [(left, ir.Const(item), part) for item, part in zip(right.value, right_expr.items)]
    else:
        if operator in ("in", "not in") and isinstance(right, ir.NodeAttr) and right.name == "dtype":
            _check_part_of_dtype(lowering, left, left_expr)
        return
    for compared, constant, expr in pairs:
        if isinstance(constant, ir.Const) and isinstance(constant.value, str):
            name, spec = _captured(lowering, compared)
            hint = (
                _why_never(lowering, compared, constant.value, expr) if spec is None
                else _why_outside(constant.value, [spec])
            )
            if hint is not None:
                name = name or str(getattr(compared, "name", ""))
                lowering.error(
                    "E0313", f"`{name}` cannot be `{value_text(constant.value)}`", expr.span, hint
                )


def _check_part_of_dtype(lowering: Lowering, part: ir.Value, expr: n.Expr) -> None:
    """Report `"flaot" in x.dtype`."""
    if not isinstance(part, ir.Const) or not isinstance(part.value, str) or not part.value.isalpha():
        return
    if not any(part.value in word for word in DTYPE_WORDS):
        guess = did_you_mean(part.value.lower(), DTYPE_WORDS)
        lowering.error(
            "E0313", f"no data type has `{value_text(part.value)}` in its name", expr.span,
            f'did you mean `"{guess}"`?' if guess else 'data types: `"float32"`, `"int64"`, `"bool"`, …',
        )


def _why_never(lowering: Lowering, compared: ir.Value, text: str, expr: n.Expr) -> str | None:
    """The help for a text that an attribute or a parameter of the file never equals; None if it may."""
    if isinstance(compared, ir.Const) and compared.name is not None:
        declaration = lowering.functions.get(compared.name)
        if not isinstance(declaration, n.ParamDecl):
            return None
        domain = TypeReader((), (), lambda *_: None).union(declaration.types)
        texts = [value for value in literals(domain) if isinstance(value, str)]
        if not texts or contains(domain, text) is not False:
            return None
        guess = did_you_mean(text, texts)
        return f'did you mean `"{guess}"`?' if guess else f"declared: `{domain_text(domain)}`"
    if not isinstance(compared, ir.NodeAttr):
        return None
    if compared.name == "dtype":
        _check_dtype(lowering, text, expr)
    if compared.name == "op" and text not in lowering.dialect.operators:  # one of a graph may be undeclared
        guess = did_you_mean(text, lowering.dialect.operators)
        return f'did you mean `"{guess}"`? An operator of another name must be declared' if guess else None
    if compared.name == "kind" and text not in NODE_KINDS:
        guess = did_you_mean(text, NODE_KINDS)
        return (
            f'did you mean `"{guess}"`?' if guess
            else f"kinds of nodes: {', '.join(map(value_text, NODE_KINDS))}"
        )
    return _why_outside(text, declared(lowering, compared))


def _why_outside(text: str, specs: Sequence[AttributeSpec]) -> str | None:
    """The help for a text that an attribute never is, whichever of these declarations it has."""
    outside = specs and all(fits(text, spec.types) and is_outside(text, spec) for spec in specs)
    return suggestion(text, specs[0]) if outside else None


def _captured(lowering: Lowering, value: ir.Value) -> tuple[str, AttributeSpec | None]:
    """The name of a captured attribute and its declaration; nothing of other values."""
    if not isinstance(value, ir.Captured):
        return "", None
    return lowering.captures[value.capture], lowering.captured.get(value.capture)


def declared(lowering: Lowering, attribute: ir.NodeAttr) -> Sequence[AttributeSpec]:
    """The declarations of an attribute that a value reads; none where one of the operators is not known."""
    pattern = lowering.patterns[attribute.node]
    if not isinstance(pattern, ir.CallNode) or attribute.name in (
        "shape", "dtype", "ndim", "op", "kind", "name",
    ):
        return ()
    found = []
    for name in pattern.operators:
        signature = lowering.dialect.get(name)
        spec = None if signature is None else signature.attribute(attribute.name)
        if spec is None:
            return ()
        found.append(spec)
    return found


def fits(value: object, types: tuple[AttributeType, ...]) -> bool:
    """True if a constant can be held by an attribute of these types."""
    return any(_fits(value, kind.base, kind.depth, kind.optional) for kind in types)


def _fits(value: object, base: str, depth: int, optional: bool) -> bool:
    if value is None:
        return optional
    if depth:
        return isinstance(value, tuple) and all(_fits(item, base, depth - 1, False) for item in value)
    match base:
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "bool":
            return isinstance(value, bool) or value in (0, 1)
        case "str" | "dtype":
            return isinstance(value, str)
    return True
