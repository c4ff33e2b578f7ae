"""The shipped rules, loaded when a test asks for them: collecting the tests loads none."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import gslang.api as api
from gslang.check.checked import CheckedRule

ROOT = Path(__file__).resolve().parents[1]
STDLIB = ROOT / "stdlib_rules"


@cache
def shipped_rules(module: str) -> dict[str, CheckedRule]:
    """All rules of a shipped module such as `std.relay`, by name."""
    return api.load(module).known


def written_as(module: str, name: str) -> list[CheckedRule]:
    """What a name in the text of a shipped module stands for: a rule, or those of a family."""
    return [rule for known, rule in shipped_rules(module).items() if known.partition("[")[0] == name]


@cache
def rules_in(*paths: Path) -> dict[str, CheckedRule]:
    """The rules that some files define themselves, by name."""
    return {name: rule for path in paths for name, rule in api.load(path).own.items()}


def rule_names(*paths: Path) -> list[str]:
    """Names of the rules that files define, read from the text: enough to name test cases."""
    return [
        name
        for path in paths
        for name in re.findall(r"^rule (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
