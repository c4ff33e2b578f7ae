"""Options of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite golden files")


# The same examples in every run: what a run finds is found by the next one too. Other examples: `--hypothesis-profile=random`.
settings.register_profile("same", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.load_profile("same")
