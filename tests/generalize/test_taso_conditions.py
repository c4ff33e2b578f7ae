"""The substitutions of TASO that hold under conditions only get conditions that admit all that those of
`gslc import taso --with-conditions` admit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from gslang.api import RuleSet, load
from gslang.cli.main import main
from gslang.generalize.generalized import Generalized
from gslang.generalize.refine import Settings, generalize
from gslang.verify.instances.draw import Search, instances, instances_on

FILE = Path(__file__).parent.parent / "verify" / "taso" / "graph_subst.json"
REFUTED = (70, 81, 84, 95, 98, 99, 100, *range(103, 106), *range(110, 119), 120, *range(125, 133))
FAST = (120,)


@pytest.fixture(scope="module")
def substitutions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RuleSet, RuleSet]]:
    """As the file has them, and with the conditions that their operators ask for."""
    folder = tmp_path_factory.mktemp("taso")
    assert main(["import", "taso", str(FILE), "-o", str(folder / "plain")]) == 0
    assert main(["import", "taso", str(FILE), "--with-conditions", "-o", str(folder / "held")]) == 0
    yield load(folder / "plain" / "taso.gsl"), load(folder / "held" / "taso.gsl")


def check(substitutions: tuple[RuleSet, RuleSet], number: int, settings: Settings) -> Generalized:
    plain, held = (rules.known[f"taso_{number:03}"] for rules in substitutions)
    found = generalize(plain, settings)
    assert found.text is not None and found.rule is not None and found.verdict is not None, found.reason
    assert found.verdict.verdict in ("exact", "proved"), found.text
    drawn = [i for i in islice(instances(held, Search(), 7, 20.0, 2_000), 20) if i.after is not None]
    assert drawn
    for instance in drawn:
        there = list(instances_on(found.rule, [instance.before], Search()))
        assert there, (found.text, instance.before.types)
    return found


@pytest.mark.parametrize("number", FAST)
def test_conditions_are_the_weakest(substitutions: tuple[RuleSet, RuleSet], number: int) -> None:
    found = check(substitutions, number, Settings(seconds=60))
    assert found.verdict is not None and found.verdict.verdict == "proved"
    assert "x2.shape[1:] == x1.shape[1:]" in found.conditions


@pytest.mark.long
@pytest.mark.parametrize("number", [k for k in REFUTED if k not in FAST])
def test_all_conditions_are_weak_enough(substitutions: tuple[RuleSet, RuleSet], number: int) -> None:
    check(substitutions, number, Settings(seconds=60))
