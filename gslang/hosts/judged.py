"""Rules of another tool with verdicts: what each is as it is written, which conditions it lacks, and the rule
under these.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from textwrap import wrap

from gslang.base.deadline import NO_TIME, Allowance, deadline
from gslang.base.json_text import json_text
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.fmt.format_source import layout
from gslang.generalize.checking import PLAIN
from gslang.generalize.draft import NoDraft
from gslang.generalize.refine import Settings, generalize_in
from gslang.verify.evidence import Settings as VerifySettings
from gslang.verify.verdict import verify
from gslang.verify.verdict_text import Layout


@dataclass(frozen=True, slots=True)
class Given:
    """A rule as it was read: its text, and where it stood.

    `refused`: why it is no rule, then `text` is empty.
    """

    name: str
    place: str
    text: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """`before`, `why`: the verdict as written. `conditions`: those that were missing; `text`: the rule that
    holds, empty if there is none.

    `verdict`: of that rule. `stopped`: the time did not suffice to try all.
    """

    given: Given
    before: str
    why: str
    conditions: tuple[str, ...] = ()
    text: str = ""
    verdict: str = ""
    stopped: bool = False

    @property
    def answers(self) -> bool:
        """True if more time would tell no more."""
        return not self.stopped and (self.before == "refused" or self.verdict not in ("", "unknown"))


def judge(given: Given, head: str, settings: Settings) -> Judged:
    """A verdict on one rule, and its repair if it is refuted. `head`: what its file declares."""
    if given.refused:
        return Judged(given, "refused", given.refused)
    source = Source(f"<{given.name}>", head + given.text)
    program = PLAIN.program(source.name, source.text)
    if not program.ok:
        error = next(d for d in program.diagnostics if d.severity.value == "error")
        return Judged(given, "refused", error.message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        until = deadline(settings.seconds)
        first = verify(program.rules[given.name], VerifySettings(until.left, settings.seed))
        if first.verdict != "refuted":
            return Judged(
                given, first.verdict, first.reason, (), layout(given.text), first.verdict, first.stopped
            )
        try:
            found = generalize_in(source, given.name, replace(settings, seconds=until.left))
        except NoDraft as problem:
            return Judged(given, "refuted", f"{first.reason}; {problem}")
    stopped = found.stopped is not None
    if found.text is None or found.verdict is None:
        return Judged(given, "refuted", first.reason, stopped=stopped)
    return Judged(
        given, "refuted", first.reason, (*found.lifted, *found.conditions), found.text, found.verdict.verdict,
        stopped,
    )


def judge_all(
    rules: Sequence[Given], head: str, settings: Settings, allowance: Allowance, tell: Callable[[str], None]
) -> list[Judged]:
    """All of them, in order; those that differ in their names only are judged once.

    `allowance`: the processor time for each, in the place of that in `settings`.
    """
    found: list[Judged] = []
    known: dict[str, Judged] = {}
    for k, given in enumerate(rules):

        def one(seconds: float, given: Given = given) -> Judged:
            return judge(given, head, replace(settings, seconds=seconds))

        same = known.get(key := _named(given.text, given.name, ""))
        if same is None or given.refused:
            no_time = Judged(given, "unknown", NO_TIME)
            same = known[key] = allowance.spend(one, lambda found: found.answers) or no_time
        found.append(replace(same, given=given, text=_named(same.text, same.given.name, given.name)))
        tell(f"{k + 1} of {len(rules)}: {_lines(found[-1], Layout([given.name])).rstrip()}")
    return found


def _named(text: str, name: str, new: str) -> str:
    """A rule with another name."""
    return text.replace(f"rule {name}(", f"rule {new}(", 1)


def as_written(rules: Sequence[Given], head: str) -> list[Judged]:
    """The rules without a verdict; what does not check is refused."""
    found = []
    for given in rules:
        program = None if given.refused else PLAIN.program(f"<{given.name}>", head + given.text)
        wrong = (
            next((d.message for d in program.diagnostics if d.severity.value == "error"), "")
            if program is not None
            else given.refused
        )
        found.append(
            Judged(given, "refused", wrong) if wrong
            else Judged(given, "unknown", "", (), layout(given.text), "unknown")
        )
    return found


# ── what is reported ────────────────────────────────────────────────────────────────────────────────────────


def rule_file(found: Sequence[Judged], about: str, head: str) -> str:
    """The rules that hold, documented, as a file; what does not is named in comments."""
    parts = [f"#! {about}", head]
    for one in found:
        if one.text:
            body = "\n".join(line for line in one.text.splitlines() if not line.startswith("##"))
            parts.append("\n".join([*(f"## {line}" for line in _wrapped(_documentation(one))), body, ""]))
        else:
            parts.append("\n".join([
                *(
                    f"# {line}"
                    for line in _wrapped(
                        f"Left out: `{one.given.name}` ({one.given.place}). {_sentence(one)}"
                    )
                ),
                "",
            ]))
    return layout("\n".join(parts))


def _documentation(one: Judged) -> str:
    if one.before == "unknown" and not one.why:
        return f"`{one.given.name}` ({one.given.place}), as written."
    if one.before != "refuted":
        return f"{one.before[0].upper()}{one.before[1:]}: {one.why}."
    return (
        f"{one.verdict[0].upper()}{one.verdict[1:]} under conditions that the original lacks "
        f"({_sentence(one)}): {'; '.join(one.conditions)}."
    )


def _sentence(one: Judged) -> str:
    return f"{one.before}: {' '.join(one.why.split())}"


def _wrapped(text: str) -> list[str]:
    return wrap(text, 104, break_long_words=False, break_on_hyphens=False)


def as_text(found: Sequence[Judged]) -> str:
    counts: dict[str, int] = {}
    for one in found:
        counts[one.before] = counts.get(one.before, 0) + 1
    repaired = sum(one.before == "refuted" and bool(one.text) for one in found)
    total = ", ".join(f"{count} {name}" for name, count in counts.items())
    more = f"; {repaired} of the refuted ones repaired" if counts.get("refuted") else ""
    columns = Layout(one.given.name for one in found)
    count = f"{len(found)} rule{'s' * (len(found) != 1)}"
    return "".join(_lines(one, columns) for one in found) + f"{count}: {total}{more}\n"


def _lines(one: Judged, columns: Layout) -> str:
    line = columns.line(one.before, one.given.name, " ".join(one.why.split()))
    if one.before != "refuted":
        return line
    needs = "; ".join(one.conditions) or "another form"
    return line + (
        f"  {one.verdict} under: {needs}\n" if one.text
        else "  no conditions were found under which it holds\n"
    )


def as_json(found: Sequence[Judged]) -> str:
    entries = [
        {
            "rule": one.given.name,
            "place": one.given.place,
            "written": one.given.text,
            "before": {"verdict": one.before, "reason": one.why},
            "conditions": list(one.conditions),
            "text": one.text or None,
            "verdict": one.verdict or None,
        }
        for one in found
    ]
    return json_text({"rules": entries})


FORMATS = {"text": as_text, "json": as_json}
