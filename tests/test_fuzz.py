"""Bad input never ends in a traceback: mutated rule files give findings, nothing else."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from gslang.base.render import render_text
from gslang.base.source import Source
from gslang.check.check import check_source

FILES = sorted((Path(__file__).parent.parent / "stdlib_rules" / "relay").glob("*.gsl"))
SIGNS = list("(){}[];,=>.*:|?@#\"'_ \n") + [
    " rule ", " each ", " where ", "..", "=>", ":=", " 3 ", "é", "\0", "none", " match ",
]


@pytest.mark.parametrize("seed", range(40))
def test_mutated_rules(seed: int) -> None:
    random = Random(seed)
    text = random.choice([f for f in FILES if f.name not in ("ops.gsl", "passes.gsl")]).read_text(
        encoding="utf-8"
    )
    start = random.randrange(max(1, len(text) - 1500))
    text = text[start : start + 1500]
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(text) + 1)
        match random.randrange(3):
            case 0:
                text = text[:at] + random.choice(SIGNS) + text[at:]
            case 1:
                text = text[:at] + text[at + random.randint(1, 12) :]
            case _:
                other = random.randrange(len(text) + 1)
                text = text[:at] + text[other : other + 20] + text[at:]
    render_text(check_source(Source("fuzz.gsl", text)).diagnostics)
