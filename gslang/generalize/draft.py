"""A rule as text that conditions can be added to: each call of its source has a name, each input its
constraints.

Not here: which conditions (`conditions`), and whether the rule holds under them (`refine`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source, Span
from gslang.check.check import check_module
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.check.imports import Importer
from gslang.engine.meaning import with_meanings
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse

Edits = Mapping[tuple[int, int], str]  # offsets in the source → the text that stands there instead


_LONGEST = 10_000  # characters of a rule, which is read again for each conjunction of conditions


class NoDraft(Exception):
    """The rule has a form that conditions cannot be added to. The message says which."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`text` as it stands in a `where`; `node`, `field`, `value`: the same as a constraint `field = value` at
    a node, if it is one.

    `price`: how much one would like to do without it, among conditions that exclude the same. `plain`: one
    that people would write, too; others are tried where these do not suffice.
    """

    text: str
    price: float = 1.0
    node: str = ""
    field: str = ""
    value: str = ""
    plain: bool = True


def equal_attributes(first: str, last: str, field: str, price: float = 1.0) -> Condition:
    """An attribute or a type that is the same at two nodes, of which `first` is matched before."""
    value = f"{first}.{field}"
    return Condition(f"{last}.{field} == {value}", price, last, field, value)


@dataclass(frozen=True, slots=True)
class Statement:
    """`name = head(arguments)`, or `name = head` where `arguments` is None.

    `added`: the name is not the author's.
    """

    name: str
    head: str
    arguments: tuple[str, ...] | None
    added: bool = False
    tied: bool = False  # a spread says something about all attributes

    @property
    def text(self) -> str:
        return self.head if self.arguments is None else f"{self.head}({', '.join(self.arguments)})"


@dataclass(frozen=True, slots=True)
class Header:
    """An input vertex: `name: kind(arguments)`."""

    name: str
    kind: str
    arguments: tuple[str, ...]
    optional: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule in parts.

    `around`: the declarations that it needs, as text; `head`: documentation and annotations.
    """

    file: str
    around: str
    head: str
    name: str
    inputs: tuple[Header, ...]
    source: tuple[Statement | str, ...]
    outputs: tuple[str, ...]
    where: tuple[str, ...]
    target: tuple[str, ...]
    target_outputs: tuple[str, ...]

    def text(self, conditions: Sequence[Condition] = (), placed: bool = True) -> str:
        """The rule's text under more conditions; `placed`: as constraints at the nodes, where they can be."""
        draft, rest = self._placing(conditions) if placed else (self, [c.text for c in conditions])
        where = [*self.where, *rest]
        statements, outputs = draft._inlined(where)
        inputs = ", ".join(map(_header, draft.inputs))
        lines = [f"{self.head}rule {self.name}({inputs}) {{"]
        lines += [f"    {s if isinstance(s, str) else f'{s.name} = {s.text};'}" for s in statements]
        lines.append("    " + ", ".join(outputs) + (f" where {', '.join(where)}" if where else ""))
        lines += ["  =>", *(f"    {s}" for s in self.target), "    " + ", ".join(self.target_outputs), "}"]
        return "\n".join(lines) + "\n"

    def without_added_names(self) -> Draft:
        """The same with each added name as if it were the author's: such a call is not written inline."""
        return replace(
            self, source=tuple(s if isinstance(s, str) else replace(s, added=False) for s in self.source)
        )

    def _placing(self, conditions: Sequence[Condition]) -> tuple[Draft, list[str]]:
        inputs, source, rest = list(self.inputs), list(self.source), []
        # (statement, node that its attributes are those of) → attributes
        spreads: dict[tuple[int, str], list[str]] = {}
        for c in conditions:
            at = next((k for k, header in enumerate(inputs) if header.name == c.node), None)
            if at is not None and not any(a.startswith(f"{c.field} =") for a in inputs[at].arguments):
                inputs[at] = replace(inputs[at], arguments=(*inputs[at].arguments, f"{c.field} = {c.value}"))
                continue
            at = next(
                (k for k, s in enumerate(source) if isinstance(s, Statement) and s.name == c.node), None
            )
            s = None if at is None else source[at]
            if (
                at is None or not isinstance(s, Statement) or s.arguments is None or s.tied
                or _has(s, c.field)
            ):
                rest += [c.text] if c.text else []
            elif c.field == "*":
                source[at] = replace(s, arguments=(*s.arguments, f"{c.value}.*"), tied=True)
            elif c.value.endswith(f".{c.field}"):
                spreads.setdefault((at, c.value[: -len(c.field) - 1]), []).append(c.field)
            else:
                source[at] = replace(s, arguments=(*s.arguments, f"{c.field} = {c.value}"))
        for (at, other), names in spreads.items():
            s = source[at]
            assert isinstance(s, Statement) and s.arguments is not None
            text = (
                f"{names[0]} = {other}.{names[0]}" if len(names) == 1 else f"{other}.{{{', '.join(names)}}}"
            )
            source[at] = replace(s, arguments=(*s.arguments, text))
        return replace(self, inputs=tuple(inputs), source=tuple(source)), rest

    def _inlined(self, where: Sequence[str]) -> tuple[list[Statement | str], list[str]]:
        """Statements and outputs, in which a name that was added and is read but once is its expression
        again.
        """
        statements, outputs = list(self.source), list(self.outputs)
        for k in reversed(range(len(statements))):
            s = statements[k]
            if isinstance(s, str) or not s.added:
                continue
            others = [*(o if isinstance(o, str) else o.text for o in statements[k + 1 :]), *outputs]
            everywhere = [*others, *where, *self.target, *self.target_outputs]
            if (
                sum(_count(text, s.name) for text in everywhere) != 1
                or sum(_count(text, s.name) for text in others) != 1
            ):
                continue
            loose = s.arguments is None
            for j in range(k + 1, len(statements)):
                o = statements[j]
                if isinstance(o, str):
                    statements[j] = _put(o, s.name, s.text, loose)
                else:
                    arguments = (
                        None if o.arguments is None
                        else tuple(_put(a, s.name, s.text, False) for a in o.arguments)
                    )
                    statements[j] = replace(o, head=_put(o.head, s.name, s.text, loose), arguments=arguments)
            outputs = [_put(o, s.name, s.text, loose and o != s.name) for o in outputs]
            statements[k] = ""
        return [s for s in statements if s != ""], outputs

    def check(self, conditions: Sequence[Condition] = (), placed: bool = True) -> CheckedProgram:
        return check_text(self.file, self.around + self.text(conditions, placed))

    def checked(self, conditions: Sequence[Condition] = ()) -> CheckedRule:
        """The rule under conditions: at the nodes if their order allows that, else in `where`.

        Raises `NoDraft`.
        """
        return self.with_best_places(conditions)[1]

    def with_best_places(self, conditions: Sequence[Condition]) -> tuple[str, CheckedRule]:
        """The text and the rule under conditions, each written at its node where the order of matching allows
        that.
        """
        for placed in (list(conditions), None):
            if placed is None:
                placed = []
                for c in conditions:
                    good = c.node and self.check([*placed, c]).ok
                    placed.append(c if good else replace(c, node=""))
            program = self.check(placed)
            if program.ok:
                return self.text(placed), program.rules[self.name]
        first = next(d for d in program.diagnostics if d.severity.value == "error")
        raise NoDraft(f"the rule does not check with more conditions: {first.message}")


