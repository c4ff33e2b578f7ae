"""A candidate as the text of a rule: attributes open or stated, types left alone, equal, or with equal sizes.

`forms` lists texts from the weakest conditions to the strongest; which of them holds is for `judge` to find
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.discover.conditions import Place, SizeConditions
from gslang.discover.enumerate import Tree
from gslang.discover.equations import Candidate
from gslang.discover.formers import SIZES, Former, Symbol, shape_of
from gslang.search.explained import shown

NAMES = "xyzwvutsrqponmlkjihgfedcba"
STYLES = ("open", "half", "stated")
"""Requirements on attributes: that calls of one kind have the same, that those tried have the value that was
tried, that all have."""
_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
}


@dataclass(frozen=True, slots=True)
class Form:
    """`text`: the rule. `conditions`: what it asks for beyond its operators, in words."""

    text: str
    conditions: tuple[str, ...]


def forms(
    candidate: Candidate,
    name: str,
    formers: Sequence[Former],
    dialect: Dialect,
    sizes: Iterable[SizeConditions],
) -> Iterator[Form]:
    """Texts of one rule, each once.

    `sizes`: conditions on sizes at the ranks that the term was found with, asked for when all else is told.
    """
    seen: set[str] = set()
    known = list(sizes) if _has_symbols(candidate, formers) else []
    read: list[SizeConditions | None] = [SizeConditions((), conditions.symbols) for conditions in known] or [
        None
    ]
    ways = [(kind, style, where) for kind in ("any", "dtype", "alike") for style in STYLES for where in read]
    for kind, style, where in ways:
        form = rule_text(candidate, name, formers, dialect, style, kind, where)
        if form is not None and form.text not in seen:
            seen.add(form.text)
            yield form
    for conditions in known or list(sizes):
        for style in STYLES:
            form = rule_text(candidate, name, formers, dialect, style, "ranked", conditions)
            if form is not None and form.text not in seen:
                seen.add(form.text)
                yield form


def rule_text(
    candidate: Candidate,
    name: str,
    formers: Sequence[Former],
    dialect: Dialect,
    style: str,
    kind: str,
    sizes: SizeConditions | None,
) -> Form | None:
    """One form; None where an attribute is a size and nothing tells whose."""
    places = {} if sizes is None else dict(sizes.symbols)
    if sizes is None and _has_symbols(candidate, formers):
        return None
    header, words = _header(candidate, kind)
    source = _Writer(formers, dialect, places, style, True)
    shared = _shared(candidate.source) | (_subterms(candidate.source) & _subterms(candidate.target))
    result = source.expression(candidate.source, shared)
    target = _Writer(formers, dialect, places, style, False, dict(source.named), source.givers)
    outcome = target.expression(candidate.target, _shared(candidate.target))
    where = [] if sizes is None else [f"{_size(a)} == {_size(b)}" for a, b in sizes.equal]
    words += [*where, *source.stated]
    lines = [f"rule {name}({', '.join(header)}) {{", *(f"    {line};" for line in source.lines)]
    result, outcome = _plain(result), _plain(outcome)
    lines.append(f"    {result}" + (f" where {', '.join(where)}" if where else ""))
    lines += ["  =>", *(f"    {line};" for line in target.lines), f"    {outcome}", "}"]
    return Form("\n".join(lines) + "\n", tuple(dict.fromkeys(words)))


def graph_text(candidate: Candidate, formers: Sequence[Former], dialect: Dialect) -> str:
    """The body of a test: inputs of the first sizes, source and target with all attributes stated."""
    inputs = [f"{NAMES[k]}: input {types[0]};" for k, types in enumerate(candidate.types)]
    sides = []
    for tree in (candidate.source, candidate.target):
        writer = _Writer(formers, dialect, {}, "stated", False, sized=True)
        result = writer.expression(tree, _shared(tree))
        sides.append("\n".join([*(f"    {line};" for line in writer.lines), f"    {result}"]))
    return "    " + "  ".join(inputs) + "\n" + sides[0] + "\n  =>\n" + sides[1] + "\n"


def equation_text(candidate: Candidate, formers: Sequence[Former]) -> str:
    """Both sides in one line, with the attributes that were tried."""

    def text(tree: Tree) -> str:
        if isinstance(tree, int):
            return NAMES[tree]
        former = formers[tree[0]]
        if former.constant is not None:
            return shown(former.constant)
        operands = [text(operand) for operand in tree[1:]]
        if former.op in _INFIX:
            return f"({operands[0]} {_INFIX[former.op]} {operands[1]})"
        attributes = [f"{name} = {_named_value(value)}" for name, value in former.attrs]
        given = [f"({', '.join(operands)})"] if former.packed else operands
        return f"{former.op}({', '.join([*given, *attributes])})" + (
            "" if former.index is None else f".{former.index}"
        )

    return f"`{_plain(text(candidate.source))}` is `{_plain(text(candidate.target))}`"


def _named_value(value: Any) -> str:
    if isinstance(value, Symbol):
        return value.name
    return (
        f"({', '.join(map(_named_value, value))}{',' * (len(value) == 1)})" if isinstance(value, tuple)
        else shown(value)
    )


def _header(candidate: Candidate, kind: str) -> tuple[list[str], list[str]]:
    """Inputs with what is asked of their types, and that in words."""
    header, words = [], []
    first: dict[Any, str] = {}
    for k, types in enumerate(candidate.types):
        name = NAMES[k]
        inner = []
        rank = len(shape_of(types[0]))
        if kind == "alike" and types in first:
            inner.append(f"shape = {first[types]}.shape")
        if kind == "ranked":
            inner.append(f"shape = ({', '.join(['_'] * rank)}{',' * (rank == 1)})")
        if kind != "any" and k:
            inner.append(f"dtype = {NAMES[0]}.dtype")
        first.setdefault(types, name)
        header.append(f"{name}: any({', '.join(inner)})" if inner else name)
        words += [f"{name}: {', '.join(inner)}"] if inner else []
    return header, words


@dataclass(slots=True)
class _Writer:
    """`named`: subterm → its name.

    `givers`: former → the name of the source's first call of it. `stated`: attributes that the source asks
    for.
    """

    formers: Sequence[Former]
    dialect: Dialect
    places: Mapping[str, Place]
    style: str
    is_source: bool
    named: dict[Tree, str] = field(default_factory=dict)
    givers: dict[Former, str] = field(default_factory=dict)
    sized: bool = False
    lines: list[str] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)

    def expression(self, tree: Tree, shared: set[Tree]) -> str:
        if isinstance(tree, int):
            return NAMES[tree]
        if tree in self.named:
            return self.named[tree]
        former = self.formers[tree[0]]
        operands = [self.expression(operand, shared) for operand in tree[1:]]
        text = self._call(former, operands)
        gives = (
            self.style != "stated" and self.is_source and former not in self.givers and self._declared(former)
        )
        if not gives and tree not in shared:
            return f"({text})" if text.count(" ") and former.op in _INFIX else text
        name = f"{'t' if self.is_source else 'u'}{len(self.lines) + 1}"
        if former.index is not None:
            name = f"p{len(self.lines) + 1}"
            self.lines.append(f"{name} = {text.rpartition('.')[0]}")
            self.givers.setdefault(former, name)
            name = f"{name}.{former.index}"
        else:
            self.lines.append(f"{name} = {text}")
            if gives:
                self.givers[former] = name
        self.named[tree] = name
        return name

    def _declared(self, former: Former) -> bool:
        return former.constant is None and bool(self.dialect.operators[former.op].attributes)

    def _call(self, former: Former, operands: list[str]) -> str:
        if former.constant is not None:
            return shown(former.constant)
        giver = self.givers.get(former)
        attributes = self._attributes(former, giver)
        if former.op in _INFIX and len(operands) == 2 and not attributes:
            return f"{operands[0]} {_INFIX[former.op]} {operands[1]}"
        given = [f"({', '.join(operands)})"] if former.packed else operands
        text = f"{former.op}({', '.join([*given, *attributes])})"
        return text if former.index is None else f"{text}.{former.index}"

    def _attributes(self, former: Former, giver: str | None) -> list[str]:
        symbols = [f"{name} = {self._value(value)}" for name, value in former.attrs if _mentions(value)]
        if self.style != "stated" and giver is not None:
            return [f"{giver}.*"]
        if self.style == "open" and self.is_source:
            return symbols
        signature = self.dialect.operators[former.op]
        given = dict(former.attrs)
        complete = signature.complete(given)
        names = (
            complete if self.is_source and self.style == "stated"
            else [
                name
                for name, value in complete.items()
                if name in given or not self.is_source and name not in signature.defaults
            ]
        )
        handed = self._handed(complete) if self.style == "open" else {}
        names = [*names, *(name for name in handed if name not in names)]
        texts = [
            f"{name} = {handed.get(name) or self._value(complete[name])}"
            for name in signature.attributes if name in names
        ]
        if self.is_source:
            self.stated += [
                f"`{former.op}` has {text}" for text in texts if text.partition(" = ")[0] in given
            ]
        return texts

    def _handed(self, complete: Mapping[str, Any]) -> dict[str, str]:
        """Attributes that a call of the source has under the same name, with the same value: the axis of a
        softmax is that of a log_softmax.
        """
        found: dict[str, str] = {}
        for former, giver in self.givers.items():
            own = self.dialect.operators[former.op].complete(dict(former.attrs))
            for name, value in complete.items():
                if name in own and own[name] == value and type(own[name]) is type(value):
                    found.setdefault(name, f"{giver}.{name}")
        return found

    def _value(self, value: Any) -> str:
        if isinstance(value, Symbol):
            return str(SIZES[0][value.name]) if self.sized else _size(self.places[value.name])
        if isinstance(value, tuple):
            return f"({', '.join(map(self._value, value))}{',' * (len(value) == 1)})"
        return shown(value)


def _plain(text: str) -> str:
    """Without the brackets around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth and k < len(text) - 1:
            return text
    return text[1:-1]


