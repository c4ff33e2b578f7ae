"""Suggested fixes for a token that the grammar does not accept: slips, and constructs of other languages."""

from __future__ import annotations

import re
from typing import Final

from gslang.base.suggest import did_you_mean
from gslang.syntax.accepted import SHOWN, is_expression, is_item

_AFTER_LISTS: Final = {"RPAR", "RSQB", "RBRACE", "ARROW", "SEMICOLON"}
_ITEM_WORDS: Final = {
    "rule": "rule",
    "rewrite": "rule",
    "pattern": "rule",
    "rules": "rule",
    "import": "use",
    "include": "use",
    "from": "use",
    "using": "use",
    "function": "fn",
    "func": "fn",
    "fun": "fn",
    "operator": "op",
    "let": "fn",
    "passes": "pass",
    "tests": "test",
    "fn": "fn",
    "op": "op",
    "pass": "pass",
    "test": "test",
    "use": "use",
    "dialect": "dialect",
    "param": "param",
    "parameter": "param",
}
TABLE_BEFORE: Final = re.compile(
    r"\brule\s+\w+\s*(?:\([^:;{}]*(?::[^:;{}]*)*\)\s*)?\bfor\b(?:(?!\bin\b)[^:{};])*(?P<in>\bin\b[^:{};]*)?\Z"
)
NAMED: Final = {
    "each": "`each b in 2.. { … }`", "chain": "`chain c in 2.. { … }`", "for": "`for a in x.shape`",
}
TABLE: Final = "a table is written `for A in Relu, Tanh` or `for (A, c) in (Add, 0), (Mul, 1)`"
_AFTER_TABLE: Final = {
    "where": "the conditions of a rule follow its source: `nn.relu(x) where x.ndim == 2 => x`",
    "for": "a rule has one table: write a row for each combination, `for (A, c) in (Add, 0), (Mul, 1)`",
}
_IN_A_TEST: Final = re.compile(r'\btest\s+"[^"\n]*"\s*for\b[^{}]*\{[^{}]*\Z')


def mend(found: str, before: str, expected: set[str], arrow: bool) -> str | None:
    """A suggested fix for the mistake in `found`: constructs of other languages, and slips of the pen.

    `arrow`: the item has one.
    """
    if is_item(expected):
        return _mend_item(found, before)
    keywords = {name.lower() for name in expected if name not in SHOWN and name.isalpha()}
    if "NAME" not in expected and found.isidentifier() and (meant := did_you_mean(found, keywords)):
        return f"did you mean `{meant}`?"
    if not found[0].isalnum() and before.endswith(found) and found not in "([{":
        return f"one `{found}` is enough: remove the second one"
    if found == "=>" and before.endswith((";", "{")):
        return "name the outputs before `=>`: `{ a = nn.relu(x); a => x }`"
    if found == "=>" and "ELSE" in expected:
        return "the conditions of a rule follow `where`: `nn.relu(x) where x.ndim == 2 => x`"
    if found in "};" and "ELSE" in expected and arrow:
        where = "conditions of a rule follow its source: `nn.relu(x) where x.ndim == 2 => x`"
        return f"a choice needs `else`; {where}"
    if found in "]);}" and "ELSE" in expected and "NAME" not in expected:
        return "a choice needs `else`: `a if condition else b`"
    if found == "}" and "ARROW" in expected and _IN_A_TEST.search(before):
        return "a test has two sides: `graph => graph afterwards`, or `graph => unchanged`"
    if found == "}" and "ARROW" in expected:
        return "both sides are written in one pair of braces: `{ source => target }`"
    if found == ";" and "REPEAT" in expected and before.endswith("}"):
        return "no `;` is needed after `}`: remove the `;`"
    if found == "-" and re.search(r"\b(rule|pass|fn)\s+\w+\Z", before):
        return "names consist of letters, digits and `_`"
    if len(expected) == 1 and (fix := _mend_the_only(found, before, *expected)) is not None:
        return fix
    if found == "|" and re.search(r":\s*(?:const|param|input|var)\Z", before):
        return "`fixed` is a parameter or a constant, `var` an input or a parameter, `any` each of them"
    if "COLON" in expected and re.search(r"\brule\s+\w+\s*(?:\([^()]*\)\s*)?(?:for\b[^:{}]*)?\Z", before):
        return "source and target follow a colon: `rule name(inputs): source => target;`"
    if "ARROW" in expected and before.endswith(";") and arrow:
        return "outputs are separated by `,`, and a statement has a name: `y = …;`"
    if "ARROW" in expected and re.search(r"\bmatch\b[^{}]*\{(?:[^{}]*,)?\s*\w+\Z", before):
        return "an arm begins with the name of an alternative: `match y { a => …, _ => … }`"
    if (fix := _mend_parameter(found, before)) is not None:
        return fix
    if found == "=" and "COMMA" in expected and expected & _AFTER_LISTS:
        return "within an expression, `:=` binds a name: `(y := …)`"
    if {"RESULT_ARROW", "EQUAL"} <= expected:
        if re.search(r"@extern\b[^;{}]*\Z", before):
            return "state the result of the Python function: `-> bool`"
        return "a function is written `fn name(x) = expression;`"
    if found == ";" and expected <= {"ARROW", "BOTH_ARROW"}:
        return "a rule has two sides: `source => target`"
    if is_expression(expected):
        return _mend_expression(found, before)
    if expected == {"COMMA", "IN"}:
        return "the names after `for` are followed by `in`: `for a in x.shape`"
    if "ARROW" in expected and not arrow:
        return "source and target are separated by `=>`"
    if "COMMA" in expected and expected & _AFTER_LISTS and re.match(r'[\w("\[;]', found):
        return "separate them with `,`"
    if re.fullmatch(r"[A-Za-z_]+", found) and "NAME" in expected:
        return f"`{found}` is a keyword: choose another name"
    return None


