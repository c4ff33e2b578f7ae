"""Reports on generalized rules, as text, as JSON and as a rule file."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.json_text import json_text
from gslang.base.source import Source
from gslang.fmt.format_source import layout
from gslang.generalize.from_example import Found
from gslang.generalize.generalized import Generalized, Tried
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse


def as_text(found: Sequence[Generalized]) -> str:
    """The rules as `.gsl`, with comments that say what was found and what was tried."""
    return "\n".join(map(_shown, found))


def _shown(g: Generalized) -> str:
    lines = [
        f"# {g.name}: {g.before.verdict} as written"
        + (f" ({g.before.reason})" if g.before.verdict == "refuted" else "")
    ]
    lines += [f"# tried: {_tried(t)}" for t in g.tried]
    if g.stopped is not None:
        more = f"--seconds {max(60, 4 * g.stopped):g} allows more"
        lines += [
            f"# {g.stopped:.2g} s of processor time did not suffice: {more}", f"# left open: {g.left_open}"
        ]
    if g.text is None or g.verdict is None:
        return "\n".join([*lines, f"# no conditions were found: {g.reason}", ""])
    if g.unchanged:
        lines.append(
            "# nothing to add: the rule needs no more conditions"
            + ("" if g.verdict.verdict == g.before.verdict else f"; {g.verdict.verdict}")
        )
    lines += [f"# generalized: {name}" for name in g.lifted]
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
    return json_text({"rules": [_entry(g) for g in found]})


def differences_as_text(found: Found, dialect: str) -> str:
    """The rules between two graphs as `.gsl`, with comments on how many of the differences each explains."""
    lines = [f"dialect {dialect};", ""]
    explained, total = _counts(found)
    if total > 1:
        lines += [f"# {total} differences, {explained} explained by {_counted(len(found.rules), 'rule')}", ""]
    for rule, places in found.rules:
        lines += [f"# {places} places" if places > 1 else "", _shown(rule)]
    lines += [f"# {_counted(places, 'place')}: no rule, {reason}" for reason, places in found.failed]
    return "\n".join(line for k, line in enumerate(lines) if line or k == 1).rstrip("\n") + "\n"


def differences_as_json(found: Found) -> str:
    """The same as one object."""
    explained, total = _counts(found)
    return json_text({
        "differences": total,
        "explained": explained,
        "rules": [{**_entry(rule), "places": places} for rule, places in found.rules],
        "failed": [{"reason": reason, "places": places} for reason, places in found.failed],
    })


def _counts(found: Found) -> tuple[int, int]:
    explained = sum(places for _, places in found.rules)
    return explained, explained + sum(places for _, places in found.failed)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _entry(g: Generalized) -> dict[str, object]:
    return {
        "rule": g.name,
        "text": g.text,
        "conditions": list(g.conditions),
        "lifted": list(g.lifted),
        "unchanged": g.unchanged,
        "before": {"verdict": g.before.verdict, "reason": g.before.reason},
        "stopped": g.stopped,
        "left_open": g.left_open,
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
    kinds = (n.DialectItem, n.Use, n.OpDecl, n.FnDecl, n.ParamDecl)
    head = [item.span.text for item in items if isinstance(item, kinds)]
    head = [text if text.endswith((";", "}")) else f"{text};" for text in head]
    return layout("\n".join([*head, "", *(g.text for g in found if g.text is not None)]))


FORMATS = {"text": as_text, "json": as_json}
