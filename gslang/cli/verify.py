"""Judge rules by their meaning: gslc verify rules.gsl"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from gslang.cli.main import ExitCode
from gslang.cli.shared import check_names, load_rules, show_findings

if TYPE_CHECKING:
    from gslang.check.checked import CheckedRule
    from gslang.verify.verdict import Settings, Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", nargs="+", help=".gsl files, folders, or shipped modules")
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument("--require", choices=("tested", "exact", "proved"), default=None, help="exit with 1 unless every rule is at least this")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="the most time for one rule (10)")
    parser.add_argument("--instances", type=int, default=24, metavar="N", help="how many instances to look at (24)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the instances and values (0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--strict-special", action="store_true", help="differences in NaN and infinities refute, too")
    parser.add_argument("--format", choices=("text", "json", "sarif", "junit", "markdown"), default="text")


def run(options: argparse.Namespace) -> int:
    rules = load_rules(options.rules)
    if show_findings(rules, options):
        return ExitCode.FINDINGS
    wrong = check_names(rules, options.rule or (), "rule", list(rules.known))
    if wrong:
        sys.stderr.write(wrong)
        return ExitCode.USAGE
    from gslang.verify.verdict import ORDER, Settings

    names = options.rule or list(rules.own)
    settings = Settings(options.seconds, options.seed, max(1, options.instances), options.strict_special)
    verdicts = _verdicts(options, [rules.known[name] for name in names], names, settings)
    text = {"text": _text, "json": _json, "sarif": _sarif, "junit": _junit, "markdown": _markdown}[options.format]
    sys.stdout.write(text(verdicts, {name: rules.known[name] for name in names}))
    least = ORDER.index(options.require) if options.require else ORDER.index("unknown")
    return ExitCode.FINDINGS if any(ORDER.index(v.verdict) < least for v in verdicts) else ExitCode.FINE


def _verdicts(options: argparse.Namespace, chosen: list[CheckedRule], names: list[str], settings: Settings) -> list[Verdict]:
    from gslang.verify.verdict import verify

    if options.jobs <= 1 or len(names) < 2 or "-" in options.rules:
        return [verify(rule, settings) for rule in chosen]
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(options.jobs) as pool:
        return list(pool.map(_one, [(tuple(options.rules), name, settings) for name in names]))


def _one(task: tuple[tuple[str, ...], str, Settings]) -> Verdict:
    """In a process of its own: the rules are loaded again, their dialects hold functions."""
    from gslang.verify.verdict import verify

    files, name, settings = task
    return verify(load_rules(files).known[name], settings)


def _text(verdicts: list[Verdict], rules: dict[str, CheckedRule]) -> str:
    lines = []
    for v in verdicts:
        bound = f", wrong with a chance of {v.bound:.0e}" if v.bound is not None else ""
        lines.append(f"{v.verdict:<8} {v.rule}: {v.reason} ({v.instances} instances{bound}, {v.seconds:.2f} s)")
        if v.counterexample is not None:
            lines += ["  " + line for line in v.counterexample.test.splitlines()]
    counts: dict[str, int] = {}
    for v in verdicts:
        counts[v.verdict] = counts.get(v.verdict, 0) + 1
    lines.append(", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "no rules")
    return "\n".join(lines) + "\n"


def _json(verdicts: list[Verdict], rules: dict[str, CheckedRule]) -> str:
    return json.dumps({"rules": [_entry(v) for v in verdicts]}, indent=2, ensure_ascii=False) + "\n"


def _entry(v: Verdict) -> dict[str, Any]:
    example = v.counterexample
    return {
        "rule": v.rule, "verdict": v.verdict, "bound": v.bound, "instances": v.instances, "seconds": round(v.seconds, 3),
        "coverage": v.coverage, "reason": v.reason,
        "counterexample": None if example is None else {
            "source": json.loads(example.source), "target": None if example.target is None else json.loads(example.target),
            "inputs": example.inputs, "max_abs": _finite(example.max_abs), "test": example.test,
        },
    }  # fmt: skip


def _finite(value: float) -> float | None:
    """JSON has no infinity: None then."""
    return value if abs(value) < float("inf") else None


def _sarif(verdicts: list[Verdict], rules: dict[str, CheckedRule]) -> str:
    results = []
    for v in verdicts:
        if v.verdict in ("refuted", "unknown"):
            span = rules[v.rule].span
            line, column = span.line_column
            place = {"artifactLocation": {"uri": span.source.name}, "region": {"startLine": line, "startColumn": column}}
            results.append({
                "ruleId": f"verify/{v.verdict}", "level": "error" if v.verdict == "refuted" else "note",
                "message": {"text": f"{v.rule}: {v.reason}"}, "locations": [{"physicalLocation": place}],
            })  # fmt: skip
    tool = {"driver": {"name": "gslc verify", "rules": [{"id": "verify/refuted"}, {"id": "verify/unknown"}]}}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": tool, "results": results}]}, indent=2, ensure_ascii=False) + "\n"


def _junit(verdicts: list[Verdict], rules: dict[str, CheckedRule]) -> str:
    failures = sum(v.verdict == "refuted" for v in verdicts)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<testsuite name="gslc verify" tests="{len(verdicts)}" failures="{failures}">']
    for v in verdicts:
        head = f'  <testcase classname="verify" name={quoteattr(v.rule)} time="{v.seconds:.6f}"'
        body = {"refuted": f"<failure message={quoteattr(v.reason)}/>", "unknown": f"<skipped message={quoteattr(v.reason)}/>"}.get(v.verdict)
        lines.append(f"{head}/>" if body is None else f"{head}>{body}</testcase>")
    return "\n".join([*lines, "</testsuite>", ""])


def _markdown(verdicts: list[Verdict], rules: dict[str, CheckedRule]) -> str:
    """The page `docs/rules.md`; without times, so that it is the same each time."""
    lines = [
        "# The shipped rules", "", "Generated by `make rules`; what the verdicts mean stands in [verify.md](verify.md).", "",
        "| rule | what it does | verdict | instances | basis |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for v in verdicts:
        doc = " ".join((rules[v.rule].doc or "").split()).replace("|", "\\|")
        first = doc.split(". ")[0].rstrip(".")
        verdict = v.verdict if v.bound is None else f"{v.verdict} ({v.bound:.0e})"
        lines.append(f"| `{v.rule}` | {first} | {verdict} | {v.instances} | {v.reason} |")
    return "\n".join(lines) + "\n"
