"""The pipeline: text → program → checked program.

Every mistake that a user can make in a rule file ends here as a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source, Span
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check.context import KINDS
from gslang.check.externs import check_function
from gslang.check.families import check_rules
from gslang.check.implied_dialect import meant_dialect
from gslang.check.imports import Importer
from gslang.check.parameters import settled
from gslang.check.passes import check_passes
from gslang.check.redeclared import declared
from gslang.check.rule_annotations import misplaced
from gslang.check.tests import check_test
from gslang.dialect.declarations import NotConstant
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import dialect_names, load_dialect
from gslang.dialect.signature import Signature
from gslang.syntax import nodes as n
from gslang.syntax.parser import source_of

BUILTIN_STEPS = ("fold", "cse")


@dataclass(frozen=True)
class Module:
    """A checked file, with what others may take from it."""

    program: ir.CheckedProgram
    functions: Mapping[str, n.FnDecl | n.ParamDecl] = field(repr=False)
    operators: tuple[Signature, ...] = field(repr=False)


def check_source(source: Source, importer: Importer | None = None) -> ir.CheckedProgram:
    """Check one text. `importer` keeps modules that were read already and finds circles."""
    return check_module(source, importer or Importer(check_module)).program


def check_bytes(name: str, data: bytes, importer: Importer | None = None) -> ir.CheckedProgram:
    """Check the content of a file."""
    source = source_of(name, data)
    if isinstance(source, Diagnostic):
        return _nothing(name, source)
    return check_source(source, importer)


def check_unreadable(file: tuple[Path, str]) -> ir.CheckedProgram:
    """The program of a file that cannot be read, and why: a finding."""
    name, why = str(file[0]), file[1]
    return _nothing(name, Diagnostic(
        "E0101", f"the file cannot be read: {why}", Label(Span(Source(name, ""), 0, 0)),
        help="remove it, or make it readable",
    ))


def _nothing(name: str, problem: Diagnostic) -> ir.CheckedProgram:
    return ir.CheckedProgram(name, load_dialect("relay"), None, {}, (), {}, (), (problem,))


def check_module(source: Source, importer: Importer) -> Module:
    """Parse and check one file with all that it imports."""
    parsed = importer.parse(source)
    found: list[Diagnostic] = list(parsed.diagnostics)
    program = parsed.program
    dialect, found_dialect = dialect_of(program)
    found += found_dialect
    rules: dict[str, ir.CheckedRule] = {}
    passes: dict[str, ir.CheckedPass] = {}
    functions: dict[str, n.FnDecl | n.ParamDecl] = {}
    operators: list[Signature] = []
    broken = set(parsed.lost)
    with importer.reading(source.name):
        for item in program.items:
            if isinstance(item, n.Use):
                use_module(item, source, importer, found, rules, passes, functions, operators, broken)
    own_functions = functions_of(program, found, importer.defines)
    find_redeclared(program, found)
    functions.update(own_functions)
    if operators:
        dialect = dialect.with_operators(operators)
    names = [item.name.id for item in program.items if isinstance(item, n.OpDecl)]
    for item in program.items:
        if isinstance(item, n.OpDecl):
            signature, problems = declared(item, dialect, functions, names)
            found += problems
            operators.append(signature)
            dialect = dialect.with_operators((signature,))
    own_rules: list[str] = []
    imported = {*rules, *ir.families(rules)}
    twice = _named_twice(program, found)
    for item in program.items:
        if isinstance(item, n.Rule) and id(item) not in twice:
            checked, problems = check_rules(item, dialect, functions)
            found += problems
            own_rules += add_rules(item, checked, rules, broken, imported)
    check_passes(program, rules, passes, broken, found)
    tests = []
    for item in program.items:
        if isinstance(item, n.Test):
            checked_test = check_test(item, dialect, functions, rules, broken, found)
            if checked_test is not None:
                tests.append(checked_test)
    result = ir.CheckedProgram(
        name=source.name, dialect=dialect, doc=program.doc, rules=rules,
        own_rules=tuple(name for name in own_rules if name in rules), passes=passes,
        tests=tuple(tests), diagnostics=tuple(sorted(reported(found, broken), key=lambda d: d.order)),
        parameters={
            name: None if isinstance(item.value, NotConstant) else item.value
            for name, item in functions.items() if isinstance(item, n.ParamDecl)
        },
    )
    return Module(result, functions, tuple(operators))


def reported(found: Iterable[Diagnostic], lost: Set[str]) -> list[Diagnostic]:
    """The findings of a file, each once, with all the uses in which it occurs; without those that follow
    from an item that could not be read (`lost`: the names of such items).
    """
    merged: dict[object, Diagnostic] = {}
    for one in found:
        if one.code in ("E0201", "E0301") and one.primary.span.text in lost:
            continue
        key = (id(one.primary.span.source), one.order, one.help)
        known = merged.setdefault(key, one)
        others = tuple([label for label in one.related if label not in known.related])
        merged[key] = replace(known, related=(*known.related, *others))
    return list(merged.values())


def _named_twice(program: n.Program, found: list[Diagnostic]) -> set[int]:
    """Rules and passes (by `id`) whose name is taken, each with a finding."""
    places: dict[str, Span] = {}
    twice: set[int] = set()
    for item in program.items:
        if not isinstance(item, (n.Rule, n.PassDecl)):
            continue
        name = item.name.id
        if name in places or name in BUILTIN_STEPS and isinstance(item, n.PassDecl):
            related = (Label(places[name], "first one here"),) if name in places else ()
            found.append(Diagnostic(
                "E0208", f"duplicate rule or pass `{name}`", Label(item.name.span),
                related=related, help="choose another name",
            ))
            twice.add(id(item))
        else:
            places[name] = item.name.span
    return twice


def add_rules(
    item: n.Rule,
    checked: Mapping[str, ir.CheckedRule | None],
    rules: dict[str, ir.CheckedRule],
    broken: set[str],
    imported: Set[str],
) -> list[str]:
    """Put the rules of an item into the tables, in the place of those of the same name if it is among the
    `imported` names of rules and families; their names.
    """
    if item.name.id in imported:
        for name in ir.called(rules, item.name.id):
            del rules[name]
    rules.update({name: rule for name, rule in checked.items() if rule is not None})
    broken |= {name for name, rule in checked.items() if rule is None}
    if all(rule is None for rule in checked.values()):  # else a row that is not among these is an unknown one
        broken.add(item.name.id)
    return list(checked)


def dialect_of(program: n.Program) -> tuple[Dialect, list[Diagnostic]]:
    """The dialect that a file names; without a name `relay`, or the one whose operators it calls, where that
    is clear.
    """
    found: list[Diagnostic] = []
    chosen = meant = meant_dialect(program)
    for k, item in enumerate(i for i in program.items if isinstance(i, n.DialectItem)):
        if k:
            found.append(
                Diagnostic("E0206", "`dialect` is given twice", Label(item.span), help="remove this line")
            )
            continue
        chosen = item.name.id
        if item is not program.items[0]:
            found.append(Diagnostic(
                "E0206", "`dialect` must come first in the file", Label(item.span), help="move it to the top"
            ))
        if chosen not in dialect_names():
            guess = did_you_mean(chosen, dialect_names())
            listed = ", ".join(f"`{name}`" for name in dialect_names())
            found.append(Diagnostic(
                "E0206", f"unknown dialect `{chosen}`", Label(item.name.span),
                help=f"did you mean `{guess}`?" if guess else f"dialects: {listed}",
            ))
            chosen = guess or meant
    return load_dialect(chosen), found


def find_redeclared(program: n.Program, found: list[Diagnostic]) -> None:
    """Report operators that a file declares twice; one that the dialect has may be declared anew."""
    places: dict[str, Span] = {}
    for item in program.items:
        if isinstance(item, n.OpDecl):
            first = places.setdefault(item.name.id, item.name.span)
            if first is not item.name.span:
                related = (Label(first, "first one here"),)
                found.append(Diagnostic(
                    "E0208", f"duplicate operator `{item.name.id}`", Label(item.name.span),
                    related=related, help="remove one of the declarations",
                ))


def _declared_by_two(
    item: n.Use, known: Iterable[Signature], imported: Iterable[Signature]
) -> Iterator[Diagnostic]:
    """A finding for each operator that two imported files declare, unless both say the same and nothing of
    its meaning.
    """
    before = {signature.name: signature for signature in known}
    for signature in imported:
        first = before.get(signature.name, signature)
        places = [s.declared_at for s in (first, signature) if s.declared_at is not None]
        if len({(at.source.name, at.start) for at in places}) == 2 and (
            replace(first, doc="") != replace(signature, doc="") or first.meaning != signature.meaning
        ):
            yield Diagnostic(
                "E0208", f"two imports declare the operator `{signature.name}`",
                Label(item.span), related=tuple([Label(at, "declared here") for at in places]),
                help="declare it in one file, which both import",
            )


def functions_of(
    program: n.Program, found: list[Diagnostic], defines: Mapping[str, object] = MappingProxyType({})
) -> dict[str, n.FnDecl | n.ParamDecl]:
    """The functions and parameters that a file declares, by name.

    `defines`: values that are given to parameters.
    """
    result: dict[str, n.FnDecl | n.ParamDecl] = {}
    for item in program.items:
        if isinstance(item, (n.FnDecl, n.ParamDecl)):
            name = item.name.id
            if name in result:
                found.append(Diagnostic(
                    "E0208", f"duplicate function or parameter `{name}`", Label(item.name.span),
                    related=(Label(result[name].name.span, "first one here"),), help="choose another name",
                ))
                continue
            if isinstance(item, n.ParamDecl):
                if name in KINDS:
                    found.append(Diagnostic(
                        "E0203", f"`{name}` is a kind and cannot be bound", Label(item.name.span),
                        help="choose another name",
                    ))
                    continue
                found += misplaced(item)
                result[name] = settled(item, defines, found)
                continue
            found += check_function(item)
            seen: set[str] = set()
            for parameter in item.parameters:
                if parameter.name.id in seen:
                    found.append(Diagnostic(
                        "E0202", f"`{parameter.name.id}` is bound twice", Label(parameter.span),
                        help="choose another name",
                    ))
                seen.add(parameter.name.id)
            result[name] = item
    return result


def _declared_there(names: set[str]) -> str:
    """The help for a name that a module does not have: some of those that it has."""
    some = [f"`{name}`" for name in sorted(names)]
    more = ", …" if len(some) > 5 else ""
    return f"it declares {', '.join(some[:5]) or 'nothing'}{more}"


def use_module(
    item: n.Use,
    source: Source,
    importer: Importer,
    found: list[Diagnostic],
    rules: dict[str, ir.CheckedRule],
    passes: dict[str, ir.CheckedPass],
    functions: dict[str, n.FnDecl | n.ParamDecl],
    operators: list[Signature],
    broken: set[str],
) -> None:
    """Add what a `use` item imports to the tables; what cannot be found is reported."""
    modules, problem = importer.modules(item, source)
    if problem is not None:
        found.append(problem)
        return
    offered: set[str] = set()
    for module in modules:
        program = module.program
        if not program.ok:
            first = next(d for d in program.diagnostics if d.severity.value == "error")
            found.append(Diagnostic(
                "E0204", f"`{item.module}` has errors", Label(item.span),
                related=(Label(first.primary.span, first.message),),
                help=f"fix them: `gslc check {first.primary.span.source.name}`",
            ))
        wanted = None if item.names is None else {name.id for name in item.names}
        offered |= {*program.rules, *ir.families(program.rules), *program.passes, *module.functions}
        rules.update(
            {k: v for k, v in program.rules.items() if wanted is None or k in wanted or v.family in wanted}
        )
        passes.update({k: v for k, v in program.passes.items() if wanted is None or k in wanted})
        functions.update({k: v for k, v in module.functions.items() if wanted is None or k in wanted})
        found += _declared_by_two(item, operators, module.operators)
        operators.extend(module.operators)
    for name in item.names or ():
        if name.id not in offered:
            guess = did_you_mean(name.id, offered)
            found.append(Diagnostic(
                "E0207", f"`{item.module}` has no `{name.id}`", Label(name.span),
                help=f"did you mean `{guess}`?" if guess else _declared_there(offered),
            ))
            broken.add(name.id)
