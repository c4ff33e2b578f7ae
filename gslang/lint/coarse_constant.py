"""L0114: 0.7071 where the square root of a half is meant. What is exact to float32 is left alone."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gslang.lint.linted_file import Finding, LintedFile, finding, walk
from gslang.syntax import nodes as n

_FORMS = (
    (math.sqrt(2), "2 ** 0.5"), (math.sqrt(0.5), "0.5 ** 0.5"),
    (math.sqrt(2 / math.pi), "0.6366197723675814 ** 0.5"), (math.pi, "3.141592653589793"),
    (2 / math.sqrt(math.pi), "1.1283791670955126"), (math.e, "2.718281828459045"),
    (math.log(2), "0.6931471805599453"), (1 / math.log(2), "1.4426950408889634"), (1 / 3, "1 / 3"),
    (2 / 3, "2 / 3"), (1 / 6, "1 / 6"),
)
# relative: nearer than the first is meant; nearer than the second is as good as float32 can be
_COARSE, _EXACT = 2e-3, 1.2e-7


def coarse_constant(file: LintedFile) -> Iterator[Finding]:
    for item in file.written.items:
        if not isinstance(item, (n.Rule, n.FnDecl)):
            continue
        for node in walk(item):
            if (
                not isinstance(node, n.Literal) or not isinstance(node.value, float)
                or len(node.text.replace(".", "").strip("0")) < 3
            ):
                continue
            for exact, form in _FORMS:
                if _EXACT < abs(node.value - exact) / exact < _COARSE and _is_rounding(node.text, exact):
                    yield finding(
                        "L0114", f"`{node.text}` only approximates {exact:.9g}", node.span,
                        f"`{form}` is exact to the dtype",
                    )
                    break


def _is_rounding(text: str, exact: float) -> bool:
    """True if the literal is the exact number, rounded or cut to its digits."""
    digits = len(text.partition(".")[2])
    return "e" not in text.lower() and abs(float(text) - exact) < 10.0**-digits
