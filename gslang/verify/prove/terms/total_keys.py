"""Sums as terms with a key, the least text over all ways to number their positions: names do not count."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from math import factorial, prod

from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Knowledge, Number, Size, names_in
from gslang.verify.prove.terms.terms import Atom, Term, Variables, of_atom

_MOST_ORDERS = 720


def all_names(value: Number, facts: Knowledge) -> set[str]:
    """The quantities in a size, those inside quotients included."""
    found: set[str] = set()
    for name in names_in(value):
        found.add(name)
        for part in facts.parts_of(name):
            found |= all_names(part, facts)
    return found


def names_of(atom: Atom) -> set[str]:
    """The positions that occur freely in an atom (and names of quantities)."""
    found: set[str] = set()
    for argument in atom.args:
        if isinstance(argument, Term):
            for inner in argument.atoms():
                found |= names_of(inner)
        elif isinstance(argument, Size):
            found |= all_names(argument, argument.facts)
    for _, size in atom.variables:
        if isinstance(size, Size):
            found |= all_names(size, size.facts)
    return found - {name for name, _ in atom.variables}


def keyed(kind: str, variables: Variables, body: Term, facts: Facts) -> Term:
    """A sum whose key does not depend on the names of its positions."""
    for name, _ in variables:
        if any(name in names_in(other) for _, other in variables if isinstance(other, Size)):
            raise NotProved("sums with interdependent bounds are not supported")
    level = body.level + 1
    key = _written_total(kind, variables, body, {}, level, facts)
    return of_atom(Atom("total", kind, (body,), key, level, variables))


def _written_total(
    kind: str, variables: Variables, body: Term, names: Mapping[str, str], level: int, facts: Facts
) -> str:
    """The text of a sum: the least one over all ways to number its positions."""
    signatures: dict[str, list[tuple[str, str]]] = {}
    blank = {**names, **{name: "@" for name, _ in variables}}
    for name, size in variables:
        marked = {**blank, name: "@@"}
        uses = sorted(_written_atom(atom, marked, facts) for atom in body.atoms() if name in names_of(atom))
        signatures.setdefault(f"{_written_size(size, names, facts)} {uses}", []).append(
            (name, _written_size(size, names, facts))
        )
    classes = [signatures[key] for key in sorted(signatures)]
    if prod(factorial(len(group)) for group in classes) > _MOST_ORDERS:
        raise NotProved("a sum has too many interchangeable indices")
    best = ""
    for order in product(*[permutations(group) for group in classes]):
        facts.choices.spend(2 * len(body.parts))
        flat = [v for group in order for v in group]
        numbered = {**names, **{name: f"@{level}p{k}" for k, (name, _) in enumerate(flat)}}
        text = f"{kind}<{', '.join(size for _, size in flat)}>({_written(body, numbered, facts)})"
        best = min(best, text) if best else text
    return best


def _written(value: Term, names: Mapping[str, str], facts: Facts) -> str:
    """The text of a term under other names of positions."""
    parts = []
    for factors, c in value.parts.items():
        parts.append(
            f"{c}·"
            + "·".join(
                sorted(f"{_written_atom(atom, names, facts)}^{exponent}" for atom, exponent in factors)
            )
        )
    return " + ".join(sorted(parts)) or "0"


def _written_atom(atom: Atom, names: Mapping[str, str], facts: Facts) -> str:
    if atom.kind == "total":
        return _written_total(atom.name, atom.variables, atom.args[0], names, atom.level, facts)
    arguments = [
        _written(a, names, facts) if isinstance(a, Term) else _written_size(a, names, facts)
        for a in atom.args
    ]
    return f"{atom.kind} {'' if atom.kind == 'num' else atom.name}({', '.join(arguments)})"


def _written_size(value: Number, names: Mapping[str, str], facts: Facts) -> str:
    if not isinstance(value, Size):
        return str(value)
    return "+".join(sorted(
        f"{c}*{'*'.join(sorted(_written_name(name, names, facts) for name in p))}"
        for p, c in value.terms.items()
    ))


def _written_name(name: str, names: Mapping[str, str], facts: Facts) -> str:
    parts = facts.parts_of(name)
    if not parts:
        return names.get(name, name)
    return f"{name[: name.index('(')]}({', '.join(_written_size(part, names, facts) for part in parts)})"
