"""Sums (and maxima, …) over positions in normal form, and terms brought up to date with what is known.

A sum over several positions is taken apart into addends; in each, guards that bound a position shorten its
range (that is how joined tensors, padding and unit matrices dissolve), positions that do not occur become a
factor, factors without a position go in front, inner sums are merged, and what does not share positions
becomes sums of their own. Names of positions do not count: the key of a sum is the least one over all ways to
number its positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from gslang.verify.prove.terms.axioms import apply
from gslang.verify.prove.terms.cases import vanishes
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.sizes import Number, Size, divide, linear, names_in, terms_of, text_of
from gslang.verify.prove.terms.terms import (
    FUNCTION_OF,
    ONE,
    ZERO,
    Atom,
    Factors,
    Term,
    Variables,
    guard,
    of_atom,
    of_size,
    read,
    rebuilt,
    sizes_of,
    term,
    unknown,
)
from gslang.verify.prove.terms.total_keys import all_names, keyed, names_of
from gslang.verify.prove.terms.uses import is_raw, rewrite, use


def up_to_date(value: Term, facts: Facts) -> Term:
    """The term in normal form under what is known now."""
    result: dict[Factors, Fraction] = {}
    for factors, c in value.parts.items():
        facts.choices.budget.watch()
        for product, d in _product(factors, facts).parts.items():
            result[product] = result.get(product, Fraction(0)) + c * d
    return term(result)


def _product(factors: Factors, facts: Facts) -> Term:
    guards = [facts.normal(atom.args[0]) for atom, _ in factors if atom.kind == "guard"]
    needed = needed_guards(guards, facts)
    if needed is None:
        rewrite("guard that fails", lambda: _guarded(guards), ZERO)
        return ZERO
    if len(needed) < len(guards):
        rewrite("guard that holds", lambda: _guarded(guards), lambda: _guarded(needed))
    result = ONE
    for g in needed:
        result = result * guard(g)
    with facts.assuming(*needed):
        for atom, exponent in factors:
            if atom.kind != "guard":
                result = result * _atom(atom, facts).power(exponent)
    return result


def _guarded(guards: Sequence[Any]) -> Term:
    result = ONE
    for value in guards:
        result = result * guard(value)
    return result


def needed_guards(guards: Sequence[Any], facts: Facts) -> list[Any] | None:
    """Those guards that do not follow from the others and from what is known; None where they contradict it.
    """
    kept = {text_of(g): g for g in guards}
    for key in sorted(kept, key=lambda k: (-len(k), k)):
        g = kept[key]
        others = [kept[k] for k in sorted(kept) if k != key]
        with facts.assuming(*others):
            known = facts.decided(g)
        if known is False:
            return None
        if known:
            del kept[key]
    return [kept[key] for key in sorted(kept)]


def _atom(atom: Atom, facts: Facts) -> Term:
    match atom.kind:
        case "read":
            return read(atom.name, facts.normals(atom.args))
        case "num":
            return of_size(facts.normal(atom.args[0]))
        case "fn":
            return apply(FUNCTION_OF.get(atom.name, atom.name), [up_to_date(a, facts) for a in atom.args])
        case "group":
            return up_to_date(atom.args[0], facts)
        case "total":
            variables = tuple((name, facts.normal(size)) for name, size in atom.variables)
            return total(atom.name, variables, up_to_date(atom.args[0], facts), facts)
    return of_atom(atom)


def replace(value: Term, what: Mapping[str, Number], facts: Facts) -> Term:
    """Positions replaced by other values."""

    def change(atom: Atom) -> Term:
        match atom.kind:
            case "read":
                return read(atom.name, tuple(facts.replaced(k, what) for k in atom.args))
            case "num":
                return of_size(facts.replaced(atom.args[0], what))
            case "guard":
                return guard(facts.replaced(atom.args[0], what))
            case "group":
                return replace(atom.args[0], what, facts)
            case "fn":
                return apply(
                    FUNCTION_OF.get(atom.name, atom.name), [replace(a, what, facts) for a in atom.args]
                )
            case "total":
                variables = tuple((name, facts.replaced(size, what)) for name, size in atom.variables)
                return keyed(atom.name, variables, replace(atom.args[0], what, facts), facts)
        return of_atom(atom)

    return rebuilt(value, change)


def total(kind: str, variables: Variables, body: Term, facts: Facts) -> Term:
    """The sum (or maximum, …) of `body` over all values of the positions."""
    if is_raw():
        return keyed(kind, variables, body, facts)
    if kind != "sum":
        # the only position
        first: dict[str, Number] = {name: 0 for name, size in variables if type(size) is int and size == 1}
        rest = tuple(v for v in variables if v[0] not in first)
        inner = replace(body, first, facts) if first else body
        result = _of_all(kind, rest, inner, facts) if rest else inner
        if first:
            rewrite("largest of a single element", lambda: keyed(kind, variables, body, facts), result)
        return result
    parts = list(body.parts.items())
    if len(parts) != 1 or parts[0][1] != 1:
        rewrite(
            "sum of sums",
            lambda: keyed("sum", variables, body, facts),
            lambda: _by_addend(variables, body, facts),
        )
    result = ZERO
    for factors, c in parts:
        result = result + _sum(variables, factors, facts).scaled(c)
    return result


_OF_ALL = frozenset({"max", "min", "prod"})


def _of_all(kind: str, variables: Variables, body: Term, facts: Facts) -> Term:
    """The largest (smallest, product) over positions; that of another one of the same kind is one over all
    positions.
    """
    alone = body.alone
    if alone is None or alone[1] != 1 or alone[0].kind != "total" or not kind == alone[0].name in _OF_ALL:
        return keyed(kind, variables, body, facts)
    inner = alone[0]
    result = keyed(kind, variables + inner.variables, inner.args[0], facts)
    rewrite("largest of the largest", lambda: keyed(kind, variables, body, facts), result)
    return result


def _by_addend(variables: Variables, body: Term, facts: Facts) -> Term:
    result = ZERO
    for factors, c in body.parts.items():
        result = result + keyed("sum", variables, term({factors: Fraction(1)}), facts).scaled(c)
    return result


def _sum(variables: Variables, factors: Factors, facts: Facts) -> Term:
    facts.choices.spend(5)
    names = {name for name, _ in variables}
    for name, size in variables:
        if type(size) is int and size == 1:
            rest = tuple(v for v in variables if v[0] != name)
            body = up_to_date(replace(term({factors: Fraction(1)}), {name: 0}, facts), facts)
            _rewritten("sum of a single element", variables, factors, rest, body, facts)
            return total("sum", rest, body, facts) if rest else body
    if (apart := _exponentials_apart(names, factors)) is not None:
        outside, inside = apart
        return outside * total("sum", variables, inside, facts)
    split = _split(variables, factors, facts)
    if split is not None:
        return split
    for k, (atom, exponent) in enumerate(factors):  # inner sums that depend on the outer positions
        if atom.kind == "total" and atom.name == "sum" and exponent == 1 and names_of(atom) & names:
            renamed = {name: facts.inner_position(size) for name, size in atom.variables}
            inner = replace(atom.args[0], renamed, facts)
            body = term({(*factors[:k], *factors[k + 1 :]): Fraction(1)}) * inner
            more = tuple(
                (text_of_name(renamed[name]), facts.replaced(size, renamed)) for name, size in atom.variables
            )
            _rewritten("inner sum", variables, factors, variables + more, body, facts)
            return total("sum", variables + more, body, facts)
    shorter = _shortened(variables, factors, facts)
    if shorter is not None:
        return shorter
    return _separated(variables, factors, facts)


def _exponentials_apart(names: set[str], factors: Factors) -> tuple[Term, Term] | None:
    """exp(x + y) of which y has no position of the sum: (exp(y), what stays inside); None without any.

    Only totals (the largest score that a softmax is shifted by) move: masks stay beside their scores.
    """
    outside, inside, found = ONE, ONE, False
    for atom, exponent in factors:
        if atom.kind == "fn" and atom.name == "exp":
            parts = atom.args[0].parts
            rest = {f: c for f, c in parts.items() if _is_shift(f, names)}
            own = {f: c for f, c in parts.items() if f not in rest}
            if own and rest:
                x, y = term(own), term(rest)
                use("exponential of a sum", x=x, y=y)
                outside = outside * apply("exp", [y]).power(exponent)
                inside = inside * apply("exp", [x]).power(exponent)
                found = True
                continue
        inside = inside * term({((atom, exponent),): Fraction(1)})
    return (outside, inside) if found else None


def _is_shift(factors: Factors, names: set[str]) -> bool:
    """True if a product has a total and none of the positions."""
    return any(a.kind == "total" for a, _ in factors) and not any(names_of(a) & names for a, _ in factors)


def _rewritten(
    law: str, variables: Variables, factors: Factors, rest: Variables, body: Term, facts: Facts
) -> None:
    """The sum of a product became a sum of `body`, or `body` itself."""
    rewrite(
        law,
        lambda: keyed("sum", variables, term({factors: Fraction(1)}), facts),
        lambda: keyed("sum", rest, body, facts) if rest else body,
    )


def _split(variables: Variables, factors: Factors, facts: Facts) -> Term | None:
    """A sum over a position below a·b of which ⌊p / b⌋ is read, as a sum over two positions; None where there
    is none.
    """
    read_names = {name for atom, _ in factors for size in sizes_of(atom) for name in all_names(size, facts)}
    for name, size in variables:
        divisors = {
            text_of(b): b for a, b in facts.divisions(read_names) if text_of(a) == f"1*{name}"
        }
        for key in sorted(divisors, key=lambda text: (-text.count("*"), text)):
            inner = divisors[key]
            outer, rest = divide(size, inner, facts)
            if (
                type(rest) is not int or rest or names_in(size) & {n for n, _ in variables}
                or not (facts.proves(outer - 1) and facts.proves(inner - 1))
            ):
                continue
            first, second = (facts.inner_position(part) for part in (outer, inner))
            body = up_to_date(
                replace(term({factors: Fraction(1)}), {name: first * inner + second}, facts), facts
            )
            kept = (
                *(v for v in variables if v[0] != name), (text_of_name(first), outer),
                (text_of_name(second), inner),
            )
            _rewritten("position taken apart", variables, factors, kept, body, facts)
            return total("sum", kept, body, facts)
    return None


def text_of_name(position: Number) -> str:
    return next(iter(terms_of(position)))[0]


def _shortened(variables: Variables, factors: Factors, facts: Facts) -> Term | None:
    """A range cut down by a guard that bounds its position; None where there is no such guard."""
    own = {name for name, _ in variables}
    for atom, _ in factors:
        if atom.kind != "guard":
            continue
        for name, size in variables:
            parts = linear(atom.args[0], name, facts)
            if parts is None or type(parts[0]) is not int or abs(parts[0]) != 1 or names_in(parts[1]) & own:
                continue
            if _hidden(name, parts[1], facts) or names_in(size) & own:
                continue
            low: Number = -parts[1] if parts[0] == 1 else 0
            high: Number = size if parts[0] == 1 else parts[1] + 1
            if not (facts.proves(low) and facts.proves(high - low - 1) and facts.proves(size - high)):
                continue
            length = high - low
            position = 0 if type(length) is int and length == 1 else facts.inner_position(length)
            rest = tuple(f for f in factors if f[0] is not atom)
            body = up_to_date(replace(term({rest: Fraction(1)}), {name: position + low}, facts), facts)
            kept = tuple(v for v in variables if v[0] != name)
            if isinstance(position, Size):
                kept = (*kept, (text_of_name(position), length))
            _rewritten(
                f"range {'cut' if parts[0] == 1 else 'ended'} by a guard", variables, factors, kept, body,
                facts,
            )
            return total("sum", kept, body, facts) if kept else body
    return None


def _hidden(name: str, value: Number, facts: Facts) -> bool:
    """True if a position occurs inside a quotient of `value`."""
    for other in names_in(value):
        parts = facts.parts_of(other)
        if any(name in names_in(part) or _hidden(name, part, facts) for part in parts):
            return True
    return False


def _separated(variables: Variables, factors: Factors, facts: Facts) -> Term:
    """Factors without positions in front; what shares no position in sums of its own."""
    result = ONE
    law = "factor in front"
    own = {name for name, _ in variables}
    groups: list[tuple[set[str], list[tuple[Atom, int]]]] = []
    for atom, exponent in factors:
        used = names_of(atom) & own
        if not used:
            result = result * term({((atom, exponent),): Fraction(1)})
            continue
        items = [(atom, exponent)]
        for group in [g for g in groups if g[0] & used]:
            groups.remove(group)
            used = used | group[0]
            items += group[1]
        groups.append((used, items))
    seen: set[str] = set()
    for used, items in groups:
        seen |= used
        part = tuple(v for v in variables if v[0] in used)
        body = term({tuple(sorted(items, key=lambda item: item[0].key)): Fraction(1)})
        result = result * keyed("sum", part, body, facts)
    for name, size in variables:
        if name not in seen:
            law = "sum of what is constant"
            result = result * of_size(size)
    if len(groups) > 1:
        law = "product of sums"
    if len(groups) != 1 or len(seen) != len(variables) or len(groups[0][1]) != len(factors):
        rewrite(law, lambda: keyed("sum", variables, term({factors: Fraction(1)}), facts), result)
    return result


def same(a: Term, b: Term, facts: Facts) -> bool:
    """True if two terms are equal under what is known: their difference vanishes, if need be after clearing
    denominators, or case by case."""
    if not (a - b).parts:
        return True
    difference = up_to_date(up_to_date(a, facts) - up_to_date(b, facts), facts)
    for _ in range(6):
        if not difference.parts:
            return True
        if (absolute := _absolute_logarithms(difference)) is not None:
            difference = up_to_date(absolute, facts)
            continue
        groups = {
            atom
            for factors in difference.parts
            for atom, exponent in factors if atom.kind == "group" and exponent < 0
        }
        if not groups:
            if not vanishes(difference, facts.choices.budget, tuple(facts.choices.bounds)):
                return False
            whole = any(
                atom.name in ("order", "whole maximum", "whole minimum") for atom in difference.atoms()
            )
            rewrite("cases of whole numbers" if whole else "cases of order", lambda: difference, ZERO)
            return True
        group = min(groups, key=lambda g: (-g.level, g.key))
        most = max(-exponent for factors in difference.parts for atom, exponent in factors if atom == group)
        cleared = ZERO
        for factors, c in difference.parts.items():
            own = next((exponent for atom, exponent in factors if atom == group), 0)
            rest = tuple(f for f in factors if f[0] != group)
            cleared = cleared + term({rest: c}) * group.args[0].power(most + own)
        use("denominators cleared")
        difference = up_to_date(cleared, facts)
    return False


def _absolute_logarithms(value: Term) -> Term | None:
    """log x as log |x| next to logarithms of products; None where there are none."""
    if not any(atom.name == "log_abs" for atom in value.atoms()):
        return None

    def change(atom: Atom) -> Term:
        if atom.name != "log":
            return of_atom(atom)
        use("absolute logarithm", x=atom.args[0])
        return unknown("log_abs", *atom.args)

    changed = rebuilt(value, change)
    return changed if changed.key != value.key else None
