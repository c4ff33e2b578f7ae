"""Reports on generalized rules, as text, as JSON and as a rule file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gslang.base.source import Source
from gslang.fmt.format_source import layout
from gslang.generalize.refine import Generalized, Tried
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse


def as_text(found: Sequence[Generalized]) -> str:
    """The rules as `.gsl`, with comments that say what was found and what was tried."""
    return "\n".join(map(_shown, found))


def _shown(g: Generalized) -> str:
    lines = [
        f"# {g.name}: {g.before.verdict} as it is written"
        + (f" ({g.before.reason})" if g.before.verdict == "refuted" else "")
    ]
    lines += [f"# tried: {_tried(t)}" for t in g.tried]
    if g.text is None or g.verdict is None:
        return "\n".join([*lines, f"# no conditions were found: {g.reason}", ""])
    if g.unchanged:
        lines.append(
            "# nothing to add: it needs no more conditions"
            + ("" if g.verdict.verdict == g.before.verdict else f"; {g.verdict.verdict}")
        )
    lines += [f"# open now: {name}" for name in g.lifted]
    lines += [f"# needs: {condition}" for condition in g.conditions]
    lines.append(f"# {g.verdict.verdict}: {g.verdict.reason}")
    return "\n".join(lines) + "\n" + g.text


def _tried(t: Tried) -> str:
    conditions = " and ".join(t.conditions) or "no conditions"
    what = (
        f"{t.good} instances agree" if not t.bad else f"{t.bad} of {t.good + t.bad} instances differ: {t.why}"
    )
    return " ".join(f"{conditions}: {what}".split())


def as_json(found: Sequence[Generalized]) -> str:
    """One object with a list of rules."""
    return json.dumps({"rules": [_entry(g) for g in found]}, indent=2, ensure_ascii=False) + "\n"


def _entry(g: Generalized) -> dict[str, object]:
    return {
        "rule": g.name,
        "text": g.text,
        "conditions": list(g.conditions),
        "lifted": list(g.lifted),
        "unchanged": g.unchanged,
        "before": {"verdict": g.before.verdict, "reason": g.before.reason},
        "verdict": None if g.verdict is None else g.verdict.verdict,
        "reason": g.reason if g.verdict is None else g.verdict.reason,
        "tried": [
            {"form": t.form, "conditions": list(t.conditions), "good": t.good, "bad": t.bad, "why": t.why}
            for t in g.tried
        ],
    }


def rule_file(source: Source, found: Sequence[Generalized]) -> str:
    """The rules that were found, below what their file declares and imports."""
    items = parse(source).program.items
    head = [item.span.text for item in items if isinstance(item, (n.DialectItem, n.Use, n.OpDecl, n.FnDecl))]
    head = [text if text.endswith((";", "}")) else f"{text};" for text in head]
    return layout("\n".join([*head, "", *(g.text for g in found if g.text is not None)]))


FORMATS = {"text": as_text, "json": as_json}
