"""Relay text → graph: the file as a whole, and which of its functions is wanted."""

from __future__ import annotations

import re
from typing import Final

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import Type
from gslang.formats.misfits import MISFIT_KEY
from gslang.formats.relay.body import Body
from gslang.formats.relay.context import Context
from gslang.formats.relay.function import Function, read_function
from gslang.formats.relay.inline import inlined
from gslang.formats.relay.lexer import END, Tokens
from gslang.formats.relay.metadata import Metadata, read_metadata
from gslang.formats.relay.module import FN, META_KEY, OLD_VERSION_LINE, VERSION_LINE, RelayModule
from gslang.formats.relay.nested import read_nested
from gslang.formats.relay.problems import Problems, UnsupportedConstruct
from gslang.formats.relay.result_types import complete_types
from gslang.formats.relay.spellings import GUESS, UNSTATED
from gslang.graph.graph import INPUT, Graph
from gslang.graph.inference import contradiction
from gslang.graph.known_calls import mark_opaque_calls

_HEADER: Final = re.compile(
    r"\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*(?:#\[\s*version\s*=\s*\"([^\"]*)\"\s*\]|(v\d+(?:\.\d+)+)\b)",
    re.DOTALL,
)
_METADATA: Final = re.compile(r"^[ \t]*#\[metadata\]", re.MULTILINE)
_OLD_METADATA: Final = re.compile(r"^METADATA:", re.MULTILINE)
VERSIONS: Final = ("0.0.5", "v0.0.4")


@dataclass
class _Definition:
    """Tokens `start` … `end - 1`; `function` is None for type definitions and for functions that were
    skipped.
    """

    name: str
    start: int
    end: int
    function: Function | None = None


def read_relay(
    text: str, path: str, *,
    function: str = "main",
    inline: bool = False,
    skip_unsupported: bool = False,
    dialect: Dialect | None = None,
) -> Graph:
    """The graph of one function of a Relay file; `path` only names the file in messages.

    If there is no `main` but only one function, `function="main"` means that one. With `inline`, calls of the
    file's other functions are replaced by their bodies, otherwise they stay opaque operators `@name`. With
    `skip_unsupported` other functions may use what the subset lacks. Contradicting types are entries of
    `graph.meta["warnings"]`. Raises `InputError`.
    """
    body, metadata, header, old_grammar = _parts(text, path)
    tokens = Tokens(body)
    problems = Problems(path, tokens)
    context = Context(tokens, problems, dialect, metadata, old_grammar, read_nested)
    first = tokens.text[0]
    if first in ("def", "type", "extern") or first[0] == "@":
        definitions = _definitions(context, function, skip_unsupported)
        chosen = _choose(definitions, function, problems)
        form = "def"
    else:
        definitions, form = [_bare(context)], "fn" if first == "fn" else "expr"
        chosen = 0
    order = _call_order(definitions, chosen, problems, skip_unsupported)
    graphs: dict[str, Graph] = {}
    for definition in definitions:
        if definition.function is not None and (definition is definitions[chosen] or inline):
            graphs[definition.name] = _finished(definition.function, context)
            _check_arguments(definition.function, definitions, problems, inline)
    wanted = definitions[chosen]
    assert wanted.function is not None
    graph = graphs[wanted.name]
    texts = ["" if d is wanted else _text_of(d, tokens) for d in definitions]
    if inline and len(order) > 1:
        parameters = {d.name: d.function.parameters for d in definitions if d.function is not None}
        graph = inlined(wanted.name, graphs, parameters, order, path)
        _retype(graph, context)
        texts = [t for t, d in zip(texts, definitions) if d is wanted or d.name not in order]
    at = texts.index("")
    graph.name = wanted.name.removeprefix("@")
    carries = len(texts) > 1 or any(op == FN for op in graph.op)
    first_line = OLD_VERSION_LINE if old_grammar and carries else VERSION_LINE if header else ""
    graph.meta[META_KEY] = RelayModule(
        form, first_line, tuple(texts[:at]), tuple(texts[at + 1 :]), wanted.function.attributes, metadata
    )
    if problems.warnings:
        graph.meta["warnings"] = list(problems.warnings)
    return graph


def _text_of(definition: _Definition, tokens: Tokens) -> str:
    """A definition as written."""
    return tokens.source[tokens.starts[definition.start] : tokens.end_of(definition.end - 1)]


