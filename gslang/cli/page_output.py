"""Where a page goes: a file, or standard output."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from gslang.cli.text_output import write_output

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet
    from gslang.view.history import History


def add_times_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--times", action="store_true",
        help="add the time of each rule to the page (pages of equal runs then differ)",
    )


def write_page(
    history: History, title: str, rules: RuleSet, result: Result, path: str | None, times: bool
) -> None:
    """Write the page of a run, with the time that each rule took if `times`. Raises `InputError`."""
    from gslang.view.page import page
    from gslang.view.page_data import run_data

    write_output(page(run_data(history, title, rules, result, times)), path)
