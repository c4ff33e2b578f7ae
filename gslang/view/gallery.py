"""Rules as one HTML file: each as a picture with its text, documentation, conditions, verdict and tests.

Like the page of a graph it opens without a network, loads nothing, and may run only its own script.
"""

from __future__ import annotations

import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gslang.base.deadline import Deadline, deadline
from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.shown_file import shown_file
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.formats.picture import printable
from gslang.formats.rule_picture import rule_svg
from gslang.syntax.item_texts import rule_text, test_texts

if TYPE_CHECKING:
    from gslang.testing import Outcome
    from gslang.verify.verdict import Verdict

_ASSETS: Final = Path(__file__).parent / "assets"


@dataclass(frozen=True, slots=True)
class Card:
    """A rule of a gallery.

    `verdict` None: not known. `tests`: title, text, and the problem of one that fails.
    """

    rule: CheckedRule
    verdict: Verdict | None
    tests: tuple[tuple[str, str, str | None], ...]


def cards(
    rules: Iterable[tuple[CheckedProgram, CheckedRule]],
    seconds: float,
    watch: Callable[[str], None] = lambda name: None,
) -> list[Card]:
    """A card for each rule.

    Verdicts that no earlier run has found are found now, as far as `seconds` of processor time go.
    """
    from gslang.testing import run_tests
    from gslang.verify.known import cache_key, cached_verdict

    made, outcomes = [], dict[int, list["Outcome"] | None]()
    until = deadline(seconds)
    for program, rule in rules:
        watch(rule.name)
        if id(program) not in outcomes:
            try:
                outcomes[id(program)] = run_tests(program)
            except InputError:  # a package is missing that types of operators come from
                outcomes[id(program)] = None
        found = cached_verdict(cache_key(program, rule.name))
        if found is None and not until.passed:
            found = _verdict(program, rule, until)
        problems = {o.title: o.problem for o in outcomes[id(program)] or () if o.rule == rule.name}
        made.append(Card(
            rule, found,
            tuple(
                (title, text, problems.get(title))
                for title, text in test_texts(rule.span.source, rule.name)
            ),
        ))
    return made


def _verdict(program: CheckedProgram, rule: CheckedRule, until: Deadline) -> Verdict | None:
    from gslang.verify.verdict import Settings, verify

    seconds = min(Settings().seconds, until.left)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        try:
            return verify(rule, Settings(seconds), (program,))
        except InputError:
            return None


def gallery(title: str, found: Sequence[Card]) -> str:
    """The page as text. Equal cards give equal bytes."""
    style, script = ((_ASSETS / name).read_text(encoding="utf-8") for name in ("gallery.css", "gallery.js"))
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; img-src data:"
    )
    name = " ".join(title.encode(errors="replace").decode().split())
    parts = {
        "policy": escape(policy),
        "style": style,
        "program": script,
        "title": escape(name),
        "count": f"{len(found)} rule{'s' * (len(found) != 1)}",
        "cards": "\n".join(map(_article, found)),
    }
    return re.sub(
        r"@@(\w+)@@", lambda mark: parts[mark[1]], (_ASSETS / "gallery.html").read_text(encoding="utf-8")
    )


def _article(card: Card) -> str:
    rule = card.rule
    badges = (
        [f'<span class="verdict {card.verdict.verdict}">{card.verdict.verdict}</span>'] if card.verdict
        else ['<span class="verdict">not verified</span>']
    )
    badges += [f'<span class="tag">{_text(tag)}</span>' for tag in rule.tags]
    parts = [f'<h2><a href="#{_text(rule.name)}">{_text(rule.name)}</a> {" ".join(badges)}</h2>']
    if rule.doc:
        parts.append(f'<p class="doc">{_text(rule.doc)}</p>')
    parts.append(
        '<figure tabindex="0" role="group" aria-label="source and target of '
        f'{_text(rule.name)}">{rule_svg(rule)}</figure>'
    )
    parts.append(code_html(rule_text(rule.span.source, rule.name, documentation=False)))
    if conditions := _conditions(rule):
        parts.append(
            "<h3>Conditions</h3><ul>" + "".join(f"<li>{_text(line)}</li>" for line in conditions) + "</ul>"
        )
    if card.verdict is not None:
        instances = f" ({card.verdict.instances} instances)" if card.verdict.instances else ""
        parts.append(
            f"<h3>Verdict</h3><p>{_text(card.verdict.verdict)}: {_text(card.verdict.reason)}{instances}</p>"
        )
        if card.verdict.counterexample is not None:
            parts.append(code_html(card.verdict.counterexample.test))
    if card.tests:
        parts.append("<h3>Tests</h3>" + "".join(map(_test, card.tests)))
    line = rule.span.line_column[0]
    parts.append(f'<p class="where">{_text(shown_file(rule.span.source.name))}, line {line}</p>')
    return f'<article id="{_text(rule.name)}" aria-label="{_text(rule.name)}">{"".join(parts)}</article>'


def _test(test: tuple[str, str, str | None]) -> str:
    title, text, problem = test
    mark = '<span class="failed">fails</span>' if problem else ""
    why = f'<p class="failed">{_text(problem)}</p>' if problem else ""
    return f"<details><summary>{_text(title)} {mark}</summary>{why}{code_html(text)}</details>"


def _conditions(rule: CheckedRule) -> list[str]:
    """The conditions besides the shape of the pattern, in words."""
    found = [" ".join(span.text.split()) for span in rule.where_spans]
    for block in rule.blocks:
        found += [f"for each {block.name}: {' '.join(span.text.split())}" for span in block.where_spans]
    if rule.opset != (None, None):
        low, high = rule.opset
        found.append(
            f"operator set {low} only" if low == high
            else (
                "operator set "
                f"{'' if low is None else f'{low} '}{'or newer' if high is None else f'to {high}'}"
            )
        )
    if rule.once:
        found.append("at most once at each location (@once)")
    if rule.approximate is not None:
        found.append(f"results may differ by {rule.approximate:g} relatively (@approximate)")
    return found


def code_html(text: str) -> str:
    """Rule text in a `<pre>`, coloured by classes where Pygments is installed."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
    except ImportError:
        return f'<pre tabindex="0">{_text(text)}</pre>'
    from gslang.highlight.gsl_lexer import GslangLexer

    coloured = highlight(_printable(text), GslangLexer(), HtmlFormatter(nowrap=True))
    return f'<pre tabindex="0">{coloured.rstrip()}</pre>'


def _text(text: str) -> str:
    return escape(_printable(text))


def _printable(text: str) -> str:
    """Without characters that no HTML file may have."""
    return printable(text, "\n\t")