def _parts(text: str, path: str) -> tuple[str, Metadata | None, bool, bool]:
    """(the text without header and metadata, offsets kept; the metadata; had a header; is in the old
    grammar).
    """
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    old_grammar = header = False
    if found := _HEADER.match(text):
        version = found[1] or found[2]
        header = True
        if version not in VERSIONS:
            group = 1 if found[1] is not None else 2
            line = text.count("\n", 0, found.start(group)) + 1
            column = found.start(group) - text.rfind("\n", 0, found.start(group))
            raise InputError(
                f"Relay text of version `{version}`", path=path, place=f"{line}:{column}",
                help="0.0.5 and v0.0.4 can be read",
            )
        old_grammar = version == "v0.0.4"
        text = re.sub(r"[^\n]", " ", text[: found.end()]) + text[found.end() :]
    if old := _OLD_METADATA.search(text):
        raise InputError(
            "a metadata section of the old form `METADATA:`", path=path,
            place=f"{text.count(chr(10), 0, old.start()) + 1}:1",
            help="print the module with TVM 0.7 or newer, or cut this section off",
        )
    metadata = None
    if section := _METADATA.search(text):
        line = text.count("\n", 0, section.end()) + 1
        metadata = read_metadata(text[section.end() :], path, line)
        text = text[: section.start()]
    return text, metadata, header, old_grammar


# ── definitions ─────────────────────────────────────────────────────────────────────────────────────────────


def _definitions(context: Context, wanted: str, skip_unsupported: bool) -> list[_Definition]:
    tokens, problems = context.tokens.text, context.problems
    definitions: list[_Definition] = []
    at = 0
    functions: list[tuple[int, str]] = []
    while tokens[at] is not END:
        start = at
        if tokens[at] == "type":
            at = _type_definition(context, at)
            definitions.append(_Definition(tokens[start + 1], start, at))
        elif tokens[at] == "extern" and tokens[at + 1] == "type":
            at = _past_brackets(tokens, at + 3)
            definitions.append(_Definition(tokens[start + 2], start, at))
        elif tokens[at] == "def":
            name = tokens[at + 1]
            if name[0] != "@" or len(name) == 1:
                problems.expected(at + 1, "a function's name such as `@main`")
            if any(name == known for _, known in functions):
                problems.error(at + 1, f"duplicate function `{name}`")
            at = _function_end(context, at)
            functions.append((len(definitions), name))
            definitions.append(_Definition(name, start, at))
        elif tokens[at][0] == "@" and tokens[at + 1] == "=":
            problems.unsupported(at, "a TIR function (`primfn`)", f"`{tokens[at]}`")
        else:
            problems.expected(at, "`def @name(…)`, `type` or the end of the file")
    problems.several = len(functions) > 1
    for number, name in functions:
        definition = definitions[number]
        try:
            definition.function = _function(context, definition)
        except UnsupportedConstruct:
            only = len(functions) == 1
            if not skip_unsupported or only or name == "@" + wanted.removeprefix("@"):
                raise
        finally:
            problems.function = ""
    return definitions


def _function(context: Context, definition: _Definition) -> Function:
    problems, tokens = context.problems, context.tokens.text
    problems.function = definition.name
    at = definition.start + 2
    if tokens[at] == "=":
        problems.unsupported(at, "an external function (`def @f = meta[…]`)")
    found = read_function(Body(context), definition.name, at)
    if found.end != definition.end:
        problems.expected(found.end, "`}` and the next definition")
    return found


def _function_end(context: Context, at: int) -> int:
    """The index behind the closing brace of the definition at `at`; behind the last token if the text is cut
    off.
    """
    tokens = context.tokens.text
    if tokens[at + 2] == "=":
        return at + 4
    depth = 0
    body_at = -1
    at += 2
    while tokens[at] is not END:
        token = tokens[at]
        if token in ("(", "[", "{"):
            if token == "{" and depth == 0 and body_at < 0:
                body_at = at
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
            if depth <= 0 and (body_at >= 0 or depth < 0):
                return at + 1
        at += 1
    return at


def _past_brackets(tokens: list[str], at: int) -> int:
    """The index behind the bracketed group at `at`, if there is one."""
    if tokens[at] != "[":
        return at
    while tokens[at] is not END and tokens[at] != "]":
        at += 1
    return at + (tokens[at] == "]")


def _type_definition(context: Context, at: int) -> int:
    """Register the constructors of the definition at `at`; the index behind it."""
    tokens = context.tokens.text
    if not tokens[at + 1][0].isalpha():
        context.problems.expected(at + 1, "a type's name")
    at = context.expect(_past_brackets(tokens, at + 2), "{")
    depth = 1
    while depth:
        token = tokens[at]
        if token is END:
            context.problems.expected(at, "`}` at the end of a type definition")
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
        elif depth == 1 and token != ",":
            context.constructors.add(token)
        at += 1
    return at


def _bare(context: Context) -> _Definition:
    """A file that is one expression or function."""
    tokens, problems = context.tokens.text, context.problems
    if tokens[0] is END:
        problems.error(0, "the file contains only comments")
    body = Body(context)
    if tokens[0] == "fn":
        found = read_function(body, "main", 1)
        end = found.end
    else:
        result, end = body.expression(0)
        inputs = [node for node in body.graph.nodes() if body.graph.op[node] is INPUT]
        found = Function("main", body, inputs, {}, None, result, end)
    if tokens[end] is not END:
        problems.expected(end, "the end of the file")
    return _Definition("@main", 0, end, found)


