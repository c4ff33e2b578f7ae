"""Did you mean …?: the nearest of many names, most of which are not looked at closely."""

from __future__ import annotations

from random import Random

import pytest

from gslang.base import suggest
from gslang.dialect.load import load_dialect


def test_it_is_the_nearest() -> None:
    random = Random(1)

    def word(most: int) -> str:
        return "".join(random.choice("abcD.") for _ in range(random.randint(1, most)))

    for _ in range(500):
        wanted, names = word(9), [word(9) for _ in range(12)]
        limit = max(1, len(wanted) // 3) if len(wanted) > 1 else 0
        far = {n: 0 if n.lower() == wanted.lower() else suggest.distance(wanted, n) for n in sorted(names)}
        nearest = min(far, key=lambda name: (far[name], sorted(name) != sorted(wanted)))
        assert suggest.did_you_mean(wanted, names) == (nearest if far[nearest] <= limit else None)


def test_names_of_other_letters_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family of thousands of unknown operators asks for each."""
    asked: list[str] = []
    distance = suggest.distance

    def counted(word: str, name: str) -> int:
        asked.append(name)
        return distance(word, name)

    monkeypatch.setattr(suggest, "distance", counted)
    assert suggest.did_you_mean("n4999", load_dialect("relay").operators) is None and not asked


def test_letters_swapped_are_the_likeliest_mistake() -> None:
    assert suggest.did_you_mean("Tahn", ["Tan", "Tanh"]) == "Tanh"
