"""What an expression stands for: a node, a value, a sequence — on either side of a rule.

The surface has one expression syntax for patterns and attribute values; which one is meant follows from the names in it
(language.md §3). Calls and infix signs with a tensor in them make nodes (`patterns` on the source side, `targets` on the
target side), everything else makes values (`values`). Functions are expanded here.
"""

from __future__ import annotations

from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import patterns, targets, values
from gslang.check.context import (
    BUILTIN_ARGUMENTS,
    KINDS,
    BlockOf,
    Denotation,
    InstanceOf,
    Lost,
    Lowering,
    NodeOf,
    NodesOf,
    OperatorOf,
    Stop,
    TargetOf,
    ValueOf,
    is_tensor,
)  # fmt: skip
from gslang.syntax import nodes as n

FACTS = {"shape": "tuple", "dtype": "dtype", "ndim": "int", "value": "array", "index": "int", "op": "any", "kind": "str"}
TENSOR_OR_BUILTIN = frozenset(("sum", "prod", "min", "max", "any", "all", "abs"))


def denote(low: Lowering, expr: n.Expr, *, ordered: bool = False) -> Denotation:
    """What `expr` stands for. Reports errors and raises `Stop` where nothing sensible can be said."""
    match expr:
        case n.Name(name):
            return _name(low, expr, name)
        case n.Literal(value):
            return ValueOf(ir.Const(value), values.type_of(value))
        case n.Attribute():
            return _attribute(low, expr)
        case n.Projection(base, index):
            return _project(low, expr, denote(low, base), ValueOf(ir.Const(index), "int"))
        case n.Index(base, index):
            return _index(low, expr, base, index)
        case n.Slice(base, lower, upper, step):
            return _slice(low, expr, base, (lower, upper, step))
        case n.Call():
            return _call(low, expr, ordered)
        case n.Unary("ordered", operand):
            return denote(low, operand, ordered=True)
        case n.Unary("keep", operand):
            return patterns.keep(low, expr, denote(low, operand))
        case n.Unary("-", operand):
            what = denote(low, operand)
            if is_tensor(what):
                return _make_call(low, expr, low.dialect.infix["neg"], (n.Positional(operand, span=operand.span),), [what])
            return values.unary(low, expr, "-", what)
        case n.Unary(operator, operand):
            return values.unary(low, expr, operator, denote(low, operand))
        case n.Binary("|", _, _):
            return patterns.alternatives(low, expr)
        case n.Binary(operator, left, right) if operator in ("+", "-", "*", "/"):
            a, b = denote(low, left), denote(low, right)
            if is_tensor(a) or is_tensor(b):
                arguments = (n.Positional(left, span=left.span), n.Positional(right, span=right.span))
                return _make_call(low, expr, low.dialect.infix[operator], arguments, [a, b], ordered)
            return values.binary(low, expr, operator, a, b)
        case n.Binary(("and" | "or") as operator, _, _):
            return values.logical(low, expr, operator)
        case n.Binary(operator, left, right):
            return values.binary(low, expr, operator, denote(low, left), denote(low, right))
        case n.Comparison():
            return values.comparison(low, expr)
        case n.Conditional(then, condition, otherwise):
            test = values.value(low, condition)
            a, b = denote(low, then), denote(low, otherwise)
            if is_tensor(a) or is_tensor(b):
                return targets.choose(low, expr, test.value, (then, a), (otherwise, b))
            first, second = values.force(low, then, a), values.force(low, otherwise, b)
            kind = first.type if first.type == second.type else "any"
            return ValueOf(ir.IfValue(test.value, first.value, second.value), kind)
        case n.Walrus(name, value):
            what = denote(low, value, ordered=ordered)
            name_it(low, name, what)
            return what
        case n.TupleExpr(items):
            return _tuple(low, expr, items)
        case n.Comprehension():
            return _comprehension(low, expr)
        case n.Match():
            return _match(low, expr)
        case n.Hole():
            low.stop("E0506", "`_` stands for anything only where a source pattern is constrained", expr.span)
        case n.OperatorKind():
            low.stop("E0310", "`op(…)` is the kind of an input: `rule r(f: op(elementwise), x)`", expr.span)
        case n.Star():
            low.stop("E0607", "`*` stands before an operand, a field or an output", expr.span)
        case n.Range():
            low.stop("E0607", "`..` stands in `each` and in comprehensions", expr.span)
    raise AssertionError(f"unknown expression {expr!r}: this is a bug in gslang")


