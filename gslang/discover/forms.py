"""A candidate as the text of a rule: attributes open or stated, types left alone, equal, or with equal sizes.

`forms` lists texts from the weakest conditions to the strongest; which of them holds is for `judge` to find
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain_text import value_text
from gslang.discover.conditions import Place, Product, SizeConditions
from gslang.discover.equations import Candidate
from gslang.discover.formers import SIZES, Former, Symbol, has_symbol, shape_of
from gslang.discover.terms import Tree
from gslang.graph.call_text import tuple_text

NAMES = "xyzwvutsrqponmlkjihgfedcba"
_FLOATS = '("float16", "float32", "float64", "bfloat16")'
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


@dataclass(frozen=True, slots=True)
class Style:
    """Requirements on attributes: `tried`, that those of these operators that were varied have the value that
    was tried; `all`, that all attributes have. The others are the same in calls of one kind."""

    tried: frozenset[str] = frozenset()
    all: bool = False


@dataclass(frozen=True, slots=True)
class Types:
    """Requirements on inputs: one data type; shapes in common (pairs of variables, the later one first); the
    ranks that were tried; equal sizes; that the data type is one of floating-point numbers."""

    dtype: bool = False
    alike: tuple[tuple[int, int], ...] = ()
    ranked: bool = False
    sized: bool = False
    floats: bool = False


def forms(
    candidate: Candidate, name: str, formers: Sequence[Former], dialect: Dialect,
    sizes: Sequence[SizeConditions],
) -> Iterator[Form]:  # fmt: skip
    """Texts of one rule, each once; `sizes`: enough conditions at the ranks that the term was found with."""
    seen: set[str] = set()
    for types, conditions in _conditions(sizes):
        for style in _styles(candidate, formers):
            form = rule_text(candidate, name, formers, dialect, style, types, conditions)
            if form is not None and form.text not in seen:
                seen.add(form.text)
                yield form


def _conditions(sizes: Sequence[SizeConditions]) -> Iterator[tuple[Types, SizeConditions]]:
    free = [conditions for conditions in sizes if not conditions.equal and not conditions.products]
    for types in (Types(), Types(dtype=True), Types(dtype=True, floats=True)):
        for conditions in free:
            yield types, conditions
    for conditions in sizes:
        for alike in conditions.alike:
            yield Types(True, alike), conditions
    for ranked in (False, True):
        for conditions in sizes:
            yield Types(True, (), ranked, True), conditions


def _styles(candidate: Candidate, formers: Sequence[Former]) -> list[Style]:
    """From the weakest: attributes of no operator are stated, of one, of all; all are."""
    calls = [formers[tree[0]] for tree in _subterms(*candidate.sources) if isinstance(tree, tuple)]
    tried = sorted({former.op for former in calls if former.attrs})
    single = [Style(frozenset({op})) for op in tried] if len(tried) > 1 else []
    return [Style(), *single, Style(frozenset(tried)), Style(all=True)]


def rule_text(
    candidate: Candidate, name: str, formers: Sequence[Former], dialect: Dialect,
    style: Style, types: Types, sizes: SizeConditions,
) -> Form | None:  # fmt: skip
    """One form; None where an attribute is a size and nothing tells whose."""
    places = dict(sizes.symbols)
    if any(symbol not in places for symbol in symbols_of(candidate, formers)):
        return None
    header, words = _header(candidate, types)
    source = _Writer(formers, dialect, places, style, True)
    shared = _shared(*candidate.sources) | (_subterms(*candidate.sources) & _subterms(*candidate.targets))
    result = source.all_of(candidate.sources, shared)
    target = _Writer(formers, dialect, places, style, False, dict(source.named), source.givers)
    outcome = target.all_of(candidate.targets, _shared(*candidate.targets))
    where = [f"{_size(a)} == {_size(b)}" for a, b in sizes.equal] if types.sized else []
    where += [_product(sides) for sides in sizes.products] if types.sized else []
    where += [f"{NAMES[0]}.dtype in {_FLOATS}"] if types.floats else []
    words += [*where, *source.stated]
    lines = [f"rule {name}({', '.join(header)}) {{", *(f"    {line};" for line in source.lines)]
    lines.append(f"    {result}" + (f" where {', '.join(where)}" if where else ""))
    lines += ["  =>", *(f"    {line};" for line in target.lines), f"    {outcome}", "}"]
    return Form("\n".join(lines) + "\n", tuple(dict.fromkeys(words)))


def law_text(candidate: Candidate, name: str, formers: Sequence[Former], dialect: Dialect) -> str:
    """A rule that says what was seen, with all attributes as they were and no conditions: not to be believed.
    """
    sides = []
    for trees in (candidate.sources, candidate.targets):
        writer = _Writer(formers, dialect, {}, Style(all=True), False, sized=True)
        result = writer.all_of(trees, _shared(*trees))
        sides.append(" ".join([*(f"{line};" for line in writer.lines), result]))
    return f"rule {name}({', '.join(NAMES[: len(candidate.types)])}) {{ {sides[0]} => {sides[1]} }}\n"


def graph_text(candidate: Candidate, formers: Sequence[Former], dialect: Dialect) -> str:
    """The body of a test: inputs of the first sizes, source and target with all attributes stated."""
    inputs = [f"{NAMES[k]}: input {types[0]};" for k, types in enumerate(candidate.types)]
    sides = []
    for trees in (candidate.sources, candidate.targets):
        writer = _Writer(formers, dialect, {}, Style(all=True), False, sized=True)
        result = writer.all_of(trees, _shared(*trees))
        sides.append("\n".join([*(f"    {line};" for line in writer.lines), f"    {result}"]))
    return "    " + "  ".join(inputs) + "\n" + sides[0] + "\n  =>\n" + sides[1] + "\n"


def equation_text(candidate: Candidate, formers: Sequence[Former]) -> str:
    """Both sides in one line, with the attributes that were tried."""

    def text(tree: Tree) -> str:
        if isinstance(tree, int):
            return NAMES[tree]
        former = formers[tree[0]]
        if former.constant is not None:
            return value_text(former.constant)
        operands = [text(operand) for operand in tree[1:]]
        if former.op in _INFIX:
            return f"({operands[0]} {_INFIX[former.op]} {operands[1]})"
        attributes = [f"{name} = {_named_value(value)}" for name, value in former.attrs]
        given = [f"({', '.join(operands)})"] if former.packed else operands
        return f"{former.op}({', '.join([*given, *attributes])})" + (
            "" if former.index is None else f".{former.index}"
        )

    before, after = (
        ", ".join(_plain(text(tree)) for tree in side) for side in (candidate.sources, candidate.targets)
    )
    return f"`{before}` {'is' if len(candidate.sources) == 1 else 'are'} `{after}`"


def _named_value(value: object) -> str:
    if isinstance(value, Symbol):
        return value.name
    return tuple_text(map(_named_value, value)) if isinstance(value, tuple) else value_text(value)


def _product(sides: Product) -> str:
    (a, b), (c, d) = sides
    return f"{_size(a)} * {_size(b)} == {_size(c)} * {_size(d)}"


def _header(candidate: Candidate, asked: Types) -> tuple[list[str], list[str]]:
    """Inputs with what is asked of their types, and that in words."""
    header, words = [], []
    alike = dict(asked.alike)
    for k, types in enumerate(candidate.types):
        name = NAMES[k]
        inner = []
        rank = len(shape_of(types[0]))
        if k in alike:
            inner.append(f"shape = {NAMES[alike[k]]}.shape")
        if asked.ranked:
            inner.append(f"shape = ({', '.join(['_'] * rank)}{',' * (rank == 1)})")
        if asked.dtype and k:
            inner.append(f"dtype = {NAMES[0]}.dtype")
        header.append(f"{name}: any({', '.join(inner)})" if inner else name)
        words += [f"{name}: {', '.join(inner)}"] if inner else []
    return header, words


@dataclass(slots=True)
class _Writer:
    """`named`: subterm → its name. `givers`: former → the name of the source's first call of it. `stated`:
    attributes that the source asks for."""

    formers: Sequence[Former]
    dialect: Dialect
    places: Mapping[str, Place]
    style: Style
    is_source: bool
    named: dict[Tree, str] = field(default_factory=dict)
    givers: dict[Former, str] = field(default_factory=dict)
    sized: bool = False
    lines: list[str] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)
    parts: dict[tuple[Former, tuple[Tree, ...]], str] = field(default_factory=dict)
    """Calls of which several fields are read: the former of the first field and the operands → its name."""

    def all_of(self, trees: Sequence[Tree], shared: set[Tree]) -> str:
        """The terms, separated by commas; what they need before them is in `lines`."""
        fields = Counter(_whole(self.formers, tree) for tree in _subterms(*trees))
        self.parts = {whole: "" for whole, count in fields.items() if whole is not None and count > 1}
        return ", ".join([_plain(self.expression(tree, shared)) for tree in trees])

    def expression(self, tree: Tree, shared: set[Tree]) -> str:
        if isinstance(tree, int):
            return NAMES[tree]
        if tree in self.named:
            return self.named[tree]
        former = self.formers[tree[0]]
        whole = _whole(self.formers, tree)
        if whole in self.parts and self.parts[whole]:
            return f"{self.parts[whole]}.{former.index}"
        operands = [self.expression(operand, shared) for operand in tree[1:]]
        text = self._call(former, operands)
        gives = (
            not self.style.all and self.is_source and former not in self.givers and self._declared(former)
        )
        if not gives and tree not in shared and whole not in self.parts:
            return f"({text})" if text.count(" ") and former.op in _INFIX else text
        name = f"{'t' if self.is_source else 'u'}{len(self.lines) + 1}"
        if former.index is not None:
            name = f"p{len(self.lines) + 1}"
            self.lines.append(f"{name} = {text.rpartition('.')[0]}")
            if gives:
                self.givers.setdefault(former, name)
            if whole in self.parts:
                self.parts[whole] = name
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
            return value_text(former.constant)
        giver = self.givers.get(former)
        attributes = self._attributes(former, giver)
        if former.op in _INFIX and len(operands) == 2 and not attributes:
            return f"{operands[0]} {_INFIX[former.op]} {operands[1]}"
        given = [f"({', '.join(operands)})"] if former.packed else operands
        text = f"{former.op}({', '.join([*given, *attributes])})"
        return text if former.index is None else f"{text}.{former.index}"

    def _attributes(self, former: Former, giver: str | None) -> list[str]:
        is_open = not self.style.all and former.op not in self.style.tried
        symbols = [f"{name} = {self._value(value)}" for name, value in former.attrs if has_symbol(value)]
        if not self.style.all and giver is not None:
            return [f"{giver}.*"]
        if is_open and self.is_source:
            return symbols
        signature = self.dialect.operators[former.op]
        given = dict(former.attrs)
        complete = signature.complete(given)
        if self.is_source and self.style.all:
            names = list(complete)
        else:
            needed = () if self.is_source else signature.attributes.keys() - signature.defaults.keys()
            names = [name for name in complete if name in given or name in needed]
        handed = self._handed(complete) if is_open else {}
        names = [*names, *(name for name in handed if name not in names)]
        texts = [
            f"{name} = {handed.get(name) or self._value(complete[name])}"
            for name in signature.attributes
            if name in names
        ]
        if self.is_source:
            self.stated += [
                f"`{former.op}` has {text}" for text in texts if text.partition(" = ")[0] in given
            ]
        return texts

    def _handed(self, complete: Attrs) -> dict[str, str]:
        """Attributes that a call of the source has under the same name, with the same value: the axis of a
        softmax is that of a log_softmax."""
        found: dict[str, str] = {}
        for former, giver in self.givers.items():
            own = self.dialect.operators[former.op].complete(dict(former.attrs))
            for name, value in complete.items():
                if name in own and own[name] == value and type(own[name]) is type(value):
                    found.setdefault(name, f"{giver}.{name}")
        return found

    def _value(self, value: object) -> str:
        if isinstance(value, Symbol):
            return str(SIZES[0][value.name]) if self.sized else _size(self.places[value.name])
        if isinstance(value, tuple):
            return tuple_text(map(self._value, value))
        return value_text(value)


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


def symbols_of(candidate: Candidate, formers: Sequence[Former]) -> list[str]:
    """The sizes that attributes of a candidate are."""
    found: dict[str, None] = {}

    def look(value: object) -> None:
        if isinstance(value, Symbol):
            found[value.name] = None
        elif isinstance(value, tuple):
            for item in value:
                look(item)

    for tree in _subterms(*candidate.sources, *candidate.targets):
        if isinstance(tree, tuple):
            for _, value in formers[tree[0]].attrs:
                look(value)
    return sorted(found)


def _subterms(*trees: Tree) -> set[Tree]:
    """All calls in some terms."""
    found: set[Tree] = set()
    for tree in trees:
        if isinstance(tree, tuple):
            found |= {tree, *_subterms(*tree[1:])}
    return found


def _whole(formers: Sequence[Former], tree: Tree) -> tuple[Former, tuple[Tree, ...]] | None:
    """The same for all fields of the result of one call; None for other terms."""
    if isinstance(tree, int) or formers[tree[0]].index is None:
        return None
    return replace(formers[tree[0]], index=0), tree[1:]


def _shared(*trees: Tree) -> set[Tree]:
    """Calls that stand in some terms more than once."""
    often: Counter[Tree] = Counter()

    def walk(part: Tree) -> None:
        if isinstance(part, tuple):
            often[part] += 1
            if often[part] == 1:
                for operand in part[1:]:
                    walk(operand)

    for tree in trees:
        walk(tree)
    return {part for part, times in often.items() if times > 1}
