"""Hostile files end soon, small, and with an exit code from 0 to 3; mutated ones are read or refused."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.hostile import fuzz
from tests.hostile.corpus import corpus
from tests.hostile.readers import readers
from tests.hostile.runs import run_all, write_corpus

pytest.importorskip("onnx")
COUNT = int(os.environ.get("GSLANG_FUZZ", "1000000"))


def test_the_corpus_is_large_and_always_the_same() -> None:
    first, again = corpus(), corpus()
    assert first == again and len(first) >= 1000
    assert len({hashlib.sha256(data).digest() for data in first.values()}) >= 1000


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with the corpus, and the names of its files."""
    folder = tmp_path_factory.mktemp("corpus")
    return folder, list(write_corpus(folder))


@pytest.mark.parametrize(
    "part",
    [
        "json", "relay", "onnxtxt", "traces", "config", "weights", "cache", "tables", "states", "defines",
        "onnx/chained", "onnx/rare_o",
    ],
)
def test_what_reads_most_of_each_file(part: str, written: tuple[Path, list[str]]) -> None:
    folder, names = written
    some = [name for name in names if name.startswith(part)]
    assert not [
        (one.wrong, one.words, one.said)
        for one in run_all(folder, some[:: 3 if len(some) > 20 else 1], False) if one.wrong
    ]


def test_a_sample_of_mutated_files() -> None:
    outcome = fuzz.run(0, 300)
    assert outcome.wrong == [] and set(readers()) <= set(outcome.done)


@pytest.mark.long
def test_every_verb_on_every_file(tmp_path: Path) -> None:
    assert not [
        (one.wrong, one.words, one.said)
        for one in run_all(tmp_path, write_corpus(tmp_path), True) if one.wrong
    ]


@pytest.mark.long
def test_a_million_mutated_files() -> None:
    outcomes = list(fuzz.run_in_processes(COUNT, os.cpu_count() or 1))
    assert [line for outcome in outcomes for line in outcome.wrong] == []
    assert sum(outcome.done[kind] for outcome in outcomes for kind in readers()) >= COUNT
