"""Parse tree → `Program`: one function per kind of tree, applied bottom-up with a stack, never by recursion.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from math import isinf
from typing import Any

from lark import Token, Tree

from gslang.base.source import Source, Span
from gslang.syntax import nodes as n

_MOST_DIGITS = 1000  # of an integer; Python itself reads some thousands
DEEPEST = 200  # levels of nesting that later stages may walk by recursion

Children = list[Any]  # what the parts of a tree have become: nodes, texts, tuples of them


class TooDeep(Exception):
    """An expression is nested deeper than `DEEPEST`; `span` is the outermost such part."""

    def __init__(self, span: Span) -> None:
        super().__init__("nested too deeply")
        self.span = span


class Reserved(Exception):
    """A construct that is reserved for later."""

    def __init__(self, span: Span, what: str) -> None:
        super().__init__(what)
        self.span, self.what = span, what


class Malformed(Exception):
    """Checks of constructs that the grammar accepts and the language does not."""

    def __init__(self, span: Span, message: str, hint: str) -> None:
        super().__init__(message)
        self.span, self.message, self.hint = span, message, hint


class BadString(Exception):
    def __init__(self, span: Span) -> None:
        super().__init__("bad escape")
        self.span = span


def row_name(family: str, items: Iterable[n.Expr]) -> str:
    """The name of one rule of a family, `neutral[Add, 0]`: the same however the row is spaced, broken or
    commented.
    """
    return f"{family}[{', '.join(_bare_text(item.span.text) for item in items)}]"


_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"|\#[^\n]*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\S')


def _bare_text(text: str) -> str:
    """Its tokens with one blank between words and behind commas; without comments and last commas."""
    result = ""
    for sign in _SIGNS.findall(text):
        if sign[0] == "#":
            continue
        if sign in ")]}":
            result = result.removesuffix(", ")
        elif result and _is_wordlike(sign[0]) and _is_wordlike(result[-1]):
            result += " "
        result += ", " if sign == "," else sign
    return result


def _is_wordlike(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


Doc = Callable[[int], "str | None"]


def to_program(tree: Tree[Token], source: Source, doc_of: Doc, file_doc: str | None) -> n.Program:
    """`doc_of(offset)`: the `##` comment right before the item that begins there."""
    builder = _Builder(source, doc_of)
    items = tuple(builder.build(child) for child in tree.children if isinstance(child, Tree))
    return n.Program(file_doc, items, span=Span(source, 0, len(source.text)))


class _Builder:
    """Holds what every build function needs: the source, for spans, and the documentation comments."""

    def __init__(self, source: Source, doc_of: Doc) -> None:
        self.source = source
        self.doc_of = doc_of

    def build(self, root: Tree[Token]) -> Any:
        done: dict[int, Any] = {}
        depth: dict[int, int] = {}
        stack: list[tuple[Tree[Token], bool]] = [(root, False)]
        while stack:
            tree, ready = stack.pop()
            if not ready:
                stack.append((tree, True))
                stack.extend((child, False) for child in tree.children if isinstance(child, Tree))
                continue
            below = max((depth[id(c)] for c in tree.children if isinstance(c, Tree)), default=0)
            depth[id(tree)] = below + (tree.data in _NESTING)
            if depth[id(tree)] > DEEPEST:
                raise TooDeep(self.span(tree))
            children = [done[id(c)] if isinstance(c, Tree) else c for c in tree.children]
            done[id(tree)] = getattr(self, "_" + str(tree.data))(tree, children)
        return done[id(root)]

    def span(self, tree: Tree[Token]) -> Span:
        meta = tree.meta
        if meta.empty:
            return Span(self.source, 0, 0)
        return Span(self.source, meta.start_pos, meta.end_pos)

    def at(self, token: Token) -> Span:
        assert token.start_pos is not None and token.end_pos is not None
        return Span(self.source, token.start_pos, token.end_pos)

    def name(self, token: Token) -> n.Name:
        return n.Name(str(token), span=self.at(token))

    def item(self, tree: Tree[Token], children: Children) -> dict[str, Any]:
        span = self.span(tree)
        annotations = tuple(c for c in children if isinstance(c, n.Annotation))
        return {"span": span, "doc": self.doc_of(span.start), "annotations": annotations}

    # ── items ──

    def _dialect(self, tree: Tree[Token], c: Children) -> object:
        return n.DialectItem(self.name(c[0]), **self.item(tree, c))

    def _use(self, tree: Tree[Token], c: Children) -> object:
        target, names = c
        if isinstance(target, Token):
            return n.Use(self.string(target), True, names, **self.item(tree, c))
        return n.Use(target.id, False, names, **self.item(tree, c))

    def _use_names(self, tree: Tree[Token], c: Children) -> object:
        return tuple(self.name(t) for t in c if t is not None)

    def _annotation(self, tree: Tree[Token], c: Children) -> object:
        return n.Annotation(self.name(c[0]), self.arguments(c[1:]), span=self.span(tree))

    def arguments(self, children: Children) -> tuple[Any, ...]:
        result = []
        for child in children:
            if child is None:
                continue
            if not isinstance(child, (n.Positional, n.Keyword, n.Spread, n.Star)):
                child = n.Positional(child, span=child.span)
            result.append(child)
        return tuple(result)

    def _opdecl(self, tree: Tree[Token], c: Children) -> object:
        c = [x for x in c if not isinstance(x, n.Annotation)] + [x for x in c if isinstance(x, n.Annotation)]
        name = next(x for x in c if isinstance(x, n.Name))
        parameters = tuple(x for x in c if isinstance(x, n.Parameter))
        results, several = self.results(name, next(x for x in c if isinstance(x, _Union)))
        meaning = next((x for x in c if isinstance(x, _Meaning)), _Meaning())
        traits = next((x for x in c if isinstance(x, list)), [])
        return n.OpDecl(
            name, parameters, results, several, tuple(meaning), tuple(traits), **self.item(tree, c)
        )

    def results(
        self, name: n.Name, union: tuple[n.DeclaredType, ...]
    ) -> tuple[tuple[n.DeclaredType, ...], bool]:
        """The results of an operator, and whether they were written in parentheses."""
        match union:
            case (n.TypeGroup(items),) if all(len(item) == 1 for item in items):
                return tuple(item[0] for item in items), True
            case (one,) if not isinstance(one, n.TypeGroup):
                return (one,), False
        raise Malformed(
            name.span, f"the results of `{name.id}` are not a list of types",
            "write `-> tensor`, or `-> (tensor, tensor)`",
        )

    def _opparam(self, tree: Tree[Token], c: Children) -> object:
        star, name, types, default = c
        return n.Parameter(name, tuple(types), default, star is not None, span=self.span(tree))

    def _optype(self, tree: Tree[Token], c: Children) -> object:
        return _Union(x for x in c if not isinstance(x, Token))

    def _onetype(self, tree: Tree[Token], c: Children) -> object:
        base, *lengths, question = c
        for length in lengths:
            base = n.TypeList(base, tuple(length), span=Span(self.source, base.span.start, length.end))
        return base if question is None else n.TypeOptional(base, span=self.span(tree))

    def _type_length(self, tree: Tree[Token], c: Children) -> object:
        return _Lengths((x for x in c if x is not None and not isinstance(x, Token)), self.span(tree).end)

    def _type_name(self, tree: Tree[Token], c: Children) -> object:
        return n.TypeName(str(c[0]), c[1] or (), span=self.span(tree))

    def _type_bound(self, tree: Tree[Token], c: Children) -> object:
        name, sign, bound = c
        match str(sign):
            case ">=" | ">":
                return n.TypeRange(str(name), bound, None, above=sign == ">", span=self.span(tree))
            case "<=" | "<":
                return n.TypeRange(str(name), None, bound, below=sign == "<", span=self.span(tree))
        raise Malformed(
            self.at(sign), f"`{sign}` is not a bound", "write `>=`, `>`, `<=` or `<`, or a literal: `0 | 1`"
        )

    def _type_range(self, tree: Tree[Token], c: Children) -> object:
        name, lower, sign, upper = c
        return n.TypeRange(str(name), lower, upper, below=sign == "..<", span=self.span(tree))

    def _type_number(self, tree: Tree[Token], c: Children) -> object:
        value = self._integer(tree, c[1:]).value if c[1].type == "INT" else self._float(tree, c[1:]).value
        assert isinstance(value, (int, float))
        return n.TypeLiteral(value if c[0] is None else -value, span=self.span(tree))

    def _type_string(self, tree: Tree[Token], c: Children) -> object:
        return n.TypeLiteral(self.string(c[0]), span=self.span(tree))

    def _type_none(self, tree: Tree[Token], c: Children) -> object:
        return n.TypeLiteral(None, span=self.span(tree))

    def _type_true(self, tree: Tree[Token], c: Children) -> object:
        return n.TypeLiteral(True, span=self.span(tree))

    def _type_false(self, tree: Tree[Token], c: Children) -> object:
        return n.TypeLiteral(False, span=self.span(tree))

    def _type_group(self, tree: Tree[Token], c: Children) -> object:
        return n.TypeGroup(tuple(tuple(x) for x in c if x is not None), span=self.span(tree))

    def _meaning(self, tree: Tree[Token], c: Children) -> object:
        return _Meaning(pair for pair in c if pair is not None)

    def _meaning_item(self, tree: Tree[Token], c: Children) -> object:
        return self.name(c[0]), c[1]

    def _traits(self, tree: Tree[Token], c: Children) -> object:
        return [self.name(t) for t in c]

    def _fndecl(self, tree: Tree[Token], c: Children) -> object:
        rest = [x for x in c if x is not None and not isinstance(x, n.Annotation)]
        parameters = tuple(x for x in rest[1:-1])
        return n.FnDecl(self.name(rest[0]), parameters, rest[-1], **self.item(tree, c))

    def _extern_fn(self, tree: Tree[Token], c: Children) -> object:
        rest = [x for x in c if x is not None and not isinstance(x, n.Annotation)]
        return n.FnDecl(
            self.name(rest[0]), tuple(rest[1:-1]), None, self.name(rest[-1]), **self.item(tree, c)
        )

    def _reserved_fn(self, tree: Tree[Token], c: Children) -> object:
        raise Reserved(self.span(tree), "`fn` with a block")

    def _reserved_both(self, tree: Tree[Token], c: Children) -> object:
        raise Reserved(self.span(tree), "`<=>`")

    def _fnparam(self, tree: Tree[Token], c: Children) -> object:
        return n.FnParameter(self.name(c[0]), None if c[1] is None else self.name(c[1]), span=self.span(tree))

    def _paramdecl(self, tree: Tree[Token], c: Children) -> object:
        _, name, types, default = [x for x in c if not isinstance(x, n.Annotation)]
        return n.ParamDecl(self.name(name), tuple(types), default, **self.item(tree, c))

    def _rule_line(self, tree: Tree[Token], c: Children) -> object:
        return self.rule(tree, c, True)

    def _rule_block(self, tree: Tree[Token], c: Children) -> object:
        return self.rule(tree, c, False)

    def rule(self, tree: Tree[Token], c: Children, one_line: bool) -> n.Rule:
        rest = [x for x in c if not isinstance(x, n.Annotation)]
        name, inputs, table, source, target = rest
        return n.Rule(
            self.name(name), inputs or (), source, target, table, one_line=one_line, **self.item(tree, c)
        )

    def _table(self, tree: Tree[Token], c: Children) -> object:
        return n.Table(c[0], tuple(c[1:]), span=self.span(tree))

    def _row(self, tree: Tree[Token], c: Children) -> object:
        return _Row(c)

    def _instance(self, tree: Tree[Token], c: Children) -> object:
        return n.Name(row_name(str(c[0]), c[1]), span=self.span(tree))

    def _inputs(self, tree: Tree[Token], c: Children) -> object:
        return tuple(x for x in c if x is not None)

    def _input(self, tree: Tree[Token], c: Children) -> object:
        return n.Input(self.name(c[0]), c[1], span=self.span(tree))

    def _kind(self, tree: Tree[Token], c: Children) -> object:
        return n.Kind(self.name(c[0]), c[1] or (), c[2] is not None, span=self.span(tree))

    def _kind_arguments(self, tree: Tree[Token], c: Children) -> object:
        return self.arguments(c)

    def _side(self, tree: Tree[Token], c: Children) -> object:
        statements = tuple(x for x in c if isinstance(x, (n.Bind, n.Each)))
        return n.Side(statements, c[-2], c[-1] or (), span=self.span(tree))

    def _where(self, tree: Tree[Token], c: Children) -> object:
        return tuple(x for x in c if x is not None)

    _outputs = _where

    def _bind(self, tree: Tree[Token], c: Children) -> object:
        return n.Bind(self.name(c[0]), c[1], span=self.span(tree))

    def _each(self, tree: Tree[Token], c: Children) -> object:
        statements = tuple(x for x in c[2:] if isinstance(x, n.Bind))
        return n.Each(self.name(c[0]), c[1], statements, c[-1] or (), span=self.span(tree))

    def _chain(self, tree: Tree[Token], c: Children) -> object:
        _, name, bounds, word, start, *rest = c
        statements = tuple(x for x in rest if isinstance(x, n.Bind))
        return n.Chain(
            self.name(name), bounds, statements, c[-1] or (), None if word is None else start,
            span=self.span(tree),
        )

    def _range(self, tree: Tree[Token], c: Children) -> object:
        low, high = (None if t is None else self.integer(t) for t in c)
        span = self.span(tree)
        return n.Range(low, high, span=span)

    def _passdecl(self, tree: Tree[Token], c: Children) -> object:
        rest = [x for x in c if not isinstance(x, n.Annotation)]
        return n.PassDecl(self.name(rest[0]), tuple(rest[1:]), **self.item(tree, c))

    def _repeat(self, tree: Tree[Token], c: Children) -> object:
        return n.Repeat(tuple(c), span=self.span(tree))

    def _test(self, tree: Tree[Token], c: Children) -> object:
        rest = [x for x in c if not isinstance(x, n.Annotation)]
        title, rule, row, *body, outputs, expected = rest
        name = self.name(rule)
        if row is not None:
            name = n.Name(row_name(name.id, row), span=name.span)
        span = self.span(tree)
        inputs = tuple(x for x in body if isinstance(x, n.TestInput))
        statements = tuple(x for x in body if isinstance(x, n.Bind))
        side = n.Side(statements, outputs, (), span=outputs[0].span.to(outputs[-1].span))
        return n.Test(
            self.string(title), name, inputs, side, expected if isinstance(expected, n.Side) else None,
            **{**self.item(tree, c), "span": span},
        )  # fmt: skip

    def _test_input(self, tree: Tree[Token], c: Children) -> object:
        name, kind, dtype, *dims = c
        return n.TestInput(
            self.name(name), self.name(kind), self.name(dtype), tuple(d for d in dims if d is not None),
            span=self.span(tree),
        )  # fmt: skip

    def _dimension(self, tree: Tree[Token], c: Children) -> object:
        return self.integer(c[0]) if c[0].type == "INT" else str(c[0])

    def _expected(self, tree: Tree[Token], c: Children) -> object:
        statements = tuple(x for x in c if isinstance(x, n.Bind))
        return n.Side(statements, c[-1], (), span=self.span(tree))

    def _unchanged(self, tree: Tree[Token], c: Children) -> object:
        return "unchanged"

    # ── expressions ──

    def _conditional(self, tree: Tree[Token], c: Children) -> object:
        return n.Conditional(c[0], c[1], c[2], span=self.span(tree))

    def _binary(self, tree: Tree[Token], c: Children) -> object:
        return n.Binary(str(c[1]), c[0], c[2], span=self.span(tree))

    def _unary(self, tree: Tree[Token], c: Children) -> object:
        operator, operand = str(c[0]), c[1]
        if operator == "-" and isinstance(operand, n.Literal) and type(operand.value) in (int, float):
            if not operand.text.startswith("-"):  # a sign before a number belongs to it
                return n.Literal(-operand.value, "-" + operand.text, span=self.span(tree))  # type: ignore[operator]
        return n.Unary(operator, operand, span=self.span(tree))

    def _comparison(self, tree: Tree[Token], c: Children) -> object:
        return n.Comparison(c[0], tuple(zip(c[1::2], c[2::2])), span=self.span(tree))

    def _comparator(self, tree: Tree[Token], c: Children) -> object:
        return str(c[0])

    def _in(self, tree: Tree[Token], c: Children) -> object:
        return "in"

    def _not_in(self, tree: Tree[Token], c: Children) -> object:
        return "not in"

    def _attribute(self, tree: Tree[Token], c: Children) -> object:
        return n.Attribute(c[0], c[1].id, c[1].span, span=self.span(tree))

    def _projection(self, tree: Tree[Token], c: Children) -> object:
        return n.Projection(c[0], self.integer(c[1]), span=self.span(tree))

    def _projections(self, tree: Tree[Token], c: Children) -> object:
        base: Any = c[0]
        at = self.at(c[1]).start
        if not str(c[1]).replace(".", "").isdigit():
            raise Malformed(
                self.at(c[1]), "the index of a projection is a number without an exponent", "write `.2`"
            )
        for digits in str(c[1]).split("."):
            at += len(digits)
            base = n.Projection(base, self.integer(c[1], digits), span=Span(self.source, base.span.start, at))
            at += 1
        return base

    def _call(self, tree: Tree[Token], c: Children) -> object:
        return n.Call(c[0], c[1] or (), span=self.span(tree))

    def _optional_call(self, tree: Tree[Token], c: Children) -> object:
        return n.Call(c[0], c[2] or (), True, span=self.span(tree))

    def _where_call(self, tree: Tree[Token], c: Children) -> object:
        span = self.span(tree)
        callee = n.Name("where", span=Span(self.source, span.start, span.start + 5))
        return n.Call(callee, c[0] or (), span=span)

    def _arguments(self, tree: Tree[Token], c: Children) -> object:
        return self.arguments(c)

    def _generator(self, tree: Tree[Token], c: Children) -> object:
        comprehension = self.comprehension(tree, c, True)
        return (n.Positional(comprehension, span=comprehension.span),)

    def _keyword(self, tree: Tree[Token], c: Children) -> object:
        name = c[0] if isinstance(c[0], n.Name) else self.name(c[0])
        return n.Keyword(name.id, c[1], name.span, span=self.span(tree))

    def _positional(self, tree: Tree[Token], c: Children) -> object:
        return n.Positional(c[0], span=self.span(tree))

    def _star(self, tree: Tree[Token], c: Children) -> object:
        return n.Star(c[-1], span=self.span(tree))

    def _spread(self, tree: Tree[Token], c: Children) -> object:
        return n.Spread(c[0], tuple(x for x in c[1:] if x is not None), span=self.span(tree))

    def _spread_all(self, tree: Tree[Token], c: Children) -> object:
        return n.Spread(c[0], None, span=self.span(tree))

    def _subscript(self, tree: Tree[Token], c: Children) -> object:
        base, (kind, parts) = c
        if kind == "index":
            return n.Index(base, parts[0], span=self.span(tree))
        return n.Slice(base, *parts, span=self.span(tree))

    def _index(self, tree: Tree[Token], c: Children) -> object:
        return "index", c

    def _slice(self, tree: Tree[Token], c: Children) -> object:
        return "slice", (c + [None, None, None])[:3]

    def _field(self, tree: Tree[Token], c: Children) -> object:
        return self.name(c[0])

    def _for_clause(self, tree: Tree[Token], c: Children) -> object:
        return c

    def _targets(self, tree: Tree[Token], c: Children) -> object:
        return tuple(self.name(t) for t in c if t is not None)

    def comprehension(self, tree: Tree[Token], c: Children, generator: bool) -> n.Comprehension:
        element, (targets, source, condition) = c
        return n.Comprehension(element, targets, source, condition, generator, span=self.span(tree))

    def _comprehension(self, tree: Tree[Token], c: Children) -> object:
        return self.comprehension(tree, c, False)

    def _name(self, tree: Tree[Token], c: Children) -> object:
        return self.name(c[0])

    def _integer(self, tree: Tree[Token], c: Children) -> n.Literal:
        return n.Literal(self.integer(c[0]), str(c[0]), span=self.span(tree))

    def _float(self, tree: Tree[Token], c: Children) -> n.Literal:
        value = float(c[0])
        if isinf(value):
            raise Malformed(
                self.at(c[0]), f"`{c[0]}` is too large for a number", "the largest float is about 1.8e308"
            )
        return n.Literal(value, str(c[0]), span=self.span(tree))

    def integer(self, token: Token, digits: str | None = None) -> int:
        """The number that a token is, or that `digits`, a part of it, are."""
        text = str(token) if digits is None else digits
        if len(text) > _MOST_DIGITS:
            raise Malformed(
                self.at(token), f"a number of {len(text)} digits", f"write at most {_MOST_DIGITS} digits"
            )
        return int(text)

    def _string(self, tree: Tree[Token], c: Children) -> object:
        return n.Literal(self.string(c[0]), str(c[0]), span=self.span(tree))

    def string(self, token: Token) -> str:
        try:
            value = ast.literal_eval(str(token))
        except (ValueError, SyntaxError):
            raise BadString(self.at(token)) from None
        assert isinstance(value, str)
        return value

    def _none(self, tree: Tree[Token], c: Children) -> object:
        return n.Literal(None, "none", span=self.span(tree))

    def _true(self, tree: Tree[Token], c: Children) -> object:
        return n.Literal(True, "true", span=self.span(tree))

    def _false(self, tree: Tree[Token], c: Children) -> object:
        return n.Literal(False, "false", span=self.span(tree))

    def _hole(self, tree: Tree[Token], c: Children) -> object:
        return n.Hole(span=self.span(tree))

    def _operator_kind(self, tree: Tree[Token], c: Children) -> object:
        return n.OperatorKind(tuple(x for x in c if x is not None), span=self.span(tree))

    def _walrus(self, tree: Tree[Token], c: Children) -> object:
        return n.Walrus(self.name(c[0]), c[1], span=self.span(tree))

    def _parenthesised(self, tree: Tree[Token], c: Children) -> object:
        return c[0]

    def _tuple(self, tree: Tree[Token], c: Children) -> object:
        return n.TupleExpr(tuple(x for x in c if x is not None), "(", span=self.span(tree))

    def _list(self, tree: Tree[Token], c: Children) -> object:
        return n.TupleExpr(tuple(x for x in c if x is not None), "[", span=self.span(tree))

    def _match(self, tree: Tree[Token], c: Children) -> object:
        return n.Match(c[0], tuple(x for x in c[1:] if x is not None), span=self.span(tree))

    def _arm(self, tree: Tree[Token], c: Children) -> object:
        name = None if c[0].type == "HOLE" else self.name(c[0])
        return n.Arm(name, c[1], span=self.span(tree))

    def _dotted(self, tree: Tree[Token], c: Children) -> object:
        parts = [str(x) if isinstance(x, Token) else x.id for x in c]
        return n.Name(".".join(parts), span=self.span(tree))


class _Row(tuple[n.Expr, ...]):
    """The items of a family's row, in brackets."""


class _Meaning(tuple[tuple[n.Name, n.Expr], ...]):
    """The contents of the braces of an operator's declaration."""


class _Union(tuple[n.DeclaredType, ...]):
    """Alternatives of a declared type."""


class _Lengths(tuple["n.Expr | n.Range", ...]):
    """Lengths of a list, in brackets that end at `end`."""

    end: int

    def __new__(cls, items: Iterable[n.Expr | n.Range], end: int) -> _Lengths:
        made = super().__new__(cls, items)
        made.end = end
        return made


# Trees that are a level of nesting; the others pass through.
_NESTING = frozenset({
    "conditional", "binary", "unary", "comparison", "attribute", "projection", "projections", "call",
    "optional_call", "where_call", "subscript", "comprehension", "generator", "tuple", "list", "match",
    "walrus", "parenthesised", "operator_kind", "repeat", "type_group", "onetype",
})
