"""Trees of expressions, as the parser gives them → nodes with spans."""

from __future__ import annotations

import ast
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


class BadString(Malformed):
    """A string whose escapes have no meaning, or that no file can hold."""


class ExpressionBuilder:
    """A tree is built from its children on, by the method that is named for its rule in the grammar."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def build(self, root: Tree[Token]) -> Any:
        done: dict[int, object] = {}
        depth: dict[int, int] = {}
        stack: list[tuple[Tree[Token], bool]] = [(root, False)]
        while stack:
            tree, ready = stack.pop()
            if not ready:
                stack.append((tree, True))
                stack.extend((child, False) for child in tree.children if isinstance(child, Tree))
                continue
            below = max((depth[id(c)] for c in tree.children if isinstance(c, Tree)), default=0)
            depth[id(tree)] = below + _levels(tree)
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

    def arguments(self, children: Children) -> tuple[Any, ...]:
        result = []
        for child in children:
            if child is None:
                continue
            if not isinstance(child, (n.Positional, n.Keyword, n.Spread, n.Star)):
                child = n.Positional(child, span=child.span)
            result.append(child)
        return tuple(result)

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
        comprehension = self._comprehension(tree, c)
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

    def _for_clause(self, tree: Tree[Token], c: Children) -> object:
        return c

    def _targets(self, tree: Tree[Token], c: Children) -> object:
        return tuple(self.name(t) for t in c if t is not None)

    def _comprehension(self, tree: Tree[Token], c: Children) -> n.Comprehension:
        element, (targets, source, condition) = c
        return n.Comprehension(element, targets, source, condition, span=self.span(tree))

    def _name(self, tree: Tree[Token], c: Children) -> object:
        return self.name(c[0])

    _field = _name

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
            hint = r"write `\\` for a backslash"
            raise BadString(self.at(token), "an invalid escape in a string", hint) from None
        if half := next((c for c in value if "\ud800" <= c <= "\udfff"), None):
            message = f"`\\u{ord(half):04x}` is half of a surrogate pair"
            raise BadString(self.at(token), message, r"write the whole character, as in `\U0001f600`")
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
        return n.TupleExpr(tuple(x for x in c if x is not None), span=self.span(tree))

    _list = _tuple

    def _match(self, tree: Tree[Token], c: Children) -> object:
        return n.Match(c[0], tuple(x for x in c[1:] if x is not None), span=self.span(tree))

    def _arm(self, tree: Tree[Token], c: Children) -> object:
        name = None if c[0].type == "HOLE" else self.name(c[0])
        return n.Arm(name, c[1], span=self.span(tree))

    def _dotted(self, tree: Tree[Token], c: Children) -> object:
        parts = [str(x) if isinstance(x, Token) else x.id for x in c]
        return n.Name(".".join(parts), span=self.span(tree))


# Trees that are a level of nesting; the others pass through.
_NESTING = frozenset({
    "conditional", "binary", "unary", "comparison", "attribute", "projection", "projections", "call",
    "optional_call", "where_call", "subscript", "comprehension", "generator", "tuple", "list", "match",
    "walrus", "parenthesised", "operator_kind", "repeat", "type_group", "onetype",
})


def _levels(tree: Tree[Token]) -> int:
    """The levels that a tree adds to those below it; a type adds one for each list, as in `int[][]`."""
    if tree.data == "onetype":
        return 1 + sum(isinstance(child, Tree) and child.data == "type_length" for child in tree.children)
    return int(tree.data in _NESTING)