_IMPORTERS: dict[str, Importer] = {}


def check_text(file: str, text: str) -> CheckedProgram:
    """A checked program, whose imports are read once for each file."""
    importer = _IMPORTERS.setdefault(file, Importer(check_module))
    return with_meanings(check_module(Source(file, text), importer).program)


def _has(statement: Statement, field: str) -> bool:
    return any(a.startswith(f"{field} =") for a in statement.arguments or ())


def _header(header: Header) -> str:
    mark = "?" if header.optional else ""
    inside = f"({', '.join(header.arguments)})" if header.arguments else ""
    return (
        header.name if header.kind == "any" and not mark and not inside
        else f"{header.name}: {header.kind}{inside}{mark}"
    )


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Where names stand that are no fields, as ranges; texts in quotes are left out."""
    import re

    for found in re.finditer(r'"[^"]*"|(?<![\w.])[A-Za-z_]\w*', text):
        if not found.group().startswith('"'):
            yield found.span()


def _count(text: str, name: str) -> int:
    return sum(text[a:b] == name for a, b in _words(text))


def _put(text: str, name: str, value: str, loose: bool) -> str:
    for a, b in _words(text):
        if text[a:b] == name:
            enclosed = text[a - 1 : a] == "(" and text[b : b + 1] == ")"
            return text[:a] + (f"({value})" if loose and not enclosed else value) + text[b:]
    return text


# ── from syntax ─────────────────────────────────────────────────────────────────────────────────────────────


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
    if rule is None:
        raise NoDraft(f"there is no rule `{name}` in {source.name}")
    around = [item.span.text for item in _needed(items, rule.span.text)]
    return rule, "".join(f"{text}\n" if text.endswith((";", "}")) else f"{text};\n" for text in around)


def _needed(items: Sequence[n.Item], text: str) -> list[n.Item]:
    """The items of a file that a text may need: of operators and functions those that it names, of operators
    with traits all, and what these need. Each draft is checked with them.
    """
    needed = {
        k for k, item in enumerate(items)
        if isinstance(item, (n.DialectItem, n.Use)) or isinstance(item, n.OpDecl) and item.traits
    }
    texts = [text, *[items[k].span.text for k in needed]]
    while texts:
        said = texts.pop()
        for k, item in enumerate(items):
            if k not in needed and isinstance(item, (n.OpDecl, n.FnDecl)) and item.name.id in said:
                needed.add(k)
                texts.append(item.span.text)
    return [items[k] for k in sorted(needed)]


def draft_of(
    source: Source, name: str, edits: Edits | None = None, drop: Iterable[tuple[int, int]] = ()
) -> Draft:
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
        tuple(edited(o.span, namer.edits) for o in rule.target.outputs),
    )  # fmt: skip


class _Namer:
    """Gives names to calls of a source that have none."""

    def __init__(
        self, rule: n.Rule, edits: dict[tuple[int, int], str], drop: frozenset[tuple[int, int]]
    ) -> None:
        self.edits, self.drop = edits, drop
        self.used = {node.id for node in walk(rule) if isinstance(node, n.Name)}
        self.inputs = {item.name.id for item in rule.inputs}

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


def walk(item: object) -> Iterator[n.Node]:
    """All syntax nodes below one, itself included."""
    if isinstance(item, tuple):
        for part in item:
            yield from walk(part)
    elif is_dataclass(item) and isinstance(item, n.Node):
        yield item
        for f in fields(item):
            if not f.name.endswith("span"):
                yield from walk(getattr(item, f.name))
