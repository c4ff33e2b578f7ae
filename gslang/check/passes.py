"""`pass` items: which rules run together, in which order."""

from __future__ import annotations

from collections.abc import Mapping

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.syntax import nodes as n


def check_pass(
    item: n.PassDecl,
    program: n.Program,
    rules: Mapping[str, ir.CheckedRule],
    passes: Mapping[str, ir.CheckedPass],
    known: Mapping[str, object],
    broken: set[str],
    found: list[Diagnostic],
) -> ir.CheckedPass | None:
    """The steps of a pass; passes named in it are expanded."""
    declared = {i.name.id: i for i in program.items if isinstance(i, n.PassDecl)}
    count = len(found)

    def steps(items: tuple[n.PassItem, ...], chain: tuple[str, ...]) -> list[ir.Step]:
        result: list[ir.Step] = []
        for part in items:
            if isinstance(part, n.Repeat):
                result.append(_together(steps(part.items, chain)))
                continue
            name = part.id
            if name in ("fold", "cse"):
                result.append(ir.Step((), name))
            elif meant := ir.called(rules, name):
                result.append(ir.Step(meant))
            elif name in broken:
                result.append(ir.Step((name,)))
            elif name in chain:
                found.append(Diagnostic(
                    "E0703", f"pass `{name}` runs itself: {' → '.join([*chain, name])}", Label(part.span),
                    help="remove it here",
                ))
            elif name in declared:
                result += steps(declared[name].items, (*chain, name))
            elif name in passes:
                result += passes[name].steps
            else:
                guess = did_you_mean(name, [*rules, *ir.families(rules), *known, "fold", "cse"])
                found.append(Diagnostic(
                    "E0207", f"unknown rule or pass `{name}`", Label(part.span),
                    help=f"did you mean `{guess}`?" if guess
                    else "declare it, or import its module with `use`",
                ))
        return result

    result = steps(item.items, (item.name.id,))
    if len(found) > count:
        return None
    return ir.CheckedPass(item.name.id, tuple(result), item.doc, item.name.span)


def _together(steps: list[ir.Step]) -> ir.Step:
    """`repeat`: plain rules run together in one fixed point; a mix is repeated as a whole."""
    if all(step.builtin is None and not step.nested for step in steps):
        return ir.Step(tuple(name for step in steps for name in step.rules))
    return ir.Step((), None, tuple(steps))
