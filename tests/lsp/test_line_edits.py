"""Replacing the lines that differ makes the new text of the old one, and large texts take no longer than they
are long.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from gslang.lsp.line_edits import changed_lines
from tests.counted import calls_of

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n", "f\n", "}\n", "\n"]), max_size=14)


def replaced(old: Sequence[str], new: Sequence[str]) -> list[str]:
    result = list(old)
    for i1, i2, j1, j2 in reversed(list(changed_lines(old, new))):
        result[i1:i2] = new[j1:j2]
    return result


@settings(max_examples=400, deadline=None)
@given(LINES, LINES)
def test_the_new_text_comes_of_the_old_one(old: list[str], new: list[str]) -> None:
    changes = list(changed_lines(old, new))
    assert replaced(old, new) == new and bool(changes) == (old != new)
    assert all(before[1] < after[0] or before[3] < after[2] for before, after in zip(changes, changes[1:]))


def test_what_stays_is_not_replaced() -> None:
    old = [
        f"rule r{k}\n" if j == 0 else "    same\n" if j < 3 else f"  bad{k % 2}\n"
        for k in range(50)
        for j in range(4)
    ]
    new = ["  good\n" if line.startswith("  bad") else line for line in old]
    assert [(i1, i2) for i1, i2, _, _ in changed_lines(old, new)] == [
        (4 * k + 3, 4 * k + 4) for k in range(50)
    ]


def test_long_texts() -> None:
    """Lines that are much alike, every fourth of them another one; and as many without a line that stands
    once. Counted: effort grows with the lines.
    """

    def compare(rules: int) -> None:
        old = [
            f"rule r{k}(x) {{\n" if j == 0 else "  a\n" if j == 1 else "" if j == 2 else "}\n"
            for k in range(rules)
            for j in range(4)
        ]
        assert replaced(old, [line.replace("  a", "    a") for line in old])[1] == "    a\n"
        assert replaced(["x\n", "}\n"] * 2 * rules, ["y\n", "}\n"] * 2 * rules) == ["y\n", "}\n"] * 2 * rules

    assert calls_of(lambda: compare(3000)) < 12 * calls_of(lambda: compare(300))
