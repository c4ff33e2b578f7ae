"""`@once`, `@tags(…)`, … on rules."""

from __future__ import annotations

from collections.abc import Mapping

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.check.context import Lowering
from gslang.syntax import nodes as n

KNOWN = ("tags", "approximate", "attach", "changes", "once", "opset", "disconnected", "extern", "allow")


_ONCE = ("once", "disconnected", "approximate", "opset")
_OTHERS: Mapping[type, tuple[str, tuple[str, ...]]] = {
    n.Test: ("a test", ("opset", "allow")), n.PassDecl: ("a pass", ("allow",)),
    n.OpDecl: ("an operator", ("allow",)), n.ParamDecl: ("a parameter", ("allow",)),
}
"""Items other than rules and functions, and the annotations that they have."""


def misplaced(item: n.Item) -> list[Diagnostic]:
    """The annotations of rules that stand at another item."""
    what, known = _OTHERS.get(type(item), ("", KNOWN))
    return [
        Diagnostic(
            "E0701", f"`@{annotation.name.id}` is not an annotation of {what}", Label(annotation.name.span),
            help=f"remove it: {what} has {' and '.join(f'`@{name}`' for name in known)}",
        )
        for annotation in item.annotations if annotation.name.id in KNOWN and annotation.name.id not in known
    ]


@dataclass(slots=True)
class Marks:
    once: bool = False
    disconnected: bool = False
    approximate: float | None = None
    changes: str | None = None
    tags: tuple[str, ...] = ()
    opset: tuple[int | None, int | None] = (None, None)


def read(lowering: Lowering, item: n.Item) -> Marks:
    """The contents of a rule's annotations; wrong ones are reported."""
    marks = Marks()
    lowering.diagnostics += misplaced(item)
    seen: set[str] = set()
    for annotation in item.annotations:
        arguments = annotation.arguments
        name = annotation.name.id
        if name in seen and name in _ONCE:
            lowering.error("E0702", f"`@{name}` is given twice", annotation.span, "remove one of them")
        seen.add(name)
        match name:
            case "once" | "disconnected" as name:
                if arguments:
                    lowering.error(
                        "E0702", f"`@{name}` takes no argument", annotation.span, f"write `@{name}`"
                    )
                setattr(marks, name, True)
            case "tags":
                marks.tags += _tags(lowering, annotation)
            case "approximate":
                if (tolerance := _tolerance(lowering, annotation)) is not None:
                    marks.approximate = tolerance
            case "attach":
                pass  # it is about the target: `attached`
            case "changes":
                _read_changes(lowering, annotation, marks)
            case "opset":
                if lowering.dialect.name != "onnx" and isinstance(item, n.Rule):
                    lowering.error(
                        "E0702", f"a rule of dialect {lowering.dialect.name} has no operator sets",
                        annotation.span, "remove it: `@opset` is for rules of `dialect onnx;`",
                    )
                marks.opset = _versions(lowering, annotation) or marks.opset
            case "extern":
                lowering.error(
                    "E0702", "`@extern` annotates a `fn`", annotation.span,
                    '`@extern("module:function") fn f(x: int) -> bool;`',
                )
            case "allow":
                if not arguments or not all(isinstance(a.value, n.Name) for a in arguments):
                    lowering.error(
                        "E0702", "`@allow` takes codes", annotation.span,
                        "write the codes of warnings: `@allow(W1003)`",
                    )
            case name:
                guess = did_you_mean(name, KNOWN)
                lowering.error(
                    "E0701", f"unknown annotation `@{name}`", annotation.name.span,
                    f"did you mean `@{guess}`?" if guess else f"known: {', '.join('@' + k for k in KNOWN)}",
                )  # fmt: skip
    if marks.changes is not None and marks.approximate is not None:
        lowering.error(
            "E0702", "`@changes` and `@approximate` are mutually exclusive", item.annotations[0].span,
            "`@approximate` promises equality up to rounding, `@changes` none: keep only one",
        )  # fmt: skip
    return marks


def _tags(lowering: Lowering, annotation: n.Annotation) -> tuple[str, ...]:
    arguments = annotation.arguments
    texts = [
        a.value.value
        for a in arguments if isinstance(a.value, n.Literal) and isinstance(a.value.value, str)
    ]
    if len(texts) != len(arguments) or not texts:
        lowering.error("E0702", "`@tags` takes strings", annotation.span, 'write `@tags("fusion")`')
    return tuple(texts)


def _tolerance(lowering: Lowering, annotation: n.Annotation) -> float | None:
    match annotation.arguments:
        case (n.Keyword(name="rtol", value=n.Literal(value=int() | float() as value)),) if (
            type(value) is not bool and value >= 0
        ):
            return float(value)
    lowering.error(
        "E0702", "`@approximate` takes a non-negative tolerance", annotation.span,
        "write `@approximate(rtol = 1e-3)`",
    )
    return None


def _read_changes(lowering: Lowering, annotation: n.Annotation, marks: Marks) -> None:
    match annotation.arguments:
        case (n.Positional(value=n.Literal(value=str() as reason)),) if reason.strip():
            if marks.changes is not None:
                lowering.error(
                    "E0702", "`@changes` is given twice", annotation.span, "merge the reasons into one"
                )
            else:
                marks.changes = " ".join(reason.split())
        case _:
            lowering.error(
                "E0702", "`@changes` takes the reason", annotation.span,
                'write `@changes("weights are rounded to int8")`',
            )


def _versions(lowering: Lowering, annotation: n.Annotation) -> tuple[int | None, int | None] | None:
    value = annotation.arguments[0].value if len(annotation.arguments) == 1 else None
    if isinstance(value, n.Range):
        return value.lower, value.upper
    if isinstance(value, n.Literal) and type(value.value) is int:
        return value.value, value.value
    lowering.error("E0702", "`@opset` takes versions", annotation.span, "write `@opset(11..)`")
    return None