def _choose(definitions: list[_Definition], wanted: str, problems: Problems) -> int:
    functions = [(k, d) for k, d in enumerate(definitions) if d.name.startswith("@")]
    name = "@" + wanted.removeprefix("@")
    for k, definition in functions:
        if definition.name == name:
            return k
    if name == "@main" and len(functions) == 1:
        return functions[0][0]
    known = [d.name.removeprefix("@") for _, d in functions]
    if not known:
        problems.error(0, "no functions found")
    near = did_you_mean(name[1:], known)
    listed = ", ".join(f"`{k}`" for k in known[:8]) + (" …" if len(known) > 8 else "")
    problems.error(
        0, f"unknown function `{name[1:]}`", f"did you mean `{near}`?" if near else f"functions: {listed}"
    )


def _call_order(
    definitions: list[_Definition], chosen: int, problems: Problems, skip_unsupported: bool
) -> list[str]:
    """The functions that the chosen one reaches, callees first, itself last.

    Recursion and wrong calls are errors.
    """
    functions = {d.name: d.function for d in definitions if d.function is not None}
    known = {d.name for d in definitions}
    starts = [definitions[chosen].name]
    if not skip_unsupported:
        starts += [name for name in functions if name != starts[0]]
    finished: dict[str, None] = {}
    reached: list[str] = []
    for start in starts:
        if start in finished:
            continue
        stack = [(start, iter(functions[start].body.calls))]
        open_ = {start}
        while stack:
            name, calls = stack[-1]
            for callee, arguments, at in calls:
                problems.function = name
                target = functions.get(callee)
                if callee not in known:
                    problems.warn(at, f"`{callee}` is not defined in this file")
                elif target is not None and len(target.parameters) != arguments:
                    count = len(target.parameters)
                    problems.error(
                        at, f"`{callee}` takes {count} argument{'s' * (count != 1)}, got {arguments}"
                    )
                elif callee in open_:
                    problems.unsupported(at, "recursion", f"`{callee}` depends on itself")
                if target is not None and callee not in finished:
                    stack.append((callee, iter(target.body.calls)))
                    open_.add(callee)
                    break
            else:
                stack.pop()
                open_.discard(name)
                finished[name] = None
        if not reached:
            reached = list(finished)
    problems.function = ""
    return reached


def _check_arguments(
    function: Function, definitions: list[_Definition], problems: Problems, strict: bool
) -> None:
    """Compare the arguments of calls of functions with the types of these functions' parameters."""
    functions = {d.name: d.function for d in definitions if d.function is not None}
    body = function.body
    problems.function = function.name
    for node in body.graph.reverse_post_order():
        callee = functions.get(body.graph.op[node])
        if callee is None:
            continue
        for parameter, operand in zip(callee.parameters, body.graph.operands[node]):
            formal = callee.body.graph
            if why := contradiction(formal.types[parameter], body.graph.types[operand]):
                message = f"`{callee.name}` takes another type as `%{formal.names[parameter]}`: {why}"
                if strict:
                    problems.error(body.where[node], message)
                problems.warn(body.where[node], message)
    problems.function = ""


# ── the graph ───────────────────────────────────────────────────────────────────────────────────────────────


def _retype(graph: Graph, context: Context) -> None:
    """Infer types once more, where calls were inlined: what the arguments tell goes further now."""
    stale = {node for node, extra in graph.extras.items() if extra.pop(MISFIT_KEY, None) is not None}
    for node, finding in complete_types(graph, context.dialect, {}):
        graph.extras.setdefault(node, {})[MISFIT_KEY] = finding
        if node not in stale:
            context.problems.warnings.append(
                f"{context.problems.path}: `{graph.label(node)}`, inlined: {finding}"
            )


def _finished(function: Function, context: Context) -> Graph:
    """Outputs set, dead nodes dropped, types filled in."""
    body, graph, problems = function.body, function.body.graph, context.problems
    problems.function = function.name
    graph.set_outputs([function.result])
    dead = [
        n
        for n in graph.nodes()
        if not graph.users[n] and n not in graph.output_uses and graph.op[n] is not INPUT
    ]
    impure = [n for n in dead if not body.is_pure(n)]
    for node in impure:
        problems.warn(body.where[node], f"the result of `{graph.op[node]}` is not used; the call is dropped")
    graph.remove_dead(dead)
    claims: dict[int, Type] = {}
    places: dict[int, int] = {}
    for node, claim, at in body.claims:
        claims.setdefault(node, claim)
        places.setdefault(node, at)
    if function.result_type is not None and function.result not in claims:
        claims[function.result] = function.result_type
    if context.dialect is not None:
        problems.warnings += [
            f"{problems.path}: {warning}" for warning in mark_opaque_calls(graph, context.dialect)
        ]
    for node, finding in complete_types(graph, context.dialect, claims):
        at = places.get(node, body.where[node])
        problems.warn(at, finding)
        graph.extras.setdefault(node, {})[MISFIT_KEY] = finding
    guessed = [node for node, extra in graph.extras.items() if extra.get(UNSTATED) is GUESS]
    if guessed:
        problems.warn(body.where[guessed[0]], GUESS)
    problems.function = ""
    return graph