def _mend_parameter(found: str, before: str) -> str | None:
    """The fix for a mistake in the parameters of a function."""
    if found == "=" and re.search(r"\bfn\s+\w+\s*\([^()]*\Z", before):
        return "a parameter of a function has no default: each use gives all arguments"
    if found in "[?|" and re.search(r"\bfn\s+\w+\s*\([^()]*:\s*\w+\Z", before):
        return "the type of a parameter is one word: `tuple` for all tuples, `any` for several types"
    return None


def _mend_the_only(found: str, before: str, expected: str) -> str | None:
    """The fix where only one thing can follow."""
    match expected:
        case "LPAR" if before.endswith("?"):
            return "`?` stands in a call: `nn.relu?(x)`"
        case "LPAR" if before.endswith("where"):
            return "the conditions of a rule follow its outputs: `y where x.ndim == 2 => x`"
        case "COLON":
            return "give it a type: `x: tensor`, `k: int = 1`"
        case "EQUAL" if found == "}" and re.search(r"\b(?:each|chain)\b[^{}]*\{[^{}]*\Z", before):
            return "a block has statements only, `NAME = …;`; its nodes are read outside: `*branch.conv`"
        case "IN":
            word = "chain" if re.search(r"\bchain\s+\w+\Z", before) else "each"
            return f"the number of instances follows `in`: {NAMED[word]}"
        case "RESULT_ARROW":
            return "state its result: `-> tensor`"
    return None


def mend_table(found: str, before: str) -> str | None:
    """The fix for a mistake in the table of a family: in its names, or behind its rows."""
    table = TABLE_BEFORE.search(before)
    if table is None or not found:
        return None
    if table["in"] is None:
        return None if found.isidentifier() else TABLE  # that is a keyword
    return _AFTER_TABLE.get(found)


def _mend_item(found: str, before: str) -> str | None:
    if found == ";":
        why = "no `;` is needed after `}`" if before.endswith("}") else "one is enough"
        return f"{why}: remove the `;`"
    if found == "for":
        return "the table of a family follows its inputs: `rule r(x) for A in Relu, Tanh { … }`"
    if found in ("chain", "each", "keep", "match", "where"):
        return f"`{found}` is only allowed inside a rule"
    guess = _ITEM_WORDS.get(found.lower())
    if guess is not None:
        return f"write `{guess}`"
    meant = did_you_mean(found, set(_ITEM_WORDS.values()))
    return f"did you mean `{meant}`?" if meant else None


def _mend_expression(found: str, before: str) -> str | None:
    """The fix for something missing where an expression should begin."""
    if found == "if":
        return "a choice is written `a if condition else b`"
    if found == ",":
        return "an operand is missing: write `none` for one that is absent, or remove the `,`"
    if before.endswith(","):
        return "something is missing after the `,`: write it, or remove the `,`"
    if before.endswith("=>"):
        return "the target is missing: its outputs follow `=>`"
    if found == "=>" and before.endswith(":"):
        return "the source is missing: its outputs come before `=>`"
    if operator := re.search(r"(?:\b(?:and|or|not|in|where|if|else)|[-+*/%|]|[=!<>]=|[<>])\Z", before):
        return f"`{operator.group()}` needs an expression after it"
    if found == "*" and re.search(r"\bop\s*\(\Z", before):
        return "`op(_)` stands for any operator"
    if found in ("and", "or", "in", "is", "if", "else"):
        return f"`{found}` needs an expression before it"
    if re.fullmatch(r"[A-Za-z_]+", found):
        return f"`{found}` is a keyword: choose another name"
    return None
