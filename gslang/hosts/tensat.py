"""Tensat's rules, `(matmul ?a (matmul ?b ?c))=>(matmul (matmul ?a ?b) ?c)`, as substitutions of TASO's
operators.

Lines are rules; in a file of rules with several outputs two lines are one rule. Tensat states no conditions:
it asks TASO whether a target can be built. Operators: `matmul` and `conv2d` with activations, `ewadd`,
`ewmul`, `relu`, `concat`, `split` with `split_0` and `split_1`. Files of two ages are read: a product may
state its activation or not, a concatenation its rank or not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Union

from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import read_text
from gslang.base.suggest import did_you_mean
from gslang.hosts.judged import Given
from gslang.taso.read import Operator, Substitution, Tensor
from gslang.taso.shapes import ShapeMistake
from gslang.taso.translate import translate
from gslang.taso.write import operators_text

Item = Union[str, list["Item"]]
_KINDS = {
    "ewadd": "OP_EW_ADD",
    "ewmul": "OP_EW_MUL",
    "relu": "OP_RELU",
    "matmul": "OP_MATMUL",
    "conv2d": "OP_CONV2D",
    "concat": "OP_CONCAT",
    "split": "OP_SPLIT",
}
_NUMBER = re.compile(r"[0-9]{1,9}")
_UNKNOWN = (
    "smul", "enlarge", "merge", "Iconv", "Cpool", "poolavg", "poolmax", "transpose", "dropout", "Imatmul",
    "Iewmul",
)


class _NoRule(Exception):
    """A line that is no rule here."""


@dataclass(slots=True)
class _Side:
    """Operators so far.

    `inputs`: variable → its number, from −1 down; `known`: expressions that have an operator.
    """

    inputs: dict[str, int]
    target: bool
    operators: list[Operator] = field(default_factory=list)
    known: dict[str, Tensor] = field(default_factory=dict)

    def tensor(self, item: Item) -> Tensor:
        if isinstance(item, str):
            if not item.startswith("?"):
                raise _NoRule(f"`{item}` occurs where a tensor is expected")
            if item not in self.inputs:
                if self.target:
                    raise _NoRule(f"the target reads `{item}`, which the source does not have")
                self.inputs[item] = -1 - len(self.inputs)
            return Tensor(self.inputs[item])
        key = repr(item)
        if key not in self.known:
            self.known[key] = self.call(item)
        return self.known[key]

    def call(self, item: list[Item]) -> Tensor:
        name = item[0] if item else ""
        if not isinstance(name, str) or not name:
            raise _NoRule("an operator is expected after (")
        if name in ("split_0", "split_1"):
            if len(item) != 2 or not isinstance(item[1], list) or item[1][:1] != ["split"]:
                raise _NoRule(f"`{name}` takes a split")
            return Tensor(self.tensor(item[1]).op, int(name[-1]))
        if name not in _KINDS:
            guess = did_you_mean(name, (*_KINDS, "split_0", "split_1"))
            known = "" if guess is None else f"; did you mean `{guess}`?"
            raise _NoRule(
                f"`{name}` has no meaning here" if name in _UNKNOWN
                else f"unknown operator `{name}`{known}"
            )
        numbers = [int(part) for part in item[1:] if isinstance(part, str) and _NUMBER.fullmatch(part)]
        parts = [part for part in item[1:] if not (isinstance(part, str) and _NUMBER.fullmatch(part))]
        params = _params(name, numbers)
        wanted = 1 if name in ("relu", "split") else 2
        if len(parts) != wanted:
            raise _NoRule(f"`{name}` has {wanted} operand{'s' * (wanted > 1)}, not {len(parts)}")
        operands = tuple([self.tensor(part) for part in parts])
        self.operators.append(Operator(_KINDS[name], operands, params))
        return Tensor(len(self.operators) - 1)


def _params(name: str, numbers: list[int]) -> dict[str, int]:
    match name, numbers:
        case "conv2d", [height, width, pad, activation] if pad < 2 and activation < 4:
            if (height, width) != (1, 1):
                raise _NoRule(f"a stride of {height}, {width}: only 1, 1 is translated")
            return {"PM_STRIDE_H": height, "PM_STRIDE_W": width, "PM_PAD": pad, "PM_ACTI": activation}
        case "matmul", ([] | [_]) if not numbers or numbers[0] < 4:
            return {"PM_ACTI": numbers[0] if numbers else 0}
        case "concat", ([_] | [_, _]) if numbers[0] < 4 and (len(numbers) == 1 or 0 < numbers[1] < 5):
            return {"PM_AXIS": numbers[0]} | ({"PM_NUMDIM": numbers[1]} if len(numbers) == 2 else {})
        case "split", [axis] if axis < 4:
            return {"PM_AXIS": axis}
        case ("ewadd" | "ewmul" | "relu"), []:
            return {}
    usual = {
        "conv2d": "stride height, stride width, padding (0 or 1) and activation (0 to 3)",
        "concat": "an axis and a rank",
        "split": "an axis",
    }
    raise _NoRule(
        f"`{name}` takes {usual.get(name, 'no numbers')}, not {', '.join(map(str, numbers)) or 'nothing'}"
    )


def read_tensat(path: str | Path) -> tuple[list[Given], str]:
    """The rules of a file, and what their operators are.

    A line that is no rule here is refused by itself. Raises `InputError`.
    """
    shown = str(path)
    lines, count = _lines(path)
    found: list[Given] = []
    fused: list[object] = []
    for first in range(0, len(lines), count):
        number = lines[first][0]
        name = f"tensat_{first // count:03}"
        try:
            rule = _substitution(
                [(k, line, shown) for k, line in lines[first : first + count]], first // count
            )
            made = translate(rule, False)
        except (_NoRule, ShapeMistake) as wrong:
            message = wrong.message if isinstance(wrong, ShapeMistake) else str(wrong)
            found.append(Given(name, f"line {number}", "", message))
            continue
        fused.append(made)
        found.append(Given(
            name, f"line {number}",
            made.text.replace(made.name, name).replace(f"## Substitution {rule.index}.\n", ""),
        ))
    head = operators_text(fused).partition("\n")[2].lstrip()  # type: ignore[arg-type]
    return found, head + "\n"


def _lines(path: str | Path) -> tuple[list[tuple[int, str]], int]:
    """The lines of a file with their numbers, and how many of them are one rule: two where rules have several
    outputs. Raises `InputError`.
    """
    shown = str(path)
    try:
        with file_errors(path, "cannot be read"):
            text = read_text(path)
    except UnicodeDecodeError:
        raise InputError(
            "not a text file", path=shown, help="give Tensat's rules: (relu (relu ?x))=>(relu ?x)"
        ) from None
    lines = [
        (k, line.strip())
        for k, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith(("#", "//"))
    ]
    if not lines:
        raise InputError("no rules found", path=shown, help="write (relu (relu ?x))=>(relu ?x)")
    for number, line in lines:
        if line.count("=>") != 1:
            raise InputError(
                "a rule is two terms separated by `=>`", path=shown, place=f"{number}:1",
                help="(relu (relu ?x))=>(relu ?x)",
            )
    count = (
        2
        if any(
            "(split_" in line.partition("=>")[2] and "(split_" not in line.partition("=>")[0]
            for _, line in lines
        )
        else 1
    )
    if len(lines) % count:
        raise InputError(
            "the second line of a rule with several outputs is missing", path=shown,
            place=f"{lines[-1][0]}:1",
        )
    return lines, count


def _substitution(lines: Sequence[tuple[int, str, str]], index: int) -> Substitution:
    inputs: dict[str, int] = {}
    source, target = _Side(inputs, False), _Side(inputs, True)
    sides = [
        tuple(_term(part, number, path, line) for part in line.split("=>")) for number, line, path in lines
    ]
    left = [source.tensor(item) for item, _ in sides]
    right = [target.tensor(item) for _, item in sides]
    if any(tensor.op < 0 for tensor in left):
        raise _NoRule("the source is a variable")
    if any(tensor.op < 0 for tensor in right):
        raise _NoRule("the target is a variable: its rank is not known from TASO's operators")
    if any(operator.kind == "OP_SPLIT" for operator in source.operators):
        raise _NoRule("a split in a source: its position is not in the file")
    return Substitution(index, tuple(source.operators), tuple(target.operators), tuple(zip(left, right)))


def _term(text: str, number: int, path: str, line: str) -> Item:
    tokens = list(re.finditer(r"[()]|[^\s()]+", text))
    at = 0
    offset = line.find(text)

    def fail(message: str, place: int) -> InputError:
        return InputError(
            message, path=path, place=f"{number}:{offset + place + 1}", help="(relu (relu ?x))=>(relu ?x)"
        )

    def item(depth: int) -> Item:
        nonlocal at
        if at >= len(tokens) or depth > 200:
            why = "a term is not closed" if depth <= 200 else "a term is nested too deeply"
            raise fail(why, len(text.rstrip()))
        token = tokens[at]
        at += 1
        if token[0] == ")":
            raise fail("`)` has no opening bracket", token.start())
        if token[0] != "(":
            return token[0]
        parts: list[Item] = []
        while at < len(tokens) and tokens[at][0] != ")":
            parts.append(item(depth + 1))
        if at >= len(tokens):
            raise fail("`(` is not closed", token.start())
        at += 1
        return parts

    found = item(0)
    if at < len(tokens):
        raise fail(f"`{tokens[at][0]}` follows the term", tokens[at].start())
    return found
