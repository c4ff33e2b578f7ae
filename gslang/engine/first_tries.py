"""When code is generated for a rule: when it has been tried often, or has matched some times.

Most rules of a pass are tried at a few nodes of a model and match nowhere, or in one place or two. The
machine is done with them in a small part of the time that generating and compiling code takes. Not so for
patterns with further outputs where some tensor has many users: the machine looks for those among all of them,
where the code looks at a group.

Nor does a command load the generator for little: a run on a small model ends before it has paid for that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Final

from gslang.base.one_run import is_one_run
from gslang.engine import machine
from gslang.engine.edits import Edits
from gslang.engine.program import Grow, MatchProgram, Users
from gslang.engine.rewrite import Rewriter, apply_match
from gslang.graph.graph import Graph

_MOST: Final = 64  # tries that take as long as making the code
_MATCH: Final = 16  # tries that take as long as applying a match
_LOADING: Final = 512  # tries that take as long as loading the generator
_FEW: Final = 32  # users of a tensor
_GENERATOR: Final = "gslang.engine.generate"

_tries: Final[dict[MatchProgram, int]] = {}
"""Tries on the machine in this process, of rules without code; a match counts for several."""


def has_many_users(graph: Graph) -> bool:
    """True if some tensor of a graph has many users."""
    return max(map(len, graph.users), default=0) > _FEW


def lazy_rewriter(
    plan: MatchProgram, traced: bool, edits: Edits, crowded: Callable[[], bool],
    ready: Callable[[Rewriter], None],
) -> Rewriter:  # fmt: skip
    """A rewriter that hands the generated one to `ready` as soon as there is one. `crowded`: True if some
    tensor has many users; asked where that matters.
    """
    if not is_one_run():
        import_module(_GENERATOR)  # a process that goes on will need it
    most = 0 if any(isinstance(step, (Users, Grow)) for step in plan.steps) and crowded() else _MOST

    def rewrite(start: int, seeds: list[int]) -> object:
        tries = _tries.get(plan, 0)
        if tries < most or most and _is_loading_early():
            _tries[plan] = tries + 1
            for scope in machine.matches(plan, edits.graph, start):
                if (application := apply_match(scope, edits, seeds, traced)) is not None:
                    _tries[plan] = tries + _MATCH
                    return application
            return None
        from gslang.engine.generate import compile_rewriter

        generated = compile_rewriter(plan, traced)(edits)
        ready(generated)
        return generated(start, seeds)

    return rewrite


def _is_loading_early() -> bool:
    """True if the generator is not loaded, and the tries that code would have spared take less time."""
    return _GENERATOR not in sys.modules and sum([max(t - _MOST, 0) for t in _tries.values()]) < _LOADING