def name_it(low: Lowering, name: n.Name, what: Denotation) -> None:
    """Bind a name; a node takes it as its own if it has none, a value becomes a let."""
    match what:
        case NodeOf(place, node) if isinstance(place, ir.Own) and low.side == "source" and low.patterns[node].name is None:
            patterns.rename(low, node, name.id)
        case ValueOf(value, kind):
            what = ValueOf(low.add_let(value), kind)
        case TargetOf(target) if low.target_names[target] is None:
            low.target_names[target] = name.id
    low.bind(name, what)


def _name(low: Lowering, expr: n.Name, name: str) -> Denotation:
    what = low.look_up(name)
    if what is not None:
        low.used_inputs.add(name)
        if isinstance(what, Lost):
            raise Stop  # its definition has an error that is reported
        return what
    if name == "index" and low.inside is not None:
        return ValueOf(ir.InstanceIndex(low.inside.block), "int")
    if name == "first" and low.inside is not None:
        return InstanceOf(low.inside.block, ir.First(low.inside.block))
    if name in ("index", "first"):
        low.stop("E0405", f"`{name}` has a meaning only inside `each`", expr.span)
    if name == "opset" and low.dialect.name == "onnx":
        return ValueOf(ir.Opset(), "int")
    if name in low.functions:
        low.stop("E0504", f"`{name}` is a function: call it", expr.span, f"write `{name}(…)`")
    if name in KINDS and low.side == "source" and name != "op":
        return patterns.inline_kind(low, expr, name, ())
    low.unknown_name(name, expr.span)


def _attribute(low: Lowering, expr: n.Attribute) -> Denotation:
    base = denote(low, expr.base)
    field = expr.field
    match base:
        case NodeOf(place, node):
            return ValueOf(ir.NodeAttr(place, node, field), attribute_type(low, expr, node))
        case InstanceOf(block, place):
            return template_name(low, expr, block, field, place)
        case BlockOf(block, None):
            what = template_name(low, expr, block, field, ir.OWN)
            if isinstance(what, NodeOf):
                return NodesOf(block, what.node)
            assert isinstance(what, ValueOf)
            local = low.new_local()
            place = ir.At(block, ir.Local(local))
            inner = template_name(low, expr, block, field, place)
            assert isinstance(inner, ValueOf)
            return ValueOf(ir.Comprehension(inner.value, (local,), ir.Instances(block), None), "tuple")
        case TargetOf():
            low.stop(
                "E0502", f"`{field}` of a new node is not known yet", expr.span,
                "compute it from the nodes of the source",
            )  # fmt: skip
        case ValueOf(_, kind):
            low.stop("E0502", f"a value ({kind}) has no attribute `{field}`", expr.span)
    low.stop("E0502", f"this has no attribute `{field}`", expr.span)


def template_name(low: Lowering, expr: n.Attribute, block: int, field: str, place: ir.Place) -> Denotation:
    """A name of a template, for the instance that `place` means."""
    template = low.templates[block]
    what = template.names.get(field)
    if isinstance(what, Lost):
        raise Stop
    if what is None and isinstance(place, ir.First) and field in template.declared:
        what = low.add_ahead(template, field, expr.span)
    match what:
        case NodeOf(_, node):
            return NodeOf(place, node) if low.patterns[node].block is not None else what
        case ValueOf(value, kind):
            return ValueOf(moved(value, place), kind)
        case None:
            guess = did_you_mean(field, template.names)
            low.stop(
                "E0201", f"the template has no name `{field}`", expr.field_span,
                f"did you mean `{guess}`?" if guess else f"its names: {', '.join(f'`{x}`' for x in template.names) or 'none'}",
            )  # fmt: skip
    return what


def moved(value: ir.Value, place: ir.Place) -> ir.Value:
    """A template's value as seen for another instance."""
    match value:
        case ir.Let(_, number):
            return ir.Let(place, number)
        case ir.Captured(_, number):
            return ir.Captured(place, number)
        case ir.NodeAttr(_, node, name):
            return ir.NodeAttr(place, node, name)
    return value


