"""Drafts of the rules of a file, from their syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from gslang.base.source import Source, Span
from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.generalize.checking import PLAIN, Checking
from gslang.generalize.draft import Draft, Header, NoDraft, Statement
from gslang.syntax import nodes as n
from gslang.syntax.families import meant_by_row, names_read
from gslang.syntax.parser import parse

Edits = Mapping[tuple[int, int], str]  # offsets in the source → the text that stands there instead

_LONGEST = 10_000  # characters of a rule, which is read again for each conjunction of conditions


def edited(span: Span, edits: Edits) -> str:
    """The text of a span, edits inside it applied (the outermost ones)."""
    text, at = "", span.start
    for (start, end), new in sorted(edits.items(), key=lambda item: (item[0][0], -item[0][1])):
        if start < at or end > span.end or start < span.start:
            continue
        text += span.source.text[at:start] + new
        at = end
    return text + span.source.text[at : span.end]


_parsed = lru_cache(maxsize=8)(parse)  # drafts of all rules of a file, several for each


def rule_item(source: Source, name: str) -> tuple[n.Rule, str]:
    """The syntax of a rule, and the text of what it may need of its file. Raises `NoDraft`."""
    items = _parsed(source).program.items
    rule = next((item for item in items if isinstance(item, n.Rule) and item.name.id == name), None)
    if rule is None and "[" not in name:
        raise NoDraft(f"unknown rule `{name}` in {source.name}")
    if rule is None or rule.table is not None:
        raise NoDraft("rules of a family share their text: write it as a rule of its own first")
    around = [item.span.text for item in _needed(items, rule.span.text)]
    return rule, "".join(f"{text}\n" if text.endswith((";", "}")) else f"{text};\n" for text in around)


def _needed(items: Sequence[n.Item], text: str) -> list[n.Item]:
    """The items of a file that a text may need: of operators, functions and parameters those that it names,
    of operators with traits all, and what these need. Each draft is checked with them.
    """
    needed = {
        k for k, item in enumerate(items)
        if isinstance(item, (n.DialectItem, n.Use)) or isinstance(item, n.OpDecl) and item.traits
    }
    others = {
        k: item for k, item in enumerate(items)
        if k not in needed and isinstance(item, (n.OpDecl, n.FnDecl, n.ParamDecl))
    }
    texts = [text, *[items[k].span.text for k in needed]]
    while texts:
        said = texts.pop()
        for k in [k for k, item in others.items() if item.name.id in said]:
            needed.add(k)
            texts.append(others.pop(k).span.text)
    return [items[k] for k in sorted(needed)]


def written_out(rule: ir.CheckedRule) -> tuple[Source, str]:
    """The text of a rule's file, and its name there. One of a family is written as a rule of its own in the
    place of the family, under a name without brackets.
    """
    source = rule.span.source
    items = _parsed(source).program.items
    family = next((i for i in items if isinstance(i, n.Rule) and i.table and i.name.id == rule.family), None)
    if family is None or family.table is None:
        return source, rule.name
    name = re.sub(r"\W+", "_", rule.name).strip("_")
    while any(isinstance(item, n.Rule) and item.name.id == name for item in items):
        name += "_"
    meant = meant_by_row(family, rule.name)
    spans = {(node.span.start, node.span.end): meant[node.id] for node in names_read(family, meant)}
    edits = {place: _alone(item) for place, item in spans.items()}
    edits[(family.name.span.start, family.name.span.end)] = name
    edits[(family.table.span.start, family.table.span.end)] = ""
    return Source(source.name, edited(Span(source, 0, len(source.text)), edits)), name


def _alone(expr: n.Expr) -> str:
    """The text of an expression that may stand anywhere."""
    text = expr.span.text
    enclosed = isinstance(expr, (n.Binary, n.Unary, n.Comparison, n.Conditional))
    return f"({text})" if enclosed and not text.startswith("(") else text


def draft_of(
    source: Source, name: str, edits: Edits | None = None, drop: Iterable[tuple[int, int]] = (),
    checking: Checking = PLAIN,
) -> Draft:  # fmt: skip
    """A rule of a file as a draft.

    `edits`: changes to make in its text; `drop`: spans of arguments to leave out. Raises `NoDraft`.
    """
    rule, around = rule_item(source, name)
    if len(rule.span.text) > _LONGEST:
        raise NoDraft(f"it has more than {_LONGEST:,} characters")
    namer = _Namer(rule, dict(edits or {}), frozenset(drop))
    doc = "".join(f"## {line}".rstrip() + "\n" for line in (rule.doc or "").splitlines())
    head = doc + "".join(f"{a.span.text}\n" for a in rule.annotations)
    statements: list[Statement | str] = []
    for bind in rule.source.statements:
        if isinstance(bind, n.Each):
            statements.append(edited(bind.span, namer.edits))
            continue
        value = namer.hoist_below(bind.value, statements)
        statements.append(namer.statement(bind.name.id, value, False))
    outputs = [
        edited(o.span, namer.edits) if isinstance(o, n.Star) else namer.hoisted(o, statements)
        for o in rule.source.outputs
    ]
    return Draft(
        source.name, around, head, name,
        tuple(namer.header(item) for item in rule.inputs), tuple(statements), tuple(outputs),
        tuple(edited(c.span, namer.edits) for c in rule.source.where),
        tuple(edited(s.span, namer.edits).rstrip(";") + ";" for s in rule.target.statements),
        tuple(edited(o.span, namer.edits) for o in rule.target.outputs), checking,
    )  # fmt: skip


class _Namer:
    """Gives names to calls of a source that have none."""

    def __init__(
        self, rule: n.Rule, edits: dict[tuple[int, int], str], drop: frozenset[tuple[int, int]]
    ) -> None:
        self.edits, self.drop = edits, drop
        self.used = {node.id for node in walk(rule) if isinstance(node, n.Name)}

    def fresh(self, expr: n.Expr) -> str:
        letter = "s" if isinstance(expr, n.Binary) else _letter(expr)
        k = 1
        while f"{letter}{k}" in self.used:
            k += 1
        self.used.add(f"{letter}{k}")
        return f"{letter}{k}"

    def header(self, item: n.Input) -> Header:
        if item.kind is None:
            kind = self.edits.get((item.span.start, item.span.end), "any").rpartition(": ")[2]
            return Header(item.name.id, kind, (), False)
        arguments = tuple(
            edited(a.span, self.edits)
            for a in item.kind.arguments if (a.span.start, a.span.end) not in self.drop
        )
        return Header(item.name.id, item.kind.name.id, arguments, item.kind.optional)

    def statement(self, name: str, expr: n.Expr, added: bool) -> Statement:
        call, prefix = expr, ""
        while isinstance(call, n.Unary) and call.operator in ("keep", "ordered"):
            prefix += f"{call.operator} "
            call = call.operand
        if not isinstance(call, n.Call) or call.optional:
            return Statement(
                name,
                edited(
                    expr.span, {k: v for k, v in self.edits.items() if k != (expr.span.start, expr.span.end)}
                ),
                None, added,
            )
        kept = [a for a in call.arguments if (a.span.start, a.span.end) not in self.drop]
        tied = any(isinstance(a, n.Spread) for a in kept)
        return Statement(
            name, prefix + call.callee.span.text, tuple(edited(a.span, self.edits) for a in kept), added, tied
        )

    def hoist_below(self, expr: n.Expr, statements: list[Statement | str]) -> n.Expr:
        """Give the calls inside an expression, not itself, statements of their own."""
        inner = expr
        while isinstance(inner, n.Unary) and inner.operator in ("keep", "ordered"):
            inner = inner.operand
        match inner:
            case n.Call(optional=False):
                for argument in inner.arguments:
                    if isinstance(argument, n.Positional):
                        self.hoisted(argument.value, statements)
            case n.Binary(operator="+" | "-" | "*" | "/"):
                self.hoisted(inner.left, statements)
                self.hoisted(inner.right, statements)
            case n.TupleExpr():
                for item in inner.items:
                    self.hoisted(item, statements)
            case n.Projection() | n.Index():
                self.hoisted(inner.base, statements)
        return expr

    def hoisted(self, expr: n.Expr, statements: list[Statement | str]) -> str:
        """The text that stands for an expression once the calls in it have statements; itself one if it is a
        call.
        """
        span = (expr.span.start, expr.span.end)
        if isinstance(expr, n.Walrus):
            self.hoist_below(expr.value, statements)
            statements.append(self.statement(expr.name.id, expr.value, False))
            self.edits[span] = expr.name.id
            return expr.name.id
        self.hoist_below(expr, statements)
        inner: n.Expr = expr
        while isinstance(inner, n.Unary) and inner.operator in ("keep", "ordered"):
            inner = inner.operand
        is_tensor = (
            isinstance(inner, n.Call) and not inner.optional and not _is_leaf(inner)
            or isinstance(inner, n.Binary) and inner.operator in "+-*/"
        )
        if not is_tensor or span in self.edits or _is_value(inner):
            return edited(expr.span, self.edits)
        name = self.fresh(inner)
        statements.append(self.statement(name, expr, True))
        self.edits[span] = name
        return name


_KINDS = frozenset({"const", "splat", "any", "var", "input", "param"})


def _is_leaf(call: n.Call) -> bool:
    return (
        isinstance(call.callee, n.Name) and call.callee.id in _KINDS
        and all(isinstance(a, n.Keyword) or call.callee.id == "splat" for a in call.arguments)
    )


def _is_value(expr: n.Expr) -> bool:
    """True for arithmetic on numbers only."""
    return isinstance(expr, n.Binary) and not any(isinstance(node, (n.Name, n.Call)) for node in walk(expr))


def _letter(expr: n.Expr) -> str:
    if isinstance(expr, n.Call):
        name = (
            expr.callee.field if isinstance(expr.callee, n.Attribute)
            else expr.callee.id if isinstance(expr.callee, n.Name)
            else "t"
        )
        return name[0].lower()
    return "t"
