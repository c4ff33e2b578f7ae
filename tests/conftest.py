"""Options of the whole suite."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """As many as there are processors for this process, hyperthreads included; at most eight, for the sake of
    memory.
    """
    return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite golden files")
    parser.addoption(
        "--other-examples", action="store_true", help="examples of Hypothesis that differ from run to run"
    )


def pytest_configure(config: pytest.Config) -> None:
    """The same examples in every run: what a run finds is found by the next one too. And less often a search
    for cycles, which takes a fifth of the time where all operators and shipped rules are loaded.
    """
    gc.set_threshold(100_000, 50, 50)
    slow = [HealthCheck.too_slow]  # no test depends on time: these two would
    settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=slow)
    settings.load_profile("default" if config.getoption("--other-examples") else "same")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module, name: str, obj: object) -> list[pytest.Item] | None:
    """No items of tests that `-m` excludes anyway, unless tests are named: making and dropping three thousand
    takes a second.
    """
    expression = collector.config.getoption("-m")
    if any("::" in word for word in collector.config.args):
        return None
    marks = {mark.name for mark in getattr(obj, "pytestmark", ())}
    return [] if any(f"not {name}" in expression for name in marks) else None


@pytest.fixture
def code_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules run as generated code from the first candidate on. Usually the first matches are the machine's,
    and graphs as small as those of tests never see the code.
    """
    from gslang.engine import first_tries

    monkeypatch.setattr(first_tries, "_MOST", 0)