def attribute_type(low: Lowering, expr: n.Attribute, node: int) -> str:
    """Check that `p.field` can exist, and give its type."""
    field = expr.field
    pattern = low.patterns[node]
    branches = patterns.without_alternatives(low, node)
    if any(node in template.ahead.values() for template in low.templates):
        return "any"  # `first.NAME` inside its own definition
    if field in ("shape", "dtype", "ndim", "op", "kind"):
        return FACTS[field]
    found: list[str] = []
    for branch in branches:
        part = low.patterns[branch]
        match part:
            case ir.CallNode(operators=operators, variable=variable):
                kinds = [kind for name in operators if (kind := _declared(low, name, field)) is not None]
                wanted = len(operators) if variable is None or not _by_trait(low, variable) else 1
                if len(kinds) < max(1, wanted):
                    _no_attribute(low, expr, operators)
                found += kinds
            case ir.LeafNode(kind=kind) if field == "value" and kind in ("const", "any"):
                found.append("array")
            case ir.ProjNode() if field == "index":
                found.append("int")
            case ir.LeafNode(kind="any") if field == "index":
                found.append("int")
            case _:
                low.stop(
                    "E0502", f"`{pattern.name or 'this node'}` has no attribute `{field}`", expr.field_span,
                    "what every node has: `shape`, `dtype`, `ndim`, `kind`, `op`",
                )  # fmt: skip
    return found[0] if found and all(kind == found[0] for kind in found) else "any"


def _declared(low: Lowering, operator: str, field: str) -> str | None:
    signature = low.dialect.get(operator)
    if signature is None:
        return "any"
    if field in signature.attributes:
        return values.declared_type(signature.attributes[field].types)
    for operand in signature.operands:
        if operand.name == field and operand.attribute is not None:
            return values.declared_type(operand.attribute.types)
    return None


def _by_trait(low: Lowering, variable: str) -> bool:
    return variable in low.trait_variables


def _no_attribute(low: Lowering, expr: n.Attribute, operators: tuple[str, ...]) -> None:
    lacking = next(name for name in operators if _declared(low, name, expr.field) is None)
    signature = low.dialect.operators[lacking]
    guess = did_you_mean(expr.field, [*signature.attributes, "shape", "dtype", "ndim"])
    listed = ", ".join(f"`{name}`" for name in signature.attributes) or "none"
    low.stop(
        "E0303", f"`{lacking}` has no attribute `{expr.field}`", expr.field_span,
        f"did you mean `{guess}`?" if guess else f"its attributes: {listed}",
    )  # fmt: skip


# ── projections, items, slices ────────────────────────────────────────────────────────────────────────────────


def _project(low: Lowering, expr: n.Expr, base: Denotation, index: ValueOf) -> Denotation:
    match base:
        case NodeOf() if low.side == "source":
            return patterns.project(low, expr, base, ir.Equals(index.value))
        case NodeOf() | TargetOf():
            return targets.project(low, expr, base, index.value)
        case ValueOf(value, _):
            return ValueOf(ir.ItemValue(value, index.value))
        case BlockOf(block, None):
            return InstanceOf(block, ir.At(block, index.value))
        case BlockOf(block, indices) if indices is not None:
            return InstanceOf(block, ir.At(block, ir.ItemValue(indices, index.value)))
        case NodesOf(block, node):
            return NodeOf(ir.At(block, index.value), node)
    low.stop("E0501", "this has no items", expr.span)


def _index(low: Lowering, expr: n.Index, base: n.Expr, index: n.Expr) -> Denotation:
    what = denote(low, base)
    if low.side == "source" and isinstance(what, NodeOf):
        return patterns.project(low, expr, what, values.test(low, index))
    return _project(low, expr, what, values.value(low, index))


def _slice(low: Lowering, expr: n.Slice, base: n.Expr, bounds: tuple[n.Expr | None, ...]) -> Denotation:
    parts = [None if bound is None else values.value(low, bound).value for bound in bounds]
    match denote(low, base):
        case ValueOf(value, kind):
            return ValueOf(ir.SliceValue(value, *parts), kind)
        case BlockOf(block, indices):
            return BlockOf(block, ir.SliceValue(indices or ir.Instances(block), *parts))
    low.stop("E0501", "only values and sequences of instances have slices", expr.span)


# ── tuples, comprehensions, match ─────────────────────────────────────────────────────────────────────────────


