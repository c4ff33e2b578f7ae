"""For each operator the rule that leaves all its attributes open, and the values that these have in its
instances."""

from __future__ import annotations

from collections.abc import Iterator

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.dialect.domain import Anything, Exactly, Interval, Layout, OneOf
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import Signature
from gslang.verify.instances.draw import Search, instances, stressing
from tests.dialect.test_shipped_domains import is_declared

ENOUGH = 40  # instances, before an attribute that is still missing is asked for


def rule_of(dialect: str, signature: Signature) -> CheckedRule:
    """`rule t(a, b?, …) { c = Op(a, b, …); c => Op(a, b, …, c.*) }`, a projection where there are several
    results."""
    inputs, operands = [], []
    for k, spec in enumerate(signature.operands):
        if spec.variadic or spec.kind == "tuple":
            inputs += [f"x{k}", f"y{k}"]
            operands.append(f"x{k}, y{k}" if spec.variadic else f"(x{k}, y{k})")
        else:
            inputs.append(f"x{k}: any?" if spec.optional else f"x{k}")
            operands.append(f"x{k}")
    several = not isinstance(signature.results, str) and len(signature.results) > 1
    projected = ".0" if several else ""
    call = f"{signature.name}({', '.join(operands)}"
    text = (
        f"dialect {dialect};\nrule t({', '.join(inputs)}) {{ c = {call}); c{projected} => "
        f"{call}{', ' * bool(operands)}c.*){projected} }}"
    )
    return api.parse_rules(text).own["t"]


def listed(signature: Signature) -> dict[str, set[str]]:
    """The values of each attribute that its declaration names one by one, but for the default."""
    return {
        name: {repr(v) for v in _named(spec.domain) if v != spec.default and v is not None}
        for name, spec in signature.attributes.items()
    }


def _named(domain: object) -> Iterator[object]:
    match domain:
        case Exactly(value):
            yield value
        case Anything("bool"):
            yield from (False, True)
        case Interval("int", int(lower), int(upper)) if upper - lower < 6:
            yield from range(lower, upper + 1)
        case Layout(usual):
            yield from usual
        case OneOf(parts):
            for part in parts:
                yield from _named(part)


def missing(dialect: str, name: str, attempts: int = 400) -> dict[str, set[str]]:
    """Values that no instance has: those that are named one by one, and `other` where an attribute with a
    declared domain only ever has its default."""
    signature = load_dialect(dialect).operators[name]
    rule = rule_of(dialect, signature)
    wanted = {k: v for k, v in listed(signature).items() if v}
    others = {n for n, spec in signature.attributes.items() if n not in wanted and is_declared(spec.domain)}
    seen: dict[str, set[str]] = {n: set() for n in signature.attributes}

    def left() -> dict[str, set[str]]:
        found = {n: values - seen[n] for n, values in wanted.items() if values - seen[n]}
        for n in others:
            if not seen[n] - {repr(signature.attributes[n].default)}:
                found[n] = {"other"}
        return found

    for k, instance in enumerate(instances(rule, Search(), 0, 60.0, attempts)):
        for _, attribute, value in instance.attributes:
            seen[attribute].add(value)
        if not left() or k == ENOUGH * 4:
            break
    for attribute in sorted(left()):
        for instance in stressing(rule, (name, attribute), Search(), 0, 240):
            for _, other, value in instance.attributes:
                seen[other].add(value)
    return left()
