"""Parse tree → `Program`: one function per kind of tree, applied bottom-up with a stack, never by recursion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from lark import Token, Tree

from gslang.base.source import Source, Span
from gslang.syntax import nodes as n
from gslang.syntax.tree_to_expressions import Children, ExpressionBuilder, Malformed, Reserved


def row_name(family: str, items: Iterable[n.Expr]) -> str:
    """The name of one rule of a family, `neutral[Add, 0]`: the same however the row is spaced, broken or
    commented.
    """
    return f"{family}[{', '.join(_bare_text(item.span.text) for item in items)}]"


_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"|\#[^\n]*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\S')


def _bare_text(text: str) -> str:
    """Its tokens with one blank between words and behind commas; without comments and last commas, but for
    the one that makes a tuple, `(0,)`.
    """
    result, before = "", ""
    open_brackets: list[tuple[bool, int]] = []  # whether it may be a tuple, and its commas so far
    for sign in _SIGNS.findall(text):
        if sign[0] == "#":
            continue
        if sign in "([{":
            open_brackets.append((sign == "(" and not _is_called(before, result), 0))
        elif sign == "," and open_brackets:
            open_brackets[-1] = open_brackets[-1][0], open_brackets[-1][1] + 1
        elif sign in ")]}":
            is_tuple = bool(open_brackets) and open_brackets.pop() == (True, 1)
            result = result.removesuffix(" " if is_tuple and before == "," else ", ")
        elif result and _is_wordlike(sign[0]) and _is_wordlike(result[-1]):
            result += " "
        result += ", " if sign == "," else sign
        before = sign
    return result


_BEFORE_VALUES = frozenset(("and", "else", "for", "if", "in", "keep", "match", "not", "or", "ordered"))
"""Words before an expression; behind a dot they are names."""


def _is_called(before: str, text: str) -> bool:
    """True if a parenthesis behind `text`, whose last sign is `before`, holds the arguments of a call."""
    if before in _BEFORE_VALUES:
        return text.removesuffix(before).endswith(".")
    return bool(before) and (_is_wordlike(before[-1]) or before in ")]?")


def _is_wordlike(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


Doc = Callable[[int], "str | None"]


class Builder(ExpressionBuilder):
    """The items of a file; `doc_of` gives their documentation comments."""

    def __init__(self, source: Source, doc_of: Doc) -> None:
        super().__init__(source)
        self.doc_of = doc_of

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

    _use_names = ExpressionBuilder._targets

    def _annotation(self, tree: Tree[Token], c: Children) -> object:
        return n.Annotation(self.name(c[0]), self.arguments(c[1:]), span=self.span(tree))

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
        if one_line and (several := (*source.statements, *target.statements)):
            raise Malformed(
                several[0].span, "a rule with statements is written in braces",
                "write `rule name(inputs) { source => target }`",
            )
        return n.Rule(self.name(name), inputs or (), source, target, table, **self.item(tree, c))

    def _table(self, tree: Tree[Token], c: Children) -> object:
        names, *rows = c
        span = self.span(tree)
        before_rows = _SIGNS.findall(self.source.text[span.start : rows[0].span.start])
        return n.Table(names, tuple(rows), len(names) > 1 or "," in before_rows, span=span)

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

    _kind_arguments = ExpressionBuilder._arguments

    def _side(self, tree: Tree[Token], c: Children) -> object:
        statements = tuple(x for x in c if isinstance(x, (n.Bind, n.Each)))
        return n.Side(statements, c[-2], c[-1] or (), span=self.span(tree))

    _where = _outputs = _inputs

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
