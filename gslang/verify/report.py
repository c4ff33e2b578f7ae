"""Verdicts as JSON, SARIF, JUnit, and as a table of the manual.

Not here: how verdicts come about (`verdict`), verdicts as text (`verdict_text`), which are enough
(`cli/verify`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from gslang.base.json_text import json_text
from gslang.base.relative_path import relative_path
from gslang.check.checked import CheckedRule
from gslang.verify.verdict import ORDER, Verdict
from gslang.verify.verdict_text import as_text

_SARIF = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
_FINDINGS = {
    "refuted": ("error", "The two sides of the rule compute different values."),
    "unknown": ("note", "No verdict was reached on the rule."),
    "changes": ("note", "The rule is meant to change values."),
}


def as_json(verdicts: Sequence[Verdict], rules: Mapping[str, CheckedRule]) -> str:
    """The document of `--format json` (docs/verify.md)."""
    return json_text({"rules": [_entry(v) for v in verdicts]})


def _entry(v: Verdict) -> dict[str, object]:
    example = v.counterexample
    return {
        "rule": v.rule,
        "verdict": v.verdict,
        "bound": v.bound,
        "instances": v.instances,
        "seconds": round(v.seconds, 3),
        "coverage": v.coverage,
        "reason": v.reason,
        "laws": list(v.laws),
        "unproved": v.unproved or None,
        "uncertified": v.uncertified or None,
        "counterexample": None if example is None
        else {
            "source": _graph(example.source),
            "target": None if example.target is None else _graph(example.target),
            "inputs": _finite(example.inputs),
            "max_abs": _finite(example.max_abs),
            "test": example.test,
        },
    }


def _graph(text: str) -> object:
    """A JSON graph; a model in ONNX's text form stays a text."""
    return json.loads(text) if text.startswith("{") else text


def _finite(value: object) -> object:
    """JSON has no infinity and no NaN: None then."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value if not isinstance(value, float) or abs(value) < float("inf") else None


def as_sarif(verdicts: Sequence[Verdict], rules: Mapping[str, CheckedRule]) -> str:
    """Refuted rules are errors, unknown ones and those that are meant to change values notes."""
    results: list[dict[str, object]] = []
    for v in verdicts:
        if v.verdict in _FINDINGS:
            text = f"{v.rule}: {v.reason}" + (
                f"\n\n{v.counterexample.test}" if v.counterexample is not None else ""
            )
            results.append({
                "ruleId": f"verify/{v.verdict}",
                "ruleIndex": list(_FINDINGS).index(v.verdict),
                "level": _FINDINGS[v.verdict][0],
                "message": {"text": text},
                "locations": [{"physicalLocation": _place(rules[v.rule])}],
            })
    kinds = [
        {"id": f"verify/{name}", "shortDescription": {"text": text}} for name, (_, text) in _FINDINGS.items()
    ]
    driver = {"name": "gslc verify", "rules": kinds}
    runs = [{"tool": {"driver": driver}, "results": results}]
    return json_text({"$schema": _SARIF, "version": "2.1.0", "runs": runs})


def _place(rule: CheckedRule) -> dict[str, object]:
    line, column = rule.span.line_column
    return {
        "artifactLocation": {"uri": relative_path(rule.span.source.name)},
        "region": {"startLine": line, "startColumn": column},
    }


def as_junit(verdicts: Sequence[Verdict], rules: Mapping[str, CheckedRule]) -> str:
    """A test case for each rule: refuted ones fail, unknown ones and those that are meant to change values
    are skipped.
    """
    counts = Counter(v.verdict for v in verdicts)
    head = (
        f'<testsuite name="gslc verify" tests="{len(verdicts)}" failures="{counts["refuted"]}" '
        f'skipped="{counts["unknown"] + counts["changes"]}">'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', head]
    for v in verdicts:
        case = (
            f'  <testcase classname="{relative_path(rules[v.rule].span.source.name)}" '
            f'name={quoteattr(v.rule)} time="{v.seconds:.6f}"'
        )
        example = escape(v.counterexample.test) if v.counterexample is not None else ""
        body = {
            "refuted": f"<failure message={quoteattr(v.reason)}>{example}</failure>",
            "unknown": f"<skipped message={quoteattr(v.reason)}/>",
            "changes": f"<skipped message={quoteattr(v.reason)}/>",
        }.get(v.verdict)
        lines.append(f"{case}/>" if body is None else f"{case}>{body}</testcase>")
    return "\n".join([*lines, "</testsuite>", ""])


def as_markdown(verdicts: Sequence[Verdict], rules: Mapping[str, CheckedRule]) -> str:
    """A table for the manual; without times, so that it is the same each time."""
    lines = [
        "| rule | what it does | verdict | error probability | instances | basis |",
        "|---|---|---|---|---|---|",
    ]
    for v in verdicts:
        first = _cell(rules[v.rule].doc or "").split(". ")[0].rstrip(".")
        bound = f"{v.bound:.0e}" if v.bound else "" if v.bound is None else "0"
        why = v.unproved.partition(": ")[0]  # without the terms of the prover
        basis = _cell(v.reason) + (f"; no proof: {_cell(why)}" if v.verdict == "exact" and why else "")
        lines.append(f"| `{v.rule}` | {first} | {v.verdict} | {bound} | {v.instances} | {basis} |")
    counts = Counter(v.verdict for v in verdicts)
    total = ", ".join(f"{counts[name]} {name}" for name in reversed(ORDER) if counts[name])
    return "\n".join(lines) + f"\n\n{len(verdicts)} rules: {total}.\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


FORMATS = {"text": as_text, "json": as_json, "sarif": as_sarif, "junit": as_junit, "markdown": as_markdown}
