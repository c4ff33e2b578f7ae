"""A rule as text that conditions can be added to: each call of its source has a name, each input its
constraints.

Not here: how it is read from a file (`drafting`), which conditions (`candidates`), and whether the rule holds
under them (`refine`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.generalize.checking import Checking


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
    checking: Checking

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
                or any(a.startswith(f"{c.field} =") for a in s.arguments or ())
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
        return self.checking.program(self.file, self.around + self.text(conditions, placed))

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
