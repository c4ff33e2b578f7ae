"""A function: parameters, attributes, result type and body."""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import Type
from gslang.formats.relay.attributes import compact_value
from gslang.formats.relay.body import Body
from gslang.formats.relay.comments import stated_type
from gslang.formats.relay.literals import LiteralError
from gslang.formats.relay.types_text import type_of_comment


@dataclass
class Function:
    """`parameters` are nodes of `body.graph`; `result` is the node of its value; `end` the token behind the
    closing brace.
    """

    name: str
    body: Body
    parameters: list[int]
    attributes: dict[str, object]
    result_type: Type | None
    result: int
    end: int


def read_function(body: Body, name: str, at: int) -> Function:
    """The function whose parameter list begins at token `at`."""
    context, problems, tokens = body.context, body.problems, body.tokens
    if tokens[at] == "[":
        problems.unsupported(at, "a generic function")
    at = context.expect(at, "(")
    parameters: list[int] = []
    attributes: dict[str, object] = {}
    while tokens[at] != ")":
        token = tokens[at]
        if token[0] == "%" and token[-1] != "=" and not token[1:2].isdigit() and not attributes:
            node, at = _parameter(body, at)
            parameters.append(node)
        elif "=" in token and token[0] != "%" and (token[0].isalpha() or token[0] == "_"):
            key, value, at = read_attribute(body, at)
            if key in attributes:
                problems.error(at - 1, f"the attribute `{key}` is given twice")
            attributes[key] = value
        else:
            problems.expected(
                at, "an attribute (`name=value`) or `)`" if attributes else "a parameter such as `%x` or `)`"
            )
        if tokens[at] == ",":
            at += 1
        elif tokens[at] != ")":
            problems.expected(at, "`,` or `)` after a parameter")
    at += 1
    result_type: Type | None = None
    if tokens[at] == "->":
        result_type, at = context.type_at(at + 1)
    at = context.expect(at, "{")
    result, at = body.expression(at)
    at = context.expect(at, "}")
    return Function(name, body, parameters, attributes, result_type, result, at)


def read_attribute(body: Body, at: int) -> tuple[str, object, int]:
    """Name and value of the attribute at a token that holds its `=`, and the index behind it."""
    name, _, text = body.tokens[at].partition("=")
    if text:
        try:
            return name, compact_value(text), at + 1
        except LiteralError:
            body.problems.error(
                at, f"`{text}` is not an attribute value", "strings are written in double quotes"
            )
    value, end = body.context.value_at(at + 1)
    return name.rstrip(), value, end


def _parameter(body: Body, at: int) -> tuple[int, int]:
    context, problems, tokens = body.context, body.problems, body.tokens
    token, start = tokens[at], at
    if token == "%":
        problems.expected(at, "a parameter's name")
    if token in body.scope:
        problems.error(at, f"duplicate parameter `{token}`")
    at += 1
    extra: dict[str, object] = {}
    if tokens[at] == "{":
        at += 1
        while tokens[at] != "}":
            if "=" not in tokens[at] or tokens[at][0] == "%":
                problems.expected(at, "an attribute (`name=value`) or `}`")
            key, value, at = read_attribute(body, at)
            extra[key] = value
            if tokens[at] == ",":
                at += 1
            elif tokens[at] != "}":
                problems.expected(at, "`,` or `}`")
        at += 1
    type: Type | None = None
    if tokens[at] == ":":
        type, at = context.type_at(at + 1)
    for comment in body.notes.get(at - 1, ()):
        type_text = stated_type(comment)
        claim = type_of_comment(type_text) if type_text is not None else None
        if type is None:
            type = claim
        elif claim is not None and claim != type:
            problems.warn(at - 1, f"the comment says that `{token}` is {claim}, its type is {type}")
    node = body.add_input(token[1:], type, start)
    body.scope[token] = node
    if extra:
        body.graph.extras[node] = {"attributes": extra}
    return node, at