def _tuple(low: Lowering, expr: n.TupleExpr, items: tuple[n.Expr, ...]) -> Denotation:
    parts: list[tuple[n.Expr, Denotation]] = []
    tensor = False
    for item in items:
        inner = item.value if isinstance(item, n.Star) else item
        what = denote(low, inner)
        tensor = tensor or is_tensor(what)
        parts.append((item, what))
    if tensor:
        return patterns.make_tuple(low, expr, parts) if low.side == "source" else targets.make_tuple(low, expr, parts)
    result: list[ir.Value | ir.SpreadValue] = []
    for item, what in parts:
        value = values.force(low, item, what).value
        result.append(ir.SpreadValue(value) if isinstance(item, n.Star) else value)
    if all(isinstance(part, ir.Const) for part in result):
        return ValueOf(ir.Const(tuple(part.value for part in result if isinstance(part, ir.Const))), "tuple")
    return ValueOf(ir.TupleValue(tuple(result)), "tuple")


def _comprehension(low: Lowering, expr: n.Comprehension) -> Denotation:
    """`[e for v in s]`: a value, or several targets. In a source, `[t[i] for i in ..]` is a template."""
    if isinstance(expr.source, n.Range) and expr.source.upper is None:
        if low.side == "source":
            return patterns.short_template(low, expr)
        low.stop("E0606", "`..` without an end has no length here", expr.source.span, "write `range(n)` or an upper bound")
    source, names = _loop_names(low, expr)
    low.overlay.append(names)
    first_target = len(low.targets)
    try:
        condition = None if expr.condition is None else values.value(low, expr.condition).value
        element = denote(low, expr.element)
    finally:
        low.overlay.pop()
    numbers = tuple(_locals_of(names))
    if not is_tensor(element):
        value = values.force(low, expr.element, element)
        return ValueOf(ir.Comprehension(value.value, numbers, source, condition), "tuple")
    if low.side == "source":
        low.stop("E0504", "patterns are repeated with `each`", expr.span, "write `each NAME in .. { … }`")
    target = targets.target_of(low, expr.element, element)
    inner = frozenset(range(first_target, len(low.targets)))
    return low.add_target(ir.Repeat(target, numbers, source, condition, inner), expr.span, several=True)


def _locals_of(names: dict[str, Denotation]) -> list[int]:
    found = []
    for what in names.values():
        match what:
            case ValueOf(ir.Local(number), _):
                found.append(number)
            case InstanceOf(_, ir.At(_, ir.Local(number))):
                found.append(number)
            case NodeOf(ir.At(_, ir.Local(number)), _):
                found.append(number)
    return found


def _loop_names(low: Lowering, expr: n.Comprehension) -> tuple[ir.Value, dict[str, Denotation]]:
    """The source of a comprehension as a value, and what its variables stand for."""
    for name in expr.targets:
        if low.look_up(name.id) is not None:
            low.error("E0202", f"`{name.id}` is bound already", name.span, "choose another name for the variable")
    names: dict[str, Denotation] = {}
    if isinstance(expr.source, n.Range):
        low_end, high_end = expr.source.lower or 0, expr.source.upper
        source: ir.Value = ir.RangeValue(ir.Const(low_end), ir.Const(high_end))
    else:
        match denote(low, expr.source):
            case BlockOf(block, indices):
                if len(expr.targets) != 1:
                    low.stop("E0501", "an instance is one item", expr.span, "use one variable")
                local = low.new_local()
                names[expr.targets[0].id] = InstanceOf(block, ir.At(block, ir.Local(local)))
                return indices or ir.Instances(block), names
            case NodesOf(block, node):
                local = low.new_local()
                names[expr.targets[0].id] = NodeOf(ir.At(block, ir.Local(local)), node)
                return ir.Instances(block), names
            case ValueOf(value, kind):
                if kind in ("int", "float", "bool", "none"):
                    low.error("E0501", f"cannot run over a value of type {kind}", expr.source.span)
                source = value
            case _:
                low.stop("E0501", "cannot run over this", expr.source.span)
    for name in expr.targets:
        names[name.id] = ValueOf(ir.Local(low.new_local()))
    return source, names


