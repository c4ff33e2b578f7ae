"""Syntax errors that teach: what was expected and where, and how to mend it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Source, Span
from gslang.base.suggest import did_you_mean
from gslang.syntax.brackets import Mismatched, Unclosed, Unopened, unpaired
from gslang.syntax.foreign_forms import foreign_form
from gslang.syntax.keywords import keyword_for_name

if TYPE_CHECKING:
    from lark import UnexpectedInput

_RANGE: Final = (
    "write `range(n)` to count up to a value: `[e for i in range(n)]`; for a number of instances given by a "
    "value, write `each b in n { … }`"
)

# Terminals as a person would write them.
_SHOWN: Final = {
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "EQUAL": "`=`",
    "ARROW": "`=>`",
    "RESULT_ARROW": "`->`",
    "DOT": "`.`",
    "NAME": "a name",
    "INT": "a number",
    "STRING": "a string",
    "DOUBLE_DOT": "`..`",
    "UNTIL": "`..<`",
    "BECOMES": "`:=`",
    "AT": "`@`",
    "QUESTION": "`?`",
    "STAR": "`*`",
    "BAR": "`|`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "SLASH": "`/`",
    "DOUBLE_SLASH": "`//`",
    "PERCENT": "`%`",
    "POWER": "`**`",
    "HOLE": "`_`",
    "BOTH_ARROW": "`<=>`",
    "FLOAT": "a number",
    "COMPARE": "a comparison",
}
_BRACKETS: Final = {"(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE"}

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
# Keywords that stand before something: misspelt, they are names to the parser, and it stops behind them.
_PREFIXES: Final = ("chain", "each", "keep", "match", "not", "ordered", "repeat")
_FAR: Final = 400  # characters before an error that are looked at
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\w+|=>|<=>|->|:=|[=!<>]=|\S')
_BROKEN_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*$', re.MULTILINE)
_STRING: Final = re.compile(r'\s*"(?:[^"\\\n]|\\.)*"')
_COMMENT: Final = re.compile(r"/[/*]|--|'")  # of another language: what follows is none of this one's
_WORD_BEFORE: Final = re.compile(r"(\w+)\s*\Z")
_TABLE_BEFORE: Final = re.compile(
    r"\brule\s+\w+\s*(?:\([^:;{}]*(?::[^:;{}]*)*\)\s*)?\bfor\b(?:(?!\bin\b)[^:{};])*(?P<in>\bin\b[^:{};]*)?\Z"
)
_NAMELESS: Final = re.compile(r"\b(for|each|chain)\b\s*(?:\(\s*)?(?:\w+\s*,\s*)*\Z")
_IN: Final = re.compile(r"in\b(?!\s*(?:[,){]|in\b))")
_NAMED: Final = {
    "each": "`each b in 2.. { … }`", "chain": "`chain c in 2.. { … }`", "for": "`for a in x.shape`",
}
_TABLE: Final = "a table is written `for A in Relu, Tanh` or `for (A, c) in (Add, 0), (Mul, 1)`"
_AFTER_TABLE: Final = {
    "where": "the conditions of a rule follow its source: `nn.relu(x) where x.ndim == 2 => x`",
    "for": "a rule has one table: write a row for each combination, `for (A, c) in (Add, 0), (Mul, 1)`",
}
_COMPARED: Final = re.compile(r"\b(?:where|and|or|not|if)\b[^;{}]*\bin\s+[\w.]+\s*\Z")
_OPEN_DECIMAL: Final = re.compile(r"(?<![\w.])([0-9]+\.)\s*\Z")
_BLOCK: Final = re.compile(r"(?:each|chain)\s+\w+\s+in\b")
_IN_A_BLOCK: Final = re.compile(r"\b(?:each|chain)\s+\w+\s+in\b[^{}]*\{[^{}]*\Z")
_IN_A_TEST: Final = re.compile(r'\btest\s+"[^"\n]*"\s*for\b[^{}]*\{[^{}]*\Z')
_BEFORE_OPERAND: Final = re.compile(r"(?:[A-Z]\w*|\w+(?:\.\w+)+)\s*\Z")  # an operator whose `(` is missing


def explain_syntax_error(
    source: Source, text: str, code: str, at: int, error: UnexpectedInput, item: tuple[int, int]
) -> Diagnostic:
    """The diagnostic of a place where parsing cannot go on.

    `code` is the text without comments and strings; `item`: where the item that is at fault begins and ends.
    """
    expected = _expected(error)
    rest = text[at:]
    width = len(match.group()) if (match := _TOKEN.match(rest)) else 0
    here = Span(source, at, at + width)
    if _BROKEN_STRING.match(rest):
        return _broken_string(text, here)
    if not _COMMENT.match(rest) and (fault := unpaired(code, *item)) is not None:
        return _unpaired(source, text, code, at, expected, fault)
    if (nameless := _without_name(source, code, item[0], at)) is not None:
        return nameless
    if (help := _mend_table(rest[:width], code[max(item[0], at - _FAR) : at])) is not None:
        message = f"expected {_list(expected)}, found `{rest[:width]}`"
        return Diagnostic("E0102", message, Label(here), help=help)
    if number := _OPEN_DECIMAL.search(text, max(item[0], at - _FAR), at):
        return Diagnostic(
            "E0106", "a number needs a digit after the decimal point", Label(Span(source, *number.span(1))),
            help=f"write `{number[1]}0`",
        )
    if _BLOCK.match(code, at) and _IN_A_BLOCK.search(code, item[0], at):
        return Diagnostic(
            "E0404", "blocks cannot be nested", Label(here), help="write out the inner one for a fixed number"
        )
    if (word := keyword_for_name(code, item[0], at, expected)) is not None:
        return _keyword_as_name(Span(source, *word))
    if (misspelt := _misspelt(source, text, at, rest[:width])) is not None:
        return misspelt
    previous = _end_before(text, code, at)
    names_only = expected == {"COMMA", "IN"}  # what is behind them is no form of its own
    if not names_only and (form := foreign_form(text, at, expected)) is not None:
        start, end, message, hint = form
        return Diagnostic("E0106", message, Label(Span(source, start, end)), help=hint)
    if (dots := _bounds(text, at, previous)) is not None:
        compared = _COMPARED.search(text, item[0], dots) is not None
        return _misplaced_range(Span(source, dots, dots + 2), compared)
    gap = Label(Span(source, previous, previous), "expected `;` here")
    if not rest.strip() or width == 0:
        if "SEMICOLON" in expected:
            return Diagnostic("E0103", "a `;` is missing", gap, help="end statements and items with `;`")
        return Diagnostic(
            "E0102", f"expected {_list(expected)}, but the file ends here", Label(here),
            help="complete the last item of the file, or remove it",
        )
    found = f"`{rest[:width]}`"
    if "SEMICOLON" in expected and not expected & {"ARROW", "RBRACE"}:
        return Diagnostic(
            "E0103", "a `;` is missing", gap, related=(Label(here, f"before {found}"),),
            help="end statements and items with `;`",
        )
    help = _mend(rest[:width], text[max(0, previous - _FAR) : previous], expected, "=>" in code[slice(*item)])
    return Diagnostic("E0102", f"expected {_list(expected)}, found {found}", Label(here), help=help)


def _misplaced_range(dots: Span, compared: bool) -> Diagnostic:
    if compared:
        return Diagnostic(
            "E0102", "`..` is no value of a condition", Label(dots),
            help="compare: `2 <= x.ndim <= 4`, or list the values: `x.ndim in (2, 3)`",
        )
    return Diagnostic("E0102", "the bounds of a range must be numbers", Label(dots), help=_RANGE)


def between_items(error: UnexpectedInput, before: str) -> bool:
    """True if the item before the place where parsing stopped is complete."""
    return _is_item(_expected(error)) and before.rstrip()[-1:] in ("", ";", "}")


def _expected(error: UnexpectedInput) -> set[str]:
    """Names of the terminals that the grammar would take."""
    accepted = (
        getattr(error, "accepts", None) or getattr(error, "allowed", None) or getattr(error, "expected", None)
    )
    return set(map(str, accepted or ()))


def _broken_string(text: str, here: Span) -> Diagnostic:
    word = re.search(r"[A-Za-z_]\w*\Z", text[max(0, here.start - _FAR) : here.start])
    help = f'write `"{word.group()}"`' if word else 'close it with `"`'
    return Diagnostic("E0104", "this string is not terminated", Label(here), help=help)


def _unpaired(
    source: Source, text: str, code: str, at: int, expected: set[str],
    fault: Unclosed | Unopened | Mismatched,
) -> Diagnostic:
    """The diagnostic of a bracket without its partner: at the bracket, or where the partner is missing."""
    if isinstance(fault, Unopened):
        return _unopened(source, text, code, at, expected, fault.closing)
    opened = Label(Span(source, fault.opening, fault.opening + 1), "opened here")
    bracket = code[fault.opening]
    if isinstance(fault, Mismatched):
        wrong, right = code[fault.closing], {"(": ")", "[": "]", "{": "}"}[bracket]
        return Diagnostic(
            "E0105", f"`{bracket}` is closed by `{wrong}`",
            Label(Span(source, fault.closing, fault.closing + 1)), related=(opened,),
            help=f"close it with `{right}`",
        )
    stopped = fault.opening < at < fault.before and _BRACKETS[fault.closing[0]] in expected
    gap = _end_before(text, code, at if stopped else fault.before)
    return Diagnostic(
        "E0105", f"`{bracket}` is never closed", opened,
        related=(Label(Span(source, gap, gap), f"expected `{fault.closing}` here"),),
        help=f"close it with `{fault.closing}`" if len(fault.closing) == 1
        else f"close it, and the brackets around it, with `{fault.closing}`",
    )


def _unopened(
    source: Source, text: str, code: str, at: int, expected: set[str], closing: int
) -> Diagnostic:
    """The diagnostic of a closing bracket: its partner is missing where parsing stopped before it, if it may
    stand there.
    """
    closed = Span(source, closing, closing + 1)
    bracket = {")": "(", "]": "[", "}": "{"}[code[closing]]
    inside = code.count("(", 0, at) > code.count(")", 0, at)
    missing = at < closing and _BRACKETS[bracket] in expected
    if missing and (bracket != "(" or not inside or _BEFORE_OPERAND.search(text[max(0, at - _FAR) : at])):
        gap = _end_before(text, code, at)
        return Diagnostic(
            "E0105", f"a `{bracket}` is missing", Label(Span(source, gap, gap), f"expected `{bracket}` here"),
            related=(Label(closed, "closed here"),), help=f"open it with `{bracket}`",
        )
    return Diagnostic(
        "E0105", f"`{code[closing]}` has no opening bracket", Label(closed),
        help=f"remove it, or open it with `{bracket}`",
    )


def _keyword_as_name(word: Span) -> Diagnostic:
    help = f"`{word.text}` is a keyword: choose another name"
    return Diagnostic("E0102", f"expected a name, found `{word.text}`", Label(word), help=help)


def _without_name(source: Source, code: str, start: int, at: int) -> Diagnostic | None:
    """The diagnostic of `for`, `each` or `chain` with an `in` right behind it, or behind a comma."""
    before = code[max(start, at - _FAR) : at]
    word = _NAMELESS.search(before)
    if word is None or not _IN.match(code, at):
        return None
    named = _TABLE if _TABLE_BEFORE.search(before) else f"write {_NAMED[word[1]]}"
    return Diagnostic("E0102", "expected a name before `in`", Label(Span(source, at, at + 2)), help=named)


def _misspelt(source: Source, text: str, at: int, found: str) -> Diagnostic | None:
    """The diagnostic of a word before the place where parsing stopped that was to be a keyword; a word that
    stands elsewhere too is a name.
    """
    word = _WORD_BEFORE.search(text, max(0, at - _FAR), at)
    if (
        word is None or not re.match(r"[\w({]", found) or not (word[1].islower() or word[1].isupper())
        or len(re.findall(rf"\b{word[1]}\b", text)) > 1
    ):
        return None
    meant = did_you_mean(word[1], _PREFIXES)
    if meant is None or meant == word[1]:
        return None
    return Diagnostic(
        "E0102", f"`{word[1]}` is not a keyword", Label(Span(source, *word.span(1))),
        help=f"did you mean `{meant}`?",
    )


def _bounds(text: str, at: int, previous: int) -> int | None:
    """Where the `..` of a range stands whose bounds are no numbers, if parsing stopped there."""
    dots = at - 1 if text[at - 1 : at + 1] == ".." else at if text.startswith("..", at) else previous - 2
    if not text[: max(dots, 0)].strip() or text[dots : dots + 2] != "..":
        return None
    bound = dots >= at - 1 or re.compile(r"(?!\w+\s*=[^=])[\w(-]").match(text, at)
    return dots if bound else None


def _end_before(text: str, code: str, at: int) -> int:
    """Where the last token before an offset ends; a comment is none."""
    end = len(code[:at].rstrip())
    while (string := _STRING.match(text, end, at)) is not None and not code[end : string.end()].strip():
        end = string.end()
    return end


def _mend(found: str, before: str, expected: set[str], arrow: bool) -> str | None:
    """A suggested fix for the mistake in `found`: constructs of other languages, and slips of the pen.

    `arrow`: the item has one.
    """
    if _is_item(expected):
        return _mend_item(found, before)
    keywords = {name.lower() for name in expected if name not in _SHOWN and name.isalpha()}
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
    if _is_expression(expected):
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
            return f"the number of instances follows `in`: {_NAMED[word]}"
        case "RESULT_ARROW":
            return "state its result: `-> tensor`"
    return None


def _mend_table(found: str, before: str) -> str | None:
    """The fix for a mistake in the table of a family: in its names, or behind its rows."""
    table = _TABLE_BEFORE.search(before)
    if table is None or not found:
        return None
    if table["in"] is None:
        return None if found.isidentifier() else _TABLE  # that is a keyword
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


def _is_expression(expected: set[str]) -> bool:
    return {"NAME", "INT", "STRING", "LPAR"} <= expected


def _is_item(expected: set[str]) -> bool:
    return {"RULE", "FN", "PASS"} <= expected and "NAME" not in expected  # those are names of attributes, too


def _list(expected: set[str]) -> str:
    if _is_expression(expected):
        return "an expression"
    if _is_item(expected):
        return "an item (`rule`, `fn`, `op`, `param`, `pass`, `test`, `use`)"
    if {"RULE", "FN", "PASS"} <= expected:
        return "the name of an attribute"
    shown = sorted({
        _SHOWN.get(name, f"`{name.lower()}`")
        for name in expected if not name.startswith("__") and name != "BOTH_ARROW"
    })
    if len(shown) > 4:
        first: list[str] = ["`;`", "`=>`", "`)`", "`]`", "`}`", "`,`", "`:`", "`=`", "a name"]
        shown = [s for s in first if s in shown][:3] or shown[:3]
    if not shown:
        return "something else"
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
