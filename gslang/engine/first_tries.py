"""When code is generated for a rule: at its first match, or when it has been tried often.

Most rules of a pass are tried at a few nodes of a model and match nowhere. The machine says so in a small
part of the time that generating and compiling code for them takes. Not so for patterns with further outputs:
the machine looks for those among all users of a tensor, however many, where the code looks at a group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gslang.engine import machine
from gslang.engine.edits import Edits
from gslang.engine.generate import Rewriter, compile_rewriter
from gslang.engine.program import Grow, MatchProgram, Users

_MOST: Final = 64  # tries that take as long as making the code

_tries: Final[dict[MatchProgram, int]] = {}
"""Tries on the machine in this process, of rules without code; `_MOST` for those that have it."""


def lazy_rewriter(
    plan: MatchProgram, traced: bool, edits: Edits, ready: Callable[[Rewriter], None]
) -> Rewriter:
    """A rewriter that hands the generated one to `ready` as soon as there is one."""
    most = 0 if any(isinstance(step, (Users, Grow)) for step in plan.steps) else _MOST

    def rewrite(start: int, seeds: list[int]) -> Any:
        tries = _tries.get(plan, 0)
        if tries < most and next(machine.matches(plan, edits.graph, start), None) is None:
            _tries[plan] = tries + 1
            return None
        _tries[plan] = _MOST
        generated = compile_rewriter(plan, traced)(edits)
        ready(generated)
        return generated(start, seeds)

    return rewrite
