"""`pass` items: which rules run together, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check.rule_annotations import misplaced
from gslang.syntax import nodes as n

_MOST_STEPS: Final = 1_000  # of a pass, with those of the passes that it names
_DEEPEST: Final = 100  # passes that name one another


def check_passes(
    program: n.Program,
    rules: Mapping[str, ir.CheckedRule],
    passes: dict[str, ir.CheckedPass],
    broken: set[str],
    found: list[Diagnostic],
) -> None:
    """Add the file's passes to the imported ones; passes named in a pass are expanded."""
    items = [item for item in program.items if isinstance(item, n.PassDecl)]
    expansion = _Expansion({item.name.id: item for item in items}, rules, dict(passes), broken, found)
    for item in items:
        found += misplaced(item)
        expanded = expansion.of(item, (item.name,))
        if expanded is not None:
            passes[item.name.id] = ir.CheckedPass(
                item.name.id, expanded.steps, item.doc, item.name.span
            )


class _Steps(NamedTuple):
    """`size`: the number of steps, inner ones included."""

    steps: tuple[ir.Step, ...]
    size: int


@dataclass(frozen=True)
class _Expansion:
    """`done`: pass → its steps, None for one with an error; so that each is expanded once."""

    declared: Mapping[str, n.PassDecl]
    rules: Mapping[str, ir.CheckedRule]
    imported: Mapping[str, ir.CheckedPass]
    broken: set[str]
    found: list[Diagnostic]
    done: dict[int, _Steps | None] = field(default_factory=dict)

    def of(self, item: n.PassDecl, chain: tuple[n.Name, ...]) -> _Steps | None:
        """The steps of a pass that the names of `chain` lead to, the last of which is its own."""
        if id(item) not in self.done:
            self.done[id(item)] = self._all(item.items, chain)
        return self.done[id(item)]

    def _all(self, items: tuple[n.PassItem, ...], chain: tuple[n.Name, ...]) -> _Steps | None:
        result: list[ir.Step] = []
        size, good = 0, True
        for part in items:
            found = self._repeated(part, chain) if isinstance(part, n.Repeat) else self._named(part, chain)
            if found is None:
                good = False
                continue
            size += found.size
            if size > _MOST_STEPS:
                message = f"a pass of more than {_MOST_STEPS:,} steps"
                self._error("E0107", message, part, "name fewer passes in it")
                return None
            result += found.steps
        return _Steps(tuple(result), size) if good else None

    def _repeated(self, part: n.Repeat, chain: tuple[n.Name, ...]) -> _Steps | None:
        """`repeat`: plain rules run together in one fixed point; a mix is repeated as a whole."""
        inner = self._all(part.items, chain)
        if inner is None:
            return None
        if all(step.builtin is None and not step.nested for step in inner.steps):
            return _one(ir.Step(tuple(dict.fromkeys(name for step in inner.steps for name in step.rules))))
        return _Steps((ir.Step((), None, inner.steps),), inner.size + 1)

    def _named(self, part: n.Name, chain: tuple[n.Name, ...]) -> _Steps | None:
        name = part.id
        if name in ("fold", "cse"):
            return _one(ir.Step((), name))
        if meant := ir.called(self.rules, name):
            return _one(ir.Step(meant))
        if ir.is_lost(name, self.broken):
            return _one(ir.Step((name,)))
        if name in (chain_names := [one.id for one in chain]):
            self._circle([*chain[chain_names.index(name) + 1 :], part])
            return None
        if name in self.declared and len(chain) >= _DEEPEST:
            message = f"passes name one another more than {_DEEPEST} levels deep"
            self._error("E0107", message, part, "name the rules themselves")
            return None
        if name in self.declared:
            return self.of(self.declared[name], (*chain, part))
        if name in self.imported:
            imported = self.imported[name]
            if id(imported) not in self.done:
                self.done[id(imported)] = _Steps(imported.steps, _size(imported.steps))
            return self.done[id(imported)]
        known = [*self.rules, *ir.families(self.rules), *self.imported, *self.declared, "fold", "cse"]
        guess = did_you_mean(name, known)
        self._error(
            "E0207", f"unknown rule or pass `{name}`", part,
            f"did you mean `{guess}`?" if guess
            else ir.rows_listed(name, self.rules) or "declare it, or import its module with `use`",
        )
        return None

    def _circle(self, parts: Sequence[n.Name]) -> None:
        """Report each of the names by which passes lead to themselves."""
        names = [part.id for part in parts]
        for k, part in enumerate(parts):
            way = " → ".join([*names[k:], *names[: k + 1]])
            self._error("E0703", f"pass `{part.id}` runs itself: {way}", part, "remove it here")

    def _error(self, code: str, message: str, part: n.Name | n.Repeat, help: str) -> None:
        self.found.append(Diagnostic(code, message, Label(part.span), help=help))


def _one(step: ir.Step) -> _Steps:
    return _Steps((step,), 1)


def _size(steps: tuple[ir.Step, ...]) -> int:
    return sum(1 + _size(step.nested) for step in steps)