def _match(low: Lowering, expr: n.Match) -> Denotation:
    what = denote(low, expr.subject)
    if not isinstance(what, NodeOf) or not isinstance(low.patterns[what.node], ir.AltNode):
        low.stop("E0403", "`match` chooses between alternatives; this is none", expr.subject.span, "name an `a | b` of the source")
    branches = low.branch_names[what.node]
    arms: list[tuple[n.Arm, Denotation] | None] = [None] * len(branches)
    for arm in expr.arms:
        if arm.name is None:
            chosen = [k for k, known in enumerate(arms) if known is None]
        elif arm.name.id in branches:
            chosen = [k for k, name in enumerate(branches) if name == arm.name.id]
        else:
            guess = did_you_mean(arm.name.id, [b for b in branches if b])
            low.error(
                "E0402", f"`{arm.name.id}` is no alternative of this", arm.name.span,
                f"did you mean `{guess}`?" if guess else "name alternatives: `(a := p) | (b := q)`",
            )  # fmt: skip
            continue
        result = denote(low, arm.value)
        for k in chosen:
            if arms[k] is None:
                arms[k] = (arm, result)
    present = [arm for arm in arms if arm is not None]
    if any(is_tensor(result) for _, result in present):
        if low.side == "source":
            low.stop("E0504", "`match` makes no pattern; it is used in attributes and targets", expr.span)
        numbers = tuple(None if a is None else targets.target_of(low, a[0].value, a[1]) for a in arms)
        return low.add_target(ir.SelectTarget(what.place, what.node, numbers), expr.span)
    forced = [None if a is None else values.force(low, a[0].value, a[1]) for a in arms]
    kinds = {f.type for f in forced if f is not None}
    kind = kinds.pop() if len(kinds) == 1 else "any"
    return ValueOf(ir.SelectValue(what.place, what.node, tuple(None if f is None else f.value for f in forced)), kind)


# ── calls ─────────────────────────────────────────────────────────────────────────────────────────────────────


def dotted(expr: n.Expr) -> str | None:
    """`a.b.c` as one name, if it is nothing but names."""
    parts: list[str] = []
    while isinstance(expr, n.Attribute):
        parts.append(expr.field)
        expr = expr.base
    if not isinstance(expr, n.Name):
        return None
    return ".".join([expr.id, *reversed(parts)])


def _call(low: Lowering, expr: n.Call, ordered: bool) -> Denotation:
    """Before `(` stands, in this order: an operator variable, a `fn`, an operator, a built-in, a kind."""
    name = dotted(expr.callee)
    if name is None:
        low.stop("E0304", "this cannot be called", expr.callee.span)
    known = low.look_up(name)
    if isinstance(known, Lost) and name not in low.dialect.operators:
        raise Stop
    if isinstance(known, OperatorOf):
        low.used_inputs.add(name)
        return _make_call(low, expr, known, expr.arguments, None, ordered)
    if name == "distinct":
        return values.distinct(low, expr)
    if name == "splat" or name == "const" and name not in low.functions:
        if low.side == "source":
            return patterns.constant_call(low, expr, name)
        return targets.constant_call(low, expr, name)
    if name in low.functions:
        return _expand(low, expr, low.functions[name])
    if name in ("any", "var", "input", "param") and all(isinstance(a, n.Keyword) for a in expr.arguments):
        if low.side == "source":
            return patterns.inline_kind(low, expr, name, expr.arguments)
    short = name.removeprefix(low.dialect.name + ".")
    operator = name if name in low.dialect.operators else short
    if operator in low.dialect.operators:
        if operator in BUILTIN_ARGUMENTS and (operator not in TENSOR_OR_BUILTIN or not _has_tensor(low, expr)) and name == short:
            return values.builtin(low, expr, operator)
        return _make_call(low, expr, operator, expr.arguments, None, ordered)
    if name in BUILTIN_ARGUMENTS:
        return values.builtin(low, expr, name)
    if isinstance(known, (NodeOf, TargetOf, ValueOf)):
        low.stop("E0304", f"`{name}` is bound to something that cannot be called, and no operator has this name", expr.callee.span)
    guess = did_you_mean(name, [*low.dialect.operators, *low.functions, *BUILTIN_ARGUMENTS])
    low.stop(
        "E0301", f"unknown operator `{name}`", expr.callee.span,
        f"did you mean `{guess}`?" if guess else f"declare it: `op {name}(x: tensor) -> tensor;`",
    )  # fmt: skip


def _has_tensor(low: Lowering, expr: n.Call) -> bool:
    """True if an argument is a tensor node (looked at without leaving a trace)."""
    for argument in expr.arguments:
        if isinstance(argument, n.Positional) and _looks_like_tensor(low, argument.value):
            return True
    return False


