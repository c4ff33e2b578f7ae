"""Forms of other languages, and common slips, where the grammar has none: what they are, and what is written
here instead.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

_HEADER: Final = r"\brule\s+\w+\s*(?:\([^{}=;]*\))?\s*"  # of a rule, up to its `:` or `{`
_SHAPE: Final = "write the sizes in brackets after the type: `x: input float32[2, 3]`"
_RULE: Final = "write `rule name(inputs): source => target;`"
_CONDITION: Final = "write them after the source's outputs: `rule r(x): Relu(x) where x.ndim == 2 => x;`"
_FUNCTION: Final = "write `fn name(x) = expression;`"
_KIND: Final = r":\s*(?:any|var|input|param|const|fixed)\s*"
_CONSTRAINTS: Final = 'constraints are written in parentheses: `x: any(dtype = "float32", ndim = 2)`'
_FREE: Final = (
    "an attribute that a call of the source does not mention may have any value; `c.*` copies them all"
)


@dataclass(frozen=True, slots=True)
class Form:
    """`before` ends where parsing stopped, `here` begins there. `back`: the group of `before` from which the
    message points; `if_expected`: the form is meant only where the grammar would take one of these."""

    before: re.Pattern[str] | None
    here: re.Pattern[str]
    message: str
    help: str
    back: int | None = None
    if_expected: frozenset[str] | None = None


def _form(before: str, here: str, message: str, help: str, back: int | None = None, *expected: str) -> Form:
    return Form(
        re.compile(f"(?:{before})\\Z") if before else None, re.compile(here), message, help, back,
        frozenset(expected) or None,
    )  # fmt: skip


_WHERE: Final = (
    _form(
        r"[\w)\]]\s+", r"(?:when|given|provided|with|having|requires)\b", "conditions follow `where`",
        "write `where` before them", None, "WHERE",
    ),
    _form(
        r"(,)\s*where\s+", r"[^\s(]", "unexpected `,` before `where`", "remove the `,`",
        1, "LPAR",
    ),
    _form(r":\s*(where)\s+", r"[^\s(]", "conditions belong after the source", _CONDITION, 1, "LPAR"),
    _form(r"\bwhere\s*", r":", "conditions follow `where` directly", "remove the `:`"),
    _form(
        r"\bwhere\b[^;{}]*", r"where\b", "a rule has only one `where`",
        "join its conditions with `,` or `and`", None, "ARROW",
    ),
    _form("", r";(?=\s*where\b)", "unexpected `;` before `where`", "remove the `;`", None, "ARROW"),
    _form(r"(;)\s*", r"where\b", "unexpected `;` before `where`", "remove the `;`", 1, "ARROW"),
    _form("", r";(?=\s*=>)", "unexpected `;` before `=>`", "remove the `;`", None, "ARROW"),
    _form(
        r"\bwhere\b[^;{}=]*(=>)[^;{}=]*", r"=>",
        "`=>` separates source and target; conditions compare with `>=`", "write `>=`", 1, "SEMICOLON",
    ),
    _form(
        "", r"=>", "a rule has only one `=>`", "write a rule for each step",
        None, "SEMICOLON", "RBRACE",
    ),
)

# The first one that fits is reported; what is special stands before what is general.
_FORMS: Final = (
    # words and signs for what gslang writes otherwise
    *(
        _form("", sign, f"`{sign}` is written `{ours}` here", f"write `{ours}`")
        for sign, ours in zip("→⇒⟹≤≥≠×÷−–∧∨¬", "=> => => <= >= != * / - - and or not".split())
    ),
    _form("", r"[“”„«»‘’]", "strings are written in double quotes", 'write `"…"`'),
    _form("", r"[\u00a0\u2000-\u200a\u202f\u3000]", "this is not a plain space", "write a plain space"),
    _form("", r"[\u200b-\u200f\u2060\ufeff]", "an invisible character", "remove it"),
    _form("", r"[$%?]\w", "names have no sign before them", "write the name alone", None, "NAME"),
    _form("", r"&&", "`&&` is `and` here", "write `and`"),
    _form(
        r"\bop\(\s*[\w.]+\s*", r"&", "`&` is not written between traits",
        "list what must hold: `op(elementwise, unary)`", 0,
    ),
    _form("", r"&", "`&` is `and` here", "write `and`"),
    _form("", r"=\s+>", "`= >` is not an arrow", "write `=>`"),
    _form(r"(=\s+)", r">", "`= >` is not an arrow", "write `=>`", 1),
    _form(r"(==)", r">", "`==>` is not an arrow", "write `=>`", 1),
    _form(r"(=)", r"=>", "`==>` is not an arrow", "write `=>`", 1),
    _form(
        r"(\|)", r"\|", "`||` is not an operator",
        "write `or` between conditions, `|` between alternatives", 1,
    ),
    _form("", r"!(?!=)", "`!` is `not` here", "write `not`"),
    _form("", r"=!(?!=)", "`=!` is not a comparison", "write `!=`"),
    _form("", r"=<", "`=<` is not a comparison", "write `<=`"),
    _form(r"(not)\s+", r"==", "`not ==` is not a comparison", "write `!=`", 1),
    _form("", r"is\s+not\b", "`is not` is not supported", "write `!=`"),
    _form("", r"is\b", "`is` is not supported", "write `==`; an optional operand is tested by `b == none`"),
    _form(r"(<)", r">", "`<>` is not a comparison", "write `!=`", 1),
    _form(r"(==)", r"=", "`===` is not a comparison", "write `==`", 1),
    _form(
        "", r"\^", "`^` is not an operator",
        "write `**` for powers of values; call the operator for tensors: `Pow(x, 2)`",
    ),
    _form(
        r"[\w)\]]\s*", r"@(?=\s*\w)", "`@` begins annotations",
        "call the operator: `MatMul(x, y)`", None, "ARROW",
    ),
    _form(
        r"\)(\?)\s*", r"[^\s(]", "`?` follows the name of an operator",
        "write `nn.relu?(x)`: it may be absent", 1, "LPAR",
    ),
    _form(
        r"[\w)\]][ \t]*", r"@(?=[ \t]*\w)", "`@` begins an annotation, which is written above its item",
        "move it there; a product is a call: `MatMul(x, y)`", None, "SEMICOLON",
    ),
    _form(
        r"\b[A-Za-z]\w*(?:\.\w+)*", r"\{", "operands are written in parentheses", "write `Relu(x)`",
        None, "ARROW",
    ),
    _form(
        r"\?\s*", r"[\w(-][^;{}:]*(?:[;{}]|\Z)", "operands are written in parentheses", "write `nn.relu?(x)`",
        None, "LPAR",
    ),
    _form(
        r"\?\s*", r"[\w(-]", "`? :` is not an operator",
        "write `a if condition else b`; for tensors, call `Where`", None, "LPAR",
    ),
    _form(
        r"[;{:]\s*(assert)\s+", r"[\w(]", "`assert` is not supported",
        "conditions follow the source's outputs: `y where y.ndim == 2 => x`", 1,
    ),
    _form("", r"lambda\b", "`lambda` is not supported", "declare a function: `fn name(x) = …;`"),
    _form(
        r"\b(lambda\s*)", r"[\w:*]", "`lambda` is not supported", "declare a function: `fn name(x) = …;`", 1
    ),
    _form(
        r"\b([fFrRbBuU])", r'"', "strings have no prefix",
        "write the string alone; `+` joins strings", 1,
    ),
    _form(
        r"\b(op\s*)", r"\.(?=\s*[A-Za-z])", "operators are called by their names", "write `Relu(x)`",
        1, "LPAR",
    ),
    _form(
        "", r"def\b", "`def` is not supported",
        "declare a function: `fn name(x) = …;`, or a rule: `rule name(x): … => …;`",
    ),
    _form(
        r"[;{]\s*(return)\s+", r"", "`return` is not supported",
        "write the outputs last: `… c => …`", 1,
    ),
    _form(r"[;{]\s*(let|auto|const|var)\s+", r"\w", "`{}` is not supported", "write `name = pattern;`", 1),
    _form("", r"'", "strings are written in double quotes", 'write `"…"`'),
    _form("", r"/[/*]", "comments begin with `#`", "write `# …`"),
    _form("", r"--", "comments begin with `#`", "write `# …`", None, "RULE"),
    # numbers and names
    _form("", r"\.[0-9]", "a number needs a digit before the decimal point", "write `0.5`"),
    _form(r"\b(0)", r"[xXbBoO][0-9a-fA-F]", "numbers are decimal", "write its decimal digits", 1),
    _form(r"\b([0-9]+)", r"_[0-9]", "numbers have no `_`", "write the digits without it", 1),
    _form(
        r"\b([0-9][0-9.]*(?:[eE][+-]?[0-9]+)?)", r"[fFlLuU]\b", "numbers have no suffix",
        "write it without the suffix", 1,
    ),
    _form(r"\b([0-9]+)", r"[A-Za-z_]", "a name begins with a letter or `_`", "begin it with a letter", 1),
    _form("", r"[^\x00-\x7f]", "identifiers are ASCII", "use letters, digits and `_`"),
    _form(
        r"\b(?:rule|fn|op|pass)\s+", r'[0-9"]', "a name begins with a letter or `_`",
        "write it without quotes or leading digits",
    ),
    _form(r"\brule\s*", r"[({:]", "a rule needs a name", _RULE),
    _form(
        r"\btest\s+\"[^\"\n]*\"\s*", r"[{(:]", "a test must name its rule",
        'write `test "…" for name { … }`',
    ),
    _form(r"\btest\s+", r"\w", "the title of a test is a string", 'write `test "…" for name { … }`'),
    # arrows and equals signs
    _form(
        r"(-)", r">", "`->` belongs to operator declarations; a rule is written with `=>`",
        "write `=>`", 1,
    ),
    _form("", r"->", "`->` belongs to operator declarations; a rule is written with `=>`", "write `=>`"),
    _form(r"\bfn\s+\w+\s*\([^()]*\)\s*", r":", "a function is written with `=`", _FUNCTION),
    _form(r"\bfn\s+\w+\s*\([^()]*\)\s*(=)", r">", "a function is written with `=`", _FUNCTION, 1),
    *_WHERE,
    _form(
        r"(?<![\w.])(?<!\bin )[A-Za-z_]\w*(?:\.\w+)*\.", r"\.(?=[A-Za-z_][\w.]*\s*\()",
        "the parts of a name are joined by one `.`", "remove the second one",
    ),
    _form(
        _HEADER, r"(?:where|if|when)\b", "conditions belong to the source", _CONDITION,
        None, "LBRACE",
    ),
    _form(r"\}\s*", r"(?:where|if|when)\b", "conditions belong to the source", _CONDITION),
    _form(r"\brule\s+\w+\s*", r"[\[<]", "inputs are written in parentheses", _RULE, None, "LBRACE"),
    _form(
        _HEADER, r"=>|[A-Za-z_(\[]", "source and target follow a colon, or are written in braces", _RULE,
        None, "LBRACE",
    ),
    _form(
        _HEADER + r":\s*", r"\{", "braces replace the colon",
        "write `rule name(inputs) { source => target }`",
    ),
    _form(
        r"=>\s*", r"\{", "the target belongs inside the braces of the rule",
        "write `{ source => y = Neg(x); y }`",
    ),
    _form("", r"==", "an attribute is constrained with `=`, not `==`", "write `=`", None, "EQUAL", "COMMA"),
    _form(r"[;{:]\s*\w+\s*", r":=", "a statement binds with `=`", "write `name = pattern;`"),
    _form(
        r"[(,]\s*\w+\s*", r":=", "`:=` needs parentheses; attributes are given with `=`",
        "write `(name := pattern)`, or `attribute = value`",
    ),
    _form("", r":=", "`:=` needs parentheses", "write `(name := pattern)`"),
    _form(
        r"[(,]\s*\w+\s*", r":", "attributes are given with `=`, not `:`", "write `attribute = value`",
        None, "EQUAL",
    ),
    _form(
        r"\(\s*\w+\s*", r"=(?![=>])", "`=` binds in a statement; an expression binds with `:=`",
        "write `(name := pattern)`", None, "BECOMES", "RPAR",
    ),
    _form(
        r"\bwhere\b[^;{}]*(?<!=>)", r"=(?![=>])", "`=` binds a name; conditions compare with `==`",
        "write `==`",
    ),
    _form(
        r"[;{]\s*\(?\s*(\w+(?:\s*,\s*\w+)+)\s*\)?\s*", r"=(?![=>])", "a statement binds one name",
        "name the call, `s = Split(x);`, and write `s.0` and `s.1` for its results", 1,
    ),
    _form(
        _HEADER + r":\s*(\w+(?:\s*,\s*\w+)*\s*)", r"=(?![=>])", "a rule with statements is written in braces",
        "write `rule name(inputs) { y = Relu(x); y => x }`", 1, "ARROW",
    ),
    _form(
        r"(==|>=|<-|<=)[^=;{}]*", r"[;}]", "source and target are separated by `=>`", "write `=>`",
        1, "ARROW",
    ),
    _form(
        r"\bpass\s+\w+\s*\{[^{}]*", r",", "the rules of a pass end with `;`",
        "write `pass name { rule; rule; }`",
    ),
    _form(
        r"\bpass\s+\w+\s*\{[^{}]*", r"\(", "the steps of a pass are names alone", "remove the parentheses",
        None, "SEMICOLON",
    ),
    _form(
        r"\brepeat\s+", r"\w", "the rules to repeat are written in braces", "write `repeat { rule; rule; }`",
    ),
    _form(
        r"\buse\s+\w+\s*", r"[/\\]", "the parts of a name are joined by `.`",
        "write `use std.onnx.common;`",
    ),
    _form(r"\bdialect\s*", r'["=:]', "a dialect is given by its name alone", "write `dialect onnx;`"),
    _form(
        r"@\w+\s+", r"[0-9\"\[]", "the arguments of an annotation are written in parentheses",
        "write `@opset(11..)`", None, "RULE",
    ),
    _form(
        r"\bpass\s+\w+\s*", r"[=:]", "the rules of a pass are written in braces",
        "write `pass name { rule; rule; }`",
    ),
    _form(
        r"(?:^|[;}])\s*", r"opset\b", "rules state the opset that they need",
        "write `@opset(17)` above the rule",
    ),
    _form(r"[;{]\s*(keep)\s+\w+\s*", r"=", "`keep` marks a pattern", "write `name = keep pattern;`", 1),
    _form(
        r"[;{]\s*\w+\s*(:)\s*\w+(?:\.\w+)*\s*", r"\(", "a statement binds with `=`, not `:`",
        "write `name = pattern;`", 1,
    ),
    _form(
        r"[(,]\s*\w+\s*(\[)[^\[\]]*", r",", "an attribute is given with `=`",
        "write `attribute = [1, 2]`", 1, "RSQB",
    ),
    _form(
        "", r"=(?![=>])", "`=` binds a name; source and target are separated by `=>`",
        "write `=>`", None, "ARROW",
    ),
    _form(
        r"\btest\b[^;]*(?:;[^;]*)*=\s*(?:input|param|const|var)\s+", r"\w",
        "inputs of a test are declared with `:`", "write `x: input float32[2, 3]`",
    ),
    _form(
        r"\bop\s[^;{}]*\{[^{}]*\b\w+\s*", r":", "the meaning of an operator is written with `=`",
        "write `{ shape = x.shape, dtype = x.dtype }`",
    ),
    _form(
        r"(?:[;{]|=>)\s*\w+\s*", r":", "`:` gives inputs a kind; a statement binds with `=`",
        "write `name = pattern;`",
    ),
    _form(
        r"=>[^{}]*;\s*", r"\w", "outputs come last, together", "write `y = …; y, z`: a `,` between outputs",
        None, "RBRACE",
    ),
    _form(r"[;{:]\s*", r"for\b", "`for` is not supported", "any number of branches: `each b in 2.. { … }`"),
    _form(r"[;{:]\s*", r"(?:if|when)\b", "conditions belong after the source", _CONDITION),
    _form(
        r"\b(?:each|chain)\b[^{};]*\.\.\s*[0-9]*\s*", r"\w",
        "the statements of an instance are written in braces", "write `each b in 2.. { … }`", None, "LBRACE",
    ),
    _form(r"\.(\.)", r"\.", "a range is written with two dots", "write `each b in 2.. { … }`"),
    # inputs, tests, calls
    _form(
        r"[(,]\s*\w+\s*", r";", "inputs are separated by commas", "write `rule name(x, y)`",
        None, "COLON",
    ),
    _form(
        r"[(,]\s*((?:any|var|input|param|const|fixed|tensor|bool|u?int[0-9]*|b?float[0-9]*)\s+)", r"\w+",
        "the kind of an input follows its name", "write `x: const`, or `x: any(dtype = \"float32\")`",
        1, "COLON",
    ),
    _form(
        r"[(,]\s*(\w+\s*)", r"\?", "an input that may be absent has a kind", "write `b: any?`",
        1, "COLON",
    ),
    _form(
        r"\brule\s+\w+\s*\([^(){}]*[(,]?\s*\b(\w+\s*)", r"=(?![=>])", "inputs have no defaults",
        "write `b: any?` for an input that may be absent", 1, "COLON",
    ),
    _form(_KIND, r"\w+\s*=", "constraints are written in parentheses", "write `c: const(value = 0)`"),
    _form(_KIND, r"=", "constraints are written in parentheses", "write `c: const(value = 0)`"),
    _form(r":\s*\w+\s*", r"<", "kinds have no type parameters", _CONSTRAINTS, None, "LPAR"),
    _form(r"\brule\s+\w+\s*\([^()]*:\s*\w+\s*", r"\[", "kinds have no shape", _CONSTRAINTS),
    _form(
        r":\s*(?:bool|u?int[0-9]+|b?float[0-9]+)\s*", r"\[", "a tensor of a test is an input or a constant",
        _SHAPE,
    ),
    _form(
        r":\s*(?:input|param|const|var)\s+((?:\w+\.)*\w+)", r"\.", "data types have no module before them",
        "write the data type alone: `x: input float32[2, 3]`", 1,
    ),
    _form(
        r":\s*(?:input|param|const|var)\s+\w+\s*\[[\w\s,]*", r'[?*"]|\.\.', "this is not a size",
        "write a number from 0, or a name for an unknown size: `float32[n, 3]`",
    ),
    _form(r":\s*(?:input|param|const|var)\s+\w+\s*", r"\(", "shapes are written in brackets", _SHAPE),
    _form(r"[(,]\s*(\*)", r"[,)]", "`*` alone has no meaning", _FREE, 1),
    _form(r"[(,]\s*(\.{1,2})", r"[.)]", "`...` has no meaning", _FREE, 1),
    _form(
        r"[(,]\s*(\*)", r"\*", "`**attributes` is not supported",
        "name the call, and copy its attributes with `c.*`", 1,
    ),
    _form(
        r"\brule\s+\w+\s*\((?:[^()]*,)?\s*", r"\*", "inputs are single tensors",
        "any number of operands: `each p in 2.. { … }`",
    ),
    _form(
        r"[^\S\n]*\b([A-Z]\w*|nn\.\w+|com\.microsoft\.\w+)[^\S\n]+", r"(?!(?:where|for)\b)[\w(]",
        "operands are written in parentheses", "write `Relu(x)`", None, "ARROW", "COMMA",
    ),
    _form(
        r"\bfor\b[^:;{}]*\bin\b[^:;{}]*,\s*", r"\{", "a row is missing after the `,`",
        "write it, or remove the `,`",
    ),
    _form(
        r"\[[^\[\]]*\bfor\b[^\[\]]*", r"for\b", "a comprehension has one `for`",
        "run over pairs, `[a + b for a, b in zip(s, t)]`, or join lists: `concat([[a, b] for a in s])`",
    ),
    _form(
        r":\s*(?:input|param|const|var)\s+\w+\s*\[[\w\s,]*", r"-", "sizes are not negative",
        "write a number from 0, or a name for an unknown size: `float32[n, 3]`",
    ),
    _form(r"[=(,\[]\s*", r"\{", "lists are written in brackets", "write `[1, 2]`", None, "LSQB"),
    _form(
        r"(?:[{;}]\s*)\w+\s*", r"\{", "both sides are written in one pair of braces",
        "write `rule name(inputs) { source => target }`",
    ),
)

_CAPTURE: Final = re.compile(r"\(\s*(\w+)\s*:=[^()]*\Z")


def foreign_form(text: str, at: int, expected: Set[str]) -> tuple[int, int, str, str] | None:
    """Where the form at `at` begins and ends, its message, and what to write. None: it is no known form.

    `expected`: names of the terminals that the grammar would take at `at`.
    """
    first = max(0, at - 400)
    before = text[first:at]
    width = len(word.group()) if (word := re.compile(r"\w+|=>|->|:=|[=!<>]=|\S").match(text, at)) else 0
    if text[at : at + 1] == "," and expected == {"RPAR"} and (capture := _CAPTURE.search(before)):
        named = capture[1]
        help = f"put each in its own parentheses: `(({named} := _), (other := _))`"
        return at, at + width, f"`({named} := …)` takes one pattern", help
    for form in _FORMS:
        if form.if_expected is not None and not form.if_expected & expected:
            continue
        if (match := form.here.match(text, at)) is None:
            continue
        found = form.before.search(before) if form.before is not None else None
        if form.before is not None and found is None:
            continue
        width = max(width, len(match.group()))
        if found is None or form.back is None:
            return at, at + width, form.message, form.help
        start, end = found.span(form.back)
        end = first + end if end < len(before) else at + width
        return first + start, end, form.message.replace("{}", found[form.back]), form.help
    return None
