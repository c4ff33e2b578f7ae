"""Instances of the cases in which a proof does not succeed."""

from __future__ import annotations

from gslang.base.deadline import Deadline
from gslang.check.checked import CheckedRule
from gslang.verify.evidence import Evidence, Settings, look_at
from gslang.verify.instances.draw import Search, wished
from gslang.verify.instances.leaves import of_instance
from gslang.verify.prove.doubts import Doubt, doubts

_SHARE = 0.1  # of the time


def look_at_doubts(rule: CheckedRule, settings: Settings, evidence: Evidence, until: Deadline) -> None:
    """Look at one instance of each case in which a proof does not succeed, where there is one."""
    until = until.within(_SHARE * settings.seconds)
    for k, doubt in enumerate(doubts(rule, until, settings.seed)):
        if until.passed or evidence.bad:
            return
        instance = wished(rule, wishes_of(doubt), settings.seed + k, Search(), None)
        if instance is not None:
            evidence.coverage["cases that a proof leaves open"] += 1
            look_at(rule, instance, settings, evidence)


def wishes_of(doubt: Doubt) -> dict[tuple[int, str], object]:
    return {
        (node, field if place is None else of_instance(field, place)): value
        for (node, place, field), value in doubt.items()
    }
