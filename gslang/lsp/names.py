"""The names in a piece: where each one is introduced and what each mention of it refers to, found from tokens
alone.

Works on text that does not parse. A name is visible in its whole item (language.md: no name is bound twice),
but for comprehension variables, which live in their brackets, and the two graphs of a test, which share only
the inputs. Names that the item does not introduce (rules, functions, operators, kinds) are left to `lookup`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gslang.base.quick_dataclass import dataclass
from gslang.check.context import KINDS
from gslang.lsp.pieces import Piece
from gslang.lsp.tokens import RESERVED, Tokens

ITEM_ROLES = ("rule", "pass", "fn", "op", "param")
_BEFORE_STATEMENT = (";", "{", "}", "=>", ":", "")
_BOUNDS = ("in", "==", "!=", "<=", ">=", "<", ">")


@dataclass(frozen=True, slots=True)
class Mark:
    """One mention of a name, by offsets in its piece. `local`: where the name is introduced, if that is in
    this piece and only seen in it.

    `role` of what introduces: rule pass fn op · input variable binding template counter parameter
    graph-input. Of mentions: name, callee, field, keyword, kind, pass-item, test-rule, import, module, path,
    dialect, trait, type, dtype, annotation, code. `token`: the number of the (first) token.
    """

    start: int
    end: int
    text: str
    role: str
    token: int
    defines: bool = False
    local: int | None = None


def head(piece: Piece) -> Mark | None:
    """The name that an item has: of a rule, pass, function or operator; the title of a test."""
    return next((mark for mark in marks(piece) if mark.defines and mark.role in (*ITEM_ROLES, "test")), None)


def marks(piece: Piece) -> tuple[Mark, ...]:
    """All names of a piece, in order."""
    found = piece.memo.get("marks")
    if found is None:
        found = piece.memo["marks"] = tuple(
            sorted(_Scan(piece.tokens, piece.keyword).run(), key=lambda m: (m.start, m.end))
        )
    return found  # type: ignore[no-any-return]


def mark_at(piece: Piece, offset: int) -> Mark | None:
    """The name at an offset, or right before it."""
    touching = [mark for mark in marks(piece) if mark.start <= offset <= mark.end]
    return max(touching, key=lambda m: (m.start <= offset < m.end, m.start), default=None)


class _Scan:
    """One walk to find what is introduced, one for what is mentioned."""

    def __init__(self, tokens: Tokens, keyword: str) -> None:
        self.tokens, self.keyword = tokens, keyword
        self.names: dict[str, list[Mark]] = {}
        self.table: list[tuple[str, int, int, Mark]] = []  # the names of a family's table
        self.arrow = len(tokens.all)  # of a test: where its second graph begins

    def run(self) -> Iterator[Mark]:
        t = self.tokens
        yield from self.annotations()
        words = (k for k, token in enumerate(t.all) if token.kind == "word" and token.text == self.keyword)
        at = next((k for k in words if t.text(k - 1) not in (".", "@")), None)
        if at is None or not self.keyword:
            return
        match self.keyword:
            case "use":
                yield from self.use(at + 1)
            case "dialect":
                yield from self.plain(at + 1, "dialect")
            case "pass":
                yield from self.steps(at + 1)
            case "test":
                yield from self.test(at + 1)
            case "op":
                yield from self.declaration(at + 1)
            case "fn":
                yield from self.function(at + 1)
            case "param":
                yield from self.parameter(at + 1)
            case _:
                yield from self.rule(at + 1)

    # ── pieces of syntax ──

    def mark(self, token: int, role: str, *, last: int | None = None, defines: bool = False) -> Mark:
        first, end = self.tokens.all[token], self.tokens.all[token if last is None else last]
        text = (
            first.text if last is None else "".join(part.text for part in self.tokens.all[token : last + 1])
        )
        return Mark(first.start, end.end, text, role, token, defines)

    def introduce(self, token: int, role: str) -> Mark:
        mark = replace(self.mark(token, role, defines=True), local=self.tokens.all[token].start)
        self.names.setdefault(mark.text, []).append(mark)
        return mark

    def is_name(self, token: int) -> bool:
        return (
            0 <= token < len(self.tokens.all) and self.tokens.all[token].kind == "word"
            and self.tokens.all[token].text not in RESERVED and self.tokens.all[token].text != "_"
        )

    def is_word(self, token: int) -> bool:
        return 0 <= token < len(self.tokens.all) and self.tokens.all[token].kind == "word"

    def chain(self, token: int) -> int:
        """The last token of a dotted name that begins here."""
        while self.tokens.text(token + 1) == "." and self.is_word(token + 2):
            token += 2
        return token

    def plain(self, token: int, role: str) -> Iterator[Mark]:
        if self.is_name(token):
            yield self.mark(token, role)

    def annotations(self) -> Iterator[Mark]:
        t = self.tokens
        for k, token in enumerate(t.all):
            if token.text == "@" and self.is_word(k + 1):
                yield self.mark(k + 1, "annotation")
                if t.text(k + 1) == "allow" and t.text(k + 2) == "(":
                    yield from (
                        self.mark(j, "code") for j in range(k + 3, t.end_of_bracket(k + 2)) if self.is_word(j)
                    )

    def use(self, at: int) -> Iterator[Mark]:
        t = self.tokens
        if at < len(t.all) and t.all[at].kind == "string":
            yield self.mark(at, "path")
        elif self.is_word(at):
            last = self.chain(at)
            yield self.mark(at, "module", last=last)
            at = last
        if t.text(at + 1) == "(":
            yield from (
                self.mark(k, "import") for k in range(at + 2, t.end_of_bracket(at + 1)) if self.is_name(k)
            )

    def steps(self, at: int) -> Iterator[Mark]:
        if self.is_name(at):
            yield self.mark(at, "pass", defines=True)
        k = at + 1
        while k < len(self.tokens.all):
            if self.is_word(k) and self.tokens.text(k) != "repeat":
                last = self.chain(k)
                yield self.mark(k, "pass-item", last=last)
                k = self.tokens.end_of_bracket(last + 1) if self.tokens.text(last + 1) == "[" else last
            k += 1

    def test(self, at: int) -> Iterator[Mark]:
        t = self.tokens
        if at < len(t.all) and t.all[at].kind == "string":
            yield self.mark(at, "test", defines=True)
            at += 1
        if t.text(at) == "for":
            yield from self.plain(at + 1, "test-rule")
            at += 2
        body = next((k for k in range(at, len(t.all)) if t.text(k) == "{"), len(t.all))
        self.arrow = next(
            (k for k in range(body, len(t.all)) if t.text(k) == "=>" and t.around[k] == body), len(t.all)
        )
        skip: set[int] = set()
        for k in range(body + 1, self.arrow):
            if t.around[k] == body and self.is_name(k) and t.text(k + 1) == ":":
                yield self.introduce(k, "graph-input")
                end = next(
                    (j for j in range(k, len(t.all)) if t.text(j) in (";", "[", "=>", "}")), len(t.all)
                )
                for j, role in zip(range(k + 2, end), ("kind", "dtype")):
                    yield from self.plain(j, role)
                stop = t.end_of_bracket(end) if t.text(end) == "[" else end
                skip.update(range(k, stop))
        skip.update(
            k for k in range(self.arrow, len(t.all)) if t.text(k) == "unchanged" and t.text(k - 1) == "=>"
        )
        yield from self.body(body + 1, len(t.all), skip)

    def declaration(self, at: int) -> Iterator[Mark]:
        t = self.tokens
        if not self.is_word(at):
            return
        last = self.chain(at)
        yield self.mark(at, "op", last=last, defines=True)
        opening = last + 1
        end = t.end_of_bracket(opening) if t.text(opening) == "(" else opening
        yield from self.parameters(opening, end)
        k = end
        while k < len(t.all) and t.text(k) not in ("{", "is", ";"):
            if self.is_word(k):
                yield self.mark(k, "type")
            k += 1
        if t.text(k) == "{":
            inside = range(k + 1, t.end_of_bracket(k))
            parts = {
                j
                for j in inside
                if t.around[j] == k and self.is_name(j) and t.text(j + 1) == "="
                and t.text(j - 1) in ("{", ",")
            }
            yield from (self.mark(j, "meaning") for j in sorted(parts))
            yield from self.body(k + 1, t.end_of_bracket(k), parts)
            k = t.end_of_bracket(k) + 1
        if t.text(k) == "is":
            yield from (self.mark(j, "trait") for j in range(k + 1, len(t.all)) if self.is_word(j))

    def parameters(self, opening: int, end: int) -> Iterator[Mark]:
        """`name: types = default, …` of operators and functions."""
        t = self.tokens
        begin = -1
        types: list[tuple[int, int]] = []
        for k in range(opening + 1, end):
            if t.around[k] != opening:
                continue
            if t.text(k) in (",", "*", "="):
                types, begin = [*types, (begin, k)] if begin >= 0 else types, -1
            elif t.text(k) == ":":
                begin = k + 1
            elif begin < 0 and self.is_word(k) and t.text(k - 1) in ("(", ",", "*"):
                yield self.introduce(k, "parameter")
        for first, stop in [*types, (begin, end)] if begin >= 0 else types:
            yield from self.types(first, stop)

    def types(self, begin: int, end: int) -> Iterator[Mark]:
        """`int in 0 ..< rank(x) | tensor(float)[2]`: the words of types; bounds and lengths are expressions.
        """
        t = self.tokens
        k = begin
        while k < end:
            if t.text(k) == "(":
                yield from self.types(k + 1, t.end_of_bracket(k))
                k = t.end_of_bracket(k)
            elif t.text(k) == "[" or t.text(k) in _BOUNDS:
                stop = t.end_of_bracket(k) if t.text(k) == "[" else self.end_of_bound(k, end)
                yield from self.body(k + 1, stop, set())
                k = stop if t.text(k) == "[" else stop - 1
            elif self.is_word(k):
                yield self.mark(k, "type")
            k += 1

    def end_of_bound(self, at: int, end: int) -> int:
        t = self.tokens
        return next(
            (k for k in range(at, end) if t.text(k) in ("|", ",") and t.around[k] == t.around[at]), end
        )

    def function(self, at: int) -> Iterator[Mark]:
        t = self.tokens
        if not self.is_name(at):
            return
        yield self.mark(at, "fn", defines=True)
        end = t.end_of_bracket(at + 1) if t.text(at + 1) == "(" else at
        if t.text(at + 1) == "(":
            yield from self.parameters(at + 1, end)
        if t.text(end) == "->":
            yield from self.types(
                end + 1, next((k for k in range(end, len(t.all)) if t.text(k) == ";"), len(t.all))
            )
            return
        yield from self.body(end + 1, len(t.all), set())

    def parameter(self, at: int) -> Iterator[Mark]:
        t = self.tokens
        if not self.is_name(at):
            return
        yield self.mark(at, "param", defines=True)
        end = next((k for k in range(at, len(t.all)) if t.text(k) in ("=", ";")), len(t.all))
        yield from self.types(at + 2, end)
        yield from self.body(end + 1, len(t.all), set())

    def rule(self, at: int) -> Iterator[Mark]:
        t = self.tokens
        if not self.is_name(at):
            return
        yield self.mark(at, "rule", defines=True)
        skip: set[int] = set()
        end = at
        if t.text(at + 1) == "(":
            opening, end = at + 1, t.end_of_bracket(at + 1)
            # a header that is not closed
            end = next((k for k in range(opening, end) if t.text(k) == "{" and t.around[k] == opening), end)
            for k in range(opening + 1, end):
                if t.around[k] != opening:
                    continue
                if self.is_name(k) and t.text(k - 1) in ("(", ","):
                    yield self.introduce(
                        k, "variable" if t.text(k + 1) == ":" and t.text(k + 2) == "op" else "input"
                    )
                    skip.add(k)
                elif t.text(k - 1) == ":" and t.text(k) in KINDS:  # it may be a name of the table, too
                    yield self.mark(k, "kind")
                    skip.add(k)
        yield from self.body(at + 1, len(t.all), skip)
        for k in range(at):
            if t.text(k) == "attach" and t.text(k - 1) == "@" and t.text(k + 1) == "(":
                yield from self.mentions(k + 2, t.end_of_bracket(k + 1), set(), {}, self.table)

    # ── statements and expressions ──

    def body(self, begin: int, end: int, skip: set[int]) -> Iterator[Mark]:
        """Everything between two tokens; those in `skip` are known already."""
        t = self.tokens
        known = {mark.token for some in self.names.values() for mark in some}
        templates: dict[str, int] = {}  # template → its block's opening bracket
        for k in range(begin, end):
            if k in skip or k in known or not self.is_name(k) or t.text(k - 1) == ".":
                continue
            after = t.text(k + 1)
            if after == ":=" or after == "=" and self.starts_statement(k):
                yield self.introduce(k, "binding")
            elif t.text(k - 1) == "each" or t.text(k - 1) == "chain" and t.text(k + 1) == "in":
                yield self.introduce(k, "template")
                block = next((j for j in range(k, min(end, k + 40)) if t.text(j) == "{"), -1)
                templates[t.text(k)] = block
                if t.text(k - 1) == "chain":  # these two are names elsewhere
                    skip.add(k - 1)
                    skip.update(j for j in range(k + 1, block) if t.text(j) == "from")
            else:
                continue
            skip.add(k)
        locals_: list[tuple[str, int, int, Mark]] = []
        for k in range(begin, end):
            if t.text(k) == "for" and t.text(k - 1) != "." and t.text(k + 1) != "=":
                opening = t.around[k]
                stop = next((j for j in range(k, min(end, k + 60)) if t.text(j) == "in"), k)
                for j in range(k + 1, stop):
                    if self.is_name(j) and j not in skip:
                        mark = replace(self.mark(j, "counter", defines=True), local=t.all[j].start)
                        locals_.append(
                            (mark.text, opening, t.end_of_bracket(opening) if opening >= 0 else end, mark)
                        )
                        skip.add(j)
                        yield mark
        self.table = [local for local in locals_ if local[1] < 0]
        yield from self.mentions(begin, end, skip, templates, locals_)

    def mentions(
        self,
        begin: int,
        end: int,
        skip: set[int],
        templates: dict[str, int],
        locals_: list[tuple[str, int, int, Mark]],
    ) -> Iterator[Mark]:
        """The names that are used between two tokens."""
        t, k = self.tokens, begin
        while k < end:
            if k not in skip and (
                self.is_name(k) or self.is_word(k) and (t.text(k - 1) == "." or self.in_call(k))
            ):
                yield from self.mention(k, end, templates, locals_)
                if t.text(k - 1) != ".":
                    k = max(k, min(self.chain(k), end - 1))
            k += 1

    def starts_statement(self, k: int) -> bool:
        """True if `k =` binds a name; else it is an argument."""
        t = self.tokens
        return (
            t.text(k - 1) == ";" or t.text(t.around[k]) not in ("(", "[")
            and t.text(k - 1) in _BEFORE_STATEMENT
        )

    def in_call(self, k: int) -> bool:
        """True if word k is the name of an argument."""
        t = self.tokens
        return t.text(k + 1) == "=" and t.text(k - 1) in ("(", ",") and t.text(t.around[k]) == "("

    def look_up(self, text: str, k: int, locals_: list[tuple[str, int, int, Mark]]) -> Mark | None:
        for name, opening, stop, mark in locals_:
            if name == text and opening < k < stop:
                return mark
        some = [m for m in self.names.get(text, ()) if self.sees(k, m)]
        return next(
            (m for m in some if (m.token > self.arrow) == (k > self.arrow)), some[0] if some else None
        )

    def sees(self, k: int, mark: Mark) -> bool:
        """In a test each graph has names of its own; the inputs are common."""
        return (
            self.keyword != "test" or mark.role == "graph-input"
            or (mark.token > self.arrow) == (k > self.arrow)
        )

    def mention(
        self, k: int, end: int, templates: dict[str, int], locals_: list[tuple[str, int, int, Mark]]
    ) -> Iterator[Mark]:
        t = self.tokens
        if t.text(k - 1) == ".":  # behind a bracket: `branch[0].conv`; chains are read from their first word
            yield self.field(k, self.root(k - 1), templates, locals_)
            return
        if self.in_call(k):
            yield self.mark(k, "keyword")
            return
        opening = t.around[k]
        if t.text(opening) == "{" and t.text(opening - 1) == "." and t.text(k + 1) in (",", "}"):
            yield self.mark(k, "field")  # `p.{a, b}`
            return
        local = self.look_up(t.text(k), k, locals_)
        last = min(self.chain(k), end - 1)
        called = t.text(last + 1) == "(" or t.text(last + 1) == "?" and t.text(last + 2) == "("
        if local is None and (called or last > k and t.text(k) not in ("first", "prev", "index")):
            if t.text(k) in KINDS and t.text(k + 1) == "(" and (t.text(k + 2) == ")" or t.text(k + 3) == "="):
                yield self.mark(k, "kind")  # of a node, with constraints alone
            elif self.is_name(k):
                yield self.mark(k, "callee", last=last)
            return
        yield replace(self.mark(k, "name"), local=local.start if local is not None else None)
        for j in range(k + 2, last + 1, 2):
            yield self.field(j, t.text(k) if j == k + 2 else "", templates, locals_)

    def root(self, dot: int) -> str:
        """The name before the brackets before a dot: `branch` of `branch[0].conv`."""
        t = self.tokens
        k = dot - 1
        while t.text(k) in ("]", ")"):
            opening = next((o for o, c in t.closing.items() if c == k), -1)
            k = opening - 1
            if opening < 0:
                return ""
        return t.text(k) if t.text(k - 1) != "." else ""

    def field(
        self, k: int, root: str, templates: dict[str, int], locals_: list[tuple[str, int, int, Mark]]
    ) -> Mark:
        """`root.field`: a name of a template where `root` is one, or an instance of one; else an attribute.
        """
        t = self.tokens
        mark = self.mark(k, "field")
        instance = (
            root in templates or root in ("first", "prev")
            or any(name == root and o < k < c for name, o, c, _ in locals_)
        )
        if instance:
            for candidate in self.names.get(mark.text, ()):
                block = t.around[candidate.token]
                if (
                    candidate.role == "binding" and block in templates.values()
                    and (root not in templates or templates[root] == block)
                ):
                    return replace(mark, local=candidate.start)
        return mark
