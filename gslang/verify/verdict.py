"""Verdicts: what is known about a rule after looking at its instances.

* `proved`: both sides are equal for tensors of every size (`prove`), and no instance differs. `reason`: under
  which assumptions.
* `exact`: on every instance that could be computed in a prime field both sides are equal there (`bound` is
  the chance of error of each), and no instance differs in any other way.
* `tested`: the sides agree in floating point on every instance, or all instances are the rule's own tests.
* `changes`: the rule is marked `@changes`, so that its sides need not be equal; it could be applied.
* `refuted`: an instance where they differ, or where the target has other types than the source.
* `unknown`: no instance was found, or none can be computed. `reason` tells.

Not here: what instances say (`evidence`), how rules and options come from the command line (`cli/verify`),
how proofs are found (`prove`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial
from textwrap import shorten
from time import thread_time

from gslang.base.cache import cached
from gslang.base.deadline import NO_TIME, deadline, in_time
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import Builtin, CheckedProgram, CheckedRule, Extern
from gslang.check.levels import levels
from gslang.check.limits import RuleFailed
from gslang.check.walks import walk
from gslang.dialect.load import require_inference
from gslang.engine.externs import ALLOW
from gslang.verify.comparison.compare import NOT_COMPUTED, Finding
from gslang.verify.comparison.exact import BOUND
from gslang.verify.comparison.undefined import UNDEFINED
from gslang.verify.counterexample import Counterexample, counterexample_of, elements_of
from gslang.verify.doubted import look_at_doubts
from gslang.verify.evidence import Covered, Evidence, Settings
from gslang.verify.gather import gather
from gslang.verify.instances.draw import DEEPEST, integer_types
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.prove.terms.paths import NotProved, OutOfTime
from gslang.verify.verdict_key import content_of, settings_key

_MOST_NAMED = 3  # of what was not varied
_MANY_AXES = 4  # few instances have more
_LONGEST = 160  # characters of what stopped a proof: terms that differ may be long
_FOR_PROOF = 0.75  # share of the time
_OVER = "the time was over"
_UNCOMPUTED = "instances that differ over a prime field but cannot be computed in floating point"
_UNSEEN = "what no time was left for"
_SPECIAL = "; differs on NaN and infinities only"
_EMPTY = "; differs on tensors without elements only"
ORDER = ("refuted", "unknown", "changes", "tested", "exact", "proved")  # from bad to good


@dataclass(frozen=True, slots=True)
class Verdict:
    """`bound`: the chance of error of an exact verdict, 0 for a proof. `seconds`: of processor time.
    `coverage`: feature → instances that have it.

    `laws`: the names of those that a proof used (`laws.LAWS`). `stopped`: the time was over before the proof
    had ended or enough instances were seen: the verdict rests on what was found until then. `unproved`: in
    one line, what stopped a proof that was tried. `uncertified`: in one line, why a proof for which a
    certificate is asked has none.
    """

    rule: str
    verdict: str
    reason: str
    bound: float | None
    instances: int
    seconds: float
    coverage: dict[str, int] = field(default_factory=dict)
    counterexample: Counterexample | None = None
    laws: tuple[str, ...] = ()
    stopped: bool = False
    unproved: str = ""
    uncertified: str = ""


def verify(
    rule: CheckedRule, settings: Settings = Settings(), programs: Sequence[CheckedProgram] = ()
) -> Verdict:
    """The verdict on a rule; an earlier one for the same rule, settings and code is used again: one that was
    not stopped whatever the time, another one if it had the same time.

    `programs`: where to look for tests of the rule, whose graphs are instances, too. Raises `InputError` if a
    package is missing that rules of this dialect are judged with.
    """
    require_inference(rule.dialect)
    tests = [test for program in programs for test in program.tests if test.rule in (rule.name, rule.family)]
    if rule.externs:
        return verify_now(rule, settings, programs)  # what Python code says may be another thing next time
    key = (content_of(rule), content_of(tests), *settings_key(settings))
    alike = (content_of(replace(rule, name="", family=None)), *key[1:])
    if not tests and alike in _ALIKE:
        return replace(_ALIKE[alike], rule=rule.name, seconds=0.0)
    found = known_verdict(key, settings.seconds)
    if found is None:
        now = verify_now(rule, settings, programs)
        found = cached("verify", (*key, str(settings.seconds)) if now.stopped else key, lambda: now)
    # a counterexample has the rule's name in its test, and more time may tell more
    if not tests and found.counterexample is None and not found.stopped:
        _ALIKE[alike] = found
    return found


def is_answer(verdict: Verdict) -> bool:
    """True if more time would tell no more."""
    return verdict.verdict != "unknown" and not verdict.stopped


def holds(verdict: Verdict) -> bool:
    """True if it speaks for the rule; more time might only tell more."""
    return verdict.verdict not in ("unknown", "refuted")


def is_settled(verdict: Verdict) -> bool:
    """True if it speaks for the rule and more time would tell no more: a proof needs no further instance."""
    return verdict.verdict == "proved" or holds(verdict) and not verdict.stopped


def no_time_for(rule: CheckedRule) -> Verdict:
    """The verdict on a rule that could not be judged in the time that was left for it."""
    return Verdict(rule.name, "unknown", NO_TIME, None, 0, 0.0, stopped=True)


class _Absent(Exception):
    """The cache has no verdict."""


def known_verdict(key: tuple[str, ...], seconds: float) -> Verdict | None:
    """The verdict that an earlier run has left in the cache, or None."""

    def absent() -> Verdict:
        raise _Absent

    for place in (key, (*key, str(seconds))):
        try:
            return cached("verify", place, absent)
        except _Absent:
            pass
    return None


_ALIKE: dict[tuple[str, ...], Verdict] = {}
"""Verdicts of this process on rules without their names: rules that differ in nothing else are judged
once.
"""


def verify_now(
    rule: CheckedRule, settings: Settings = Settings(), programs: Sequence[CheckedProgram] = ()
) -> Verdict:
    """The same without a look at earlier verdicts."""
    began = thread_time()
    if levels(rule) > DEEPEST:
        return Verdict(
            rule.name, "unknown", f"more than {DEEPEST} levels of operators are not supported", None, 0,
            thread_time() - began,
        )
    externs = rule.externs
    if any(extern.function is None for extern in externs):
        return Verdict(
            rule.name, "unknown", f"{_resting_on(externs)}, which was not imported; {ALLOW}", None, 0,
            thread_time() - began,
        )
    try:
        found = _judged(rule, replace(settings, proof_steps=0) if externs else settings, programs, began)
        if found.stopped and found.verdict != "proved":
            over = f"stopped after {settings.seconds:.2g} s (--seconds)"
            found = replace(found, reason=f"{found.reason}; {over}")
        return replace(found, reason=f"{found.reason}; {_resting_on(externs)}") if externs else found
    except RuleFailed as error:
        reason = f"{error.reason}; {error.help}" if error.help else error.reason
        return Verdict(rule.name, "unknown", reason, None, 0, thread_time() - began)
    except MemoryError:  # the next rule may need less
        reason = "an instance takes more memory than there is"
        return Verdict(rule.name, "unknown", reason, None, 0, thread_time() - began)


def _resting_on(externs: Sequence[Extern]) -> str:
    named = ", ".join(f"`{extern.reference}`" for extern in externs)
    return f"it depends on the Python function{'s' * (len(externs) != 1)} {named}"


def _judged(
    rule: CheckedRule, settings: Settings, programs: Sequence[CheckedProgram], began: float
) -> Verdict:
    attempt, evidence = _Attempt(rule, settings), Evidence()
    in_time(settings.seconds, partial(_look, attempt, evidence, programs))
    if not evidence.complete:
        evidence.stopped = True
        evidence.unvaried.append(_UNSEEN)
    coverage = dict(sorted(evidence.coverage.items()))
    count = len(evidence.good) + len(evidence.bad)

    def verdict(
        name: str,
        reason: str,
        bound: float | None = None,
        example: Counterexample | None = None,
        laws: tuple[str, ...] = (),
    ) -> Verdict:
        return Verdict(
            rule.name, name, reason, bound, count, thread_time() - began, coverage, example, laws,
            evidence.stopped or attempt.why == _OVER, attempt.why,
        )

    broken = [item for item in evidence.bad if rule.changes is None or _cannot_be(item[1])]
    if broken:
        instance, finding, why = min(
            broken, key=lambda item: (item[1] is None, elements_of(item[0].before), item[0].seed)
        )
        return verdict("refuted", why, example=counterexample_of(rule, instance, finding))
    if rule.changes is not None and count:
        return verdict("changes", f"{rule.changes}; {_change(evidence)}")
    if not evidence.good:
        return verdict("unknown", f"no instance was found: {evidence.search.obstacle}")
    name, reason = _judge(evidence.good)
    if name == "exact" and not evidence.drawn:
        name, reason = (
            "tested",
            f"only on its own tests, since no other instance was found: {evidence.search.obstacle}",
        )
    doubtful = any(finding.field is False and finding.numbers is None for finding in evidence.good)
    named = [*([_UNCOMPUTED] if doubtful else []), *evidence.unvaried]
    unvaried = list(dict.fromkeys(named))[:_MOST_NAMED]  # a `fn` has one text wherever it is used
    capped = "; not varied: " + "; ".join(unvaried) if unvaried else ""
    unfit = _unfit(evidence)
    nearness = ", where `close` is equality" if _has_nearness(rule) else ""
    if (proof := attempt.proof) is not None and not evidence.unfit:
        special = _SPECIAL if _SPECIAL in reason else ""
        return verdict("proved", proof.claim + nearness + special, 0.0, laws=proof.laws)
    capped = unfit + capped
    reason += (_EMPTY if evidence.empty else "") + nearness
    if name == "exact" and not capped:
        return verdict(name, reason, BOUND)
    return verdict("tested" if name == "exact" else name, reason + capped)


def _look(attempt: _Attempt, evidence: Evidence, programs: Sequence[CheckedProgram]) -> None:
    """Gather evidence, and seek a proof where that does not refute the rule."""
    rule = attempt.rule
    gather(rule, attempt.settings, programs, evidence, attempt.covers)
    if not attempt.made and evidence.good and not evidence.bad and rule.changes is None:
        attempt.covers(evidence)
    if attempt.made and attempt.proof is None and not evidence.bad:
        look_at_doubts(rule, attempt.settings, evidence, attempt.until)


class _Attempt:
    """The attempt to prove a rule, once instances agree. `why`: it failed."""

    def __init__(self, rule: CheckedRule, settings: Settings) -> None:
        self.rule, self.settings, self.until = rule, settings, deadline(settings.seconds)
        self.proof: Proof | None = None
        self.made = False
        self.why = ""

    def covers(self, evidence: Evidence) -> Covered:
        """The element types for which the rule is proved wherever it is applied, so that few instances need
        to be looked at.

        Where most ranks or spellings are left out, only instances say what is so of these.
        """
        if (
            not self.settings.proof_steps or evidence.unfit
            or _judge(evidence.good)[0] not in ("exact", "tested") and not _none_computed(evidence.good)
        ):
            return ""
        self.made, self.why = True, _OVER
        try:
            within = self.until.within(_FOR_PROOF * self.settings.seconds)
            self.proof = prove(self.rule, self.settings.proof_steps, until=within)
            self.why = ""
        except OutOfTime:
            pass
        except NotProved as error:
            self.why = in_a_line(str(error))
        proof = self.proof
        if proof is None:
            return ""
        if proof.limits or proof.ranks is not None and proof.ranks < _MANY_AXES:
            # "part": what it says nothing of in whole numbers is looked for
            return "limited" if proof.floats else "part"
        return "floats" if proof.floats else "all"


def in_a_line(text: str) -> str:
    """The first line of a text, cut where it gets too long to read; terms that differ are called so."""
    line = text.partition("\n")[0]
    told = f"the two sides of an element are not recognized as equal: {line}" if " ≠ " in line else line
    return shorten(told, _LONGEST, placeholder=" …")


def _unfit(evidence: Evidence) -> str:
    """A note on integers for which the target does not fit, where it does for floats."""
    types = ", ".join(sorted({name for item in evidence.unfit for name in integer_types(item[0])}))
    return f"; the target is ill-typed for {types}: there, a run ends with an error" if types else ""


def _cannot_be(finding: Finding | None) -> bool:
    """True if an instance refutes a rule that may change values: its target does not fit, cannot be
    computed, or is not defined."""
    return finding is None or finding.number_reason.startswith((NOT_COMPUTED, UNDEFINED))


def _change(evidence: Evidence) -> str:
    """The distance between the sides of a rule that is marked `@changes`."""
    if not evidence.bad:
        return "no instance differs: `@changes` may be unnecessary"
    count = len(evidence.bad) + len(evidence.good)
    largest = max((finding.max_abs for _, finding, _ in evidence.bad if finding is not None), default=0.0)
    by = f", by up to {largest:.3g}" if 0 < largest < float("inf") else ""
    return f"the sides differ on {len(evidence.bad)} of {count} instances{by}"


def _uninterpreted(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names)
    return (
        f"treating {shown} as {'an uninterpreted function' if len(names) == 1 else 'uninterpreted functions'}"
    )


def _judge(good: list[Finding]) -> tuple[str, str]:
    special = _SPECIAL if any(f.special for f in good) else ""
    equal = [f for f in good if f.field is True]
    undecided = [f for f in good if f.field is False]
    if any(f.certain for f in undecided):
        return "unknown", "the sides differ over a prime field, but not in floating point"
    if equal and not undecided:
        unknown = sorted({name for f in equal for name in f.field_reason.split("; ") if name})
        limits = sorted({limit for f in equal for limit in f.limits})
        return "exact", ", ".join(
            [_uninterpreted(unknown) if unknown else "exact arithmetic", *limits]
        ) + special
    if any(f.numbers is True for f in good):
        why = undecided[0].field_reason if undecided else next(f.field_reason for f in good)
        return "tested", why + special
    return "unknown", "no instance can be computed: " + next(
        (f.number_reason for f in good if f.numbers is None), ""
    )


def _none_computed(good: list[Finding]) -> bool:
    """True if no instance can be computed, whatever it is: an operator has no evaluator."""
    return all(finding.numbers is None and finding.field is None for finding in good)


def _has_nearness(rule: CheckedRule) -> bool:
    """True if a condition lets numbers pass that are near to another one: instances take that one."""
    return any(
        isinstance(part, Builtin) and part.name == "close" for part in (*walk(rule.where), *walk(rule.lets))
    )
