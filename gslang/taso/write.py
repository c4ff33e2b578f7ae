"""Files of rules from TASO's substitutions: the operators and functions they share, and the rules.

Not here: one rule (`translate`), verdicts on them (`gslang.verify`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gslang.base.atomic_write import together, write_text
from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.taso.read import Substitution
from gslang.taso.shapes import ShapeMistake
from gslang.taso.translate import Rule, translate

_FUNCTIONS = """
fn product(a, b) = nn.matmul(a, b, transpose_a = false, transpose_b = false, out_dtype = "");

## Padding that keeps the size of an image; where it is odd, one more at the end.
fn same(height, width) = ((height - 1) // 2, (width - 1) // 2, height // 2, width // 2);

fn convolution(data, weight, padding, groups) =
    nn.conv2d(data, weight, strides = (1, 1), padding = padding, dilation = (1, 1), groups = groups,
              data_layout = "NCHW", kernel_layout = "OIHW", out_layout = "", out_dtype = "");
"""


def translate_all(rules: Sequence[Substitution], path: str, with_conditions: bool) -> list[Rule]:
    """Raises `InputError`, with `path` and the place, for a substitution whose shapes cannot be."""
    made = []
    for k, rule in enumerate(rules):
        try:
            made.append(translate(rule, with_conditions))
        except ShapeMistake as wrong:
            raise InputError(wrong.message, path=path, place=f"/{k}{wrong.place}") from None
    return made


def operators_text(rules: Sequence[Rule]) -> str:
    """The file that the rules use: fused operators with their meaning, functions."""
    fused = sorted(frozenset().union(*(rule.fused for rule in rules)))
    lines = ["#! What the translated substitutions of TASO share.", "dialect relay;", ""]
    for name in fused:
        kind, _, activation = name.removeprefix("taso.").partition("_")
        call = "nn.relu" if activation == "relu" else activation
        if kind == "matmul":
            inner = "nn.matmul(data, weight)"
            attributes = ""
        else:
            inner = "nn.conv2d(data, weight, padding = padding, groups = data.shape[1] // weight.shape[1])"
            attributes = ", padding: int[] = (0, 0, 0, 0)"
        lines += [
            f"op {name}(data: tensor, weight: tensor{attributes}) -> tensor {{",
            f"    value = {call}({inner})", "};",
        ]
    return "\n".join(lines) + _FUNCTIONS


def rules_text(rules: Sequence[Rule], with_conditions: bool) -> str:
    what = (
        "with the conditions that the file leaves out" if with_conditions
        else "as in the file, without side conditions"
    )
    return "\n".join([
        f"#! Substitutions of TASO's generator, {what}.",
        "dialect relay;", 'use "./operators.gsl";', "", *(r.text for r in rules),
    ])


def write_rules(
    rules: Sequence[Substitution], path: str, folder: str | Path, with_conditions: bool
) -> list[Path]:
    """Write `operators.gsl` and `taso.gsl` into `folder`, which is made if need be. Raises `InputError`."""
    made = translate_all(rules, path, with_conditions)
    with file_errors(folder, "cannot be written"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        files = [
            (Path(folder) / "operators.gsl", operators_text(made)),
            (Path(folder) / "taso.gsl", rules_text(made, with_conditions)),
        ]
        with together():
            for file, text in files:
                write_text(file, text)
    return [file for file, _ in files]