def _looks_like_tensor(low: Lowering, expr: n.Expr) -> bool:
    match expr:
        case n.Name(name):
            return is_tensor(low.look_up(name))
        case n.Call(callee):
            name = dotted(callee) or ""
            known = low.look_up(name)
            if isinstance(known, OperatorOf):
                return True
            if name in low.functions:
                return any(_looks_like_tensor(low, a.value) for a in expr.arguments if isinstance(a, n.Positional))
            short = name.removeprefix(low.dialect.name + ".")
            if short in TENSOR_OR_BUILTIN:
                return _has_tensor(low, expr)
            return short in low.dialect.operators and short not in BUILTIN_ARGUMENTS
        case n.Unary(_, operand):
            return _looks_like_tensor(low, operand)
        case n.Binary(operator, left, right) if operator in ("+", "-", "*", "/", "|"):
            return _looks_like_tensor(low, left) or _looks_like_tensor(low, right)
        case n.Projection(base, _) | n.Index(base, _):
            return _looks_like_tensor(low, base)
        case n.Attribute(base, field):
            if isinstance(base, (n.Name, n.Index)):
                what = low.look_up(base.id) if isinstance(base, n.Name) else None
                if isinstance(what, InstanceOf):
                    return is_tensor(low.templates[what.block].names.get(field))
            return False
        case n.Walrus(_, value):
            return _looks_like_tensor(low, value)
        case n.Conditional(then, _, otherwise):
            return _looks_like_tensor(low, then) or _looks_like_tensor(low, otherwise)
    return False


def _expand(low: Lowering, expr: n.Call, function: n.FnDecl) -> Denotation:
    """A call of a `fn`: its body with the arguments' meanings for its parameters; its own nodes are new at each use."""
    name = function.name.id
    if name in low.expanding:
        loop = " → ".join([*low.expanding[low.expanding.index(name) :], name])
        low.stop("E0306", f"`{name}` calls itself: {loop}", expr.span, "functions are expanded; there is no recursion")
    given: dict[str, Denotation] = {}
    parameters = [p.name.id for p in function.parameters]
    positional = 0
    for argument in expr.arguments:
        match argument:
            case n.Positional(value):
                if positional < len(parameters):
                    given[parameters[positional]] = denote(low, value)
                positional += 1
            case n.Keyword(key, value) if key in parameters:
                given[key] = denote(low, value)
            case n.Keyword(key, _):
                guess = did_you_mean(key, parameters)
                low.stop("E0305", f"`{name}` has no parameter `{key}`", argument.span, f"did you mean `{guess}`?" if guess else None)
            case _:
                low.stop("E0305", "a function takes plain arguments", argument.span)
    if positional > len(parameters) or len(given) != len(parameters):
        many = "s" if len(parameters) != 1 else ""
        low.stop(
            "E0305", f"`{name}` takes {len(parameters)} argument{many}, got {max(positional, len(given))}", expr.span,
            related=(_label(function.name, "declared here"),),
        )  # fmt: skip
    for parameter, what in ((p, given[p.name.id]) for p in function.parameters):
        if parameter.type is not None and parameter.type.id == "tensor" and isinstance(what, ValueOf) and what.type in ("str", "tuple"):
            low.error("E0501", f"`{parameter.name.id}` of `{name}` is a tensor", expr.span)
    before = low.expanding
    low.expanding = (*before, name)
    low.overlay.append({"": ValueOf(ir.Const(None)), **given})
    count = len(low.diagnostics)
    try:
        return denote(low, function.body)
    finally:
        low.overlay.pop()
        low.expanding = before
        if len(low.diagnostics) > count and not before:
            low.diagnostics[count:] = [_at_use(d, expr, name) for d in low.diagnostics[count:]]


def _at_use(diagnostic, expr: n.Call, name: str):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    return replace(diagnostic, related=(*diagnostic.related, _label(expr, f"in this use of `{name}`")))


def _label(node: n.Node, text: str):  # type: ignore[no-untyped-def]
    from gslang.base.diagnostics import Label

    return Label(node.span, text)


def _make_call(
    low: Lowering, expr: n.Expr, operator: str | OperatorOf, arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None, ordered: bool = False,
) -> Denotation:  # fmt: skip
    if low.side == "source":
        return patterns.make_call(low, expr, operator, arguments, known, ordered)
    return targets.make_call(low, expr, operator, arguments, known)