def _size(place: Place) -> str:
    return f"{NAMES[place[0]]}.shape[{place[1]}]"


def _mentions(value: Any) -> bool:
    return isinstance(value, Symbol) or isinstance(value, tuple) and any(map(_mentions, value))


def symbols_of(candidate: Candidate, formers: Sequence[Former]) -> list[str]:
    """The sizes that attributes of a candidate are."""
    found: dict[str, None] = {}

    def look(value: Any) -> None:
        if isinstance(value, Symbol):
            found[value.name] = None
        elif isinstance(value, tuple):
            for item in value:
                look(item)

    for tree in _subterms(candidate.source) | _subterms(candidate.target):
        if isinstance(tree, tuple):
            for _, value in formers[tree[0]].attrs:
                look(value)
    return sorted(found)


def _has_symbols(candidate: Candidate, formers: Sequence[Former]) -> bool:
    return bool(symbols_of(candidate, formers))


def _subterms(tree: Tree) -> set[Tree]:
    """All calls in a term."""
    if isinstance(tree, int):
        return set()
    return {tree, *(below for operand in tree[1:] for below in _subterms(operand))}


def _shared(tree: Tree) -> set[Tree]:
    """Calls that stand in a term more than once."""
    often: Counter[Tree] = Counter()

    def walk(part: Tree) -> None:
        if isinstance(part, tuple):
            often[part] += 1
            if often[part] == 1:
                for operand in part[1:]:
                    walk(operand)

    walk(tree)
    return {part for part, times in often.items() if times > 1}
