"""Types of options: numbers within bounds, with messages that say which; options that several verbs have."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Final

from gslang.base.deadline import SECONDS, Allowance

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def natural(text: str) -> int:
    """A number from 0."""
    return _at_least(0, text)


def positive(text: str) -> int:
    """A number from 1."""
    return _at_least(1, text)


def named_size(text: str) -> tuple[str, int]:
    """`NAME=N`: the name and size of a dimension."""
    name, _, size = text.partition("=")
    if not name or not (size.isascii() and size.isdigit() and len(size) <= 18):
        raise ArgumentTypeError(f"expected NAME=N, N a number from 0, not `{text}`")
    return name, int(size)


def _at_least(least: int, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) < least:
        most = " to 10 ** 18 - 1" if text.isascii() and text.isdigit() and len(text) > 18 else ""
        raise ArgumentTypeError(f"expected a number from {least}{most}, not `{text}`")
    return int(text)


def size_in_bytes(text: str) -> int | None:
    """A number of bytes, in binary units; None for `none`."""
    if text.lower() == "none":
        return None
    found = re.fullmatch(r"([0-9]{1,12})([KMG]?)", text.upper())
    if found is None:
        raise ArgumentTypeError(f"expected a size such as 1M, 500K or none, not `{text}`")
    return int(found[1]) * _UNITS[found[2]]


def seconds(text: str) -> float:
    """A time of at least a millisecond and at most a day."""
    found = re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text)
    if found is None or not 0.001 <= float(text) <= 86_400:
        raise ArgumentTypeError(f"expected seconds from 0.001 to 86400, not `{text}`")
    return float(text)


def seconds_or_none(text: str) -> float:
    """A time, or 0."""
    return 0.0 if text == "0" else seconds(text)


def add_seconds_option(parser: ArgumentParser, each: str) -> None:
    """`--seconds` of a verb that judges rules one after the other. None unless it is given: then rules that
    end without an answer share the usual time (`Allowance`)."""
    parser.add_argument(
        "--seconds", type=seconds, metavar="S",
        help=f"limit on processor time for each {each} ({SECONDS:g}; rules without an answer share this)",
    )


def allowance_of(options: Namespace, tasks: int = 0) -> Allowance:
    """The processor time for so many rules, if their number is known, by `--seconds`."""
    given = options.seconds
    return Allowance(SECONDS if given is None else given, given is not None, tasks)


def add_inference_options(parser: ArgumentParser, each: str) -> None:
    """The options of verbs that infer conditions; `each`: what the time is for."""
    add_seconds_option(parser, each)
    parser.add_argument(
        "--instances", type=positive, default=20, metavar="N",
        help="number of instances on which conditions are tried (20)",
    )
    parser.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="seed of the instances and values (0)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
