"""The expressions of one function: tokens → nodes of a graph.

One loop with an explicit stack of what is still open, so that calls and parentheses may nest as deep as
memory allows. Nested functions are read by `nested`; types follow in `result_types`.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy

from gslang.dialect.tensor_type import Type
from gslang.formats.relay.attributes import (
    attributes_of_object,
    compact_value,
    dtype_attribute,
    normalised,
    read_string,
)
from gslang.formats.relay.lexer import END
from gslang.formats.relay.literals import LiteralError
from gslang.formats.relay.metadata import REFERENCE, MetadataError
from gslang.formats.relay.module import CALL, FN, GLOBAL, WHOLE_ATTRS
from gslang.formats.relay.naming import is_of_memory_dialect
from gslang.formats.relay.scope import Scope
from gslang.formats.relay.spellings import without_repetitions
from gslang.graph.graph import CONST, INPUT, NO_ATTRS, TUPLE

# What may be open. INFIX and NEGATE close by themselves before anything else does.
INFIX: Final = 0  # (kind, level, operator, left, token)
NEGATE: Final = 1  # (kind, level, token)
BIND: Final = 2  # (kind, name, declared type, token)
OPEN_CALL: Final = 3  # (kind, callee, operands, attributes, token, scope mark)
PAREN: Final = 4  # (kind, items or None, token, scope mark)
BLOCK: Final = 5  # (kind, token, scope mark)

OPERATORS: Final = {
    "*": (12, "multiply"), "/": (12, "divide"), "+": (10, "add"), "-": (10, "subtract"),
    "<": (8, "less"), "<=": (8, "less_equal"), ">": (8, "greater"), ">=": (8, "greater_equal"),
    "==": (7, "equal"), "!=": (7, "not_equal"),
}  # fmt: skip
_CONTROL: Final = {
    "if": "`if`", "else": "`else`", "match": "`match`", "match?": "`match?`",
    "ref": "`ref` (a reference cell)", "ref_read": "`ref_read`", "ref_write": "`ref_write`",
}  # fmt: skip
_CONTEXTUAL: Final = frozenset((",", ")", ";", ";;", "}", END))
_NUMBER_START: Final = re.compile(r"-*(?:\d|inff|nanf)")


class Body(Scope):
    """Reads expressions into its graph."""

    def value_of_binding(self, at: int) -> int:
        return self.expression(at, single=True)[0]

    # ── calls ───────────────────────────────────────────────────────────────────────────────────────────────

    def _arguments(self, frame: tuple[Any, ...], at: int) -> tuple[int, bool]:
        """Attributes from `at` on: (index, True) behind the closing parenthesis, (index, False) before an
        operand.
        """
        callee, attrs = frame[1], frame[3]
        tokens = self.tokens
        while True:
            token = tokens[at]
            first = token[0]
            if token == ")":
                return at + 1, True
            if "=" in token and (first.isalpha() or first == "_"):
                start = at
                name, _, text = token.partition("=")
                name = name.rstrip()
                if text:
                    try:
                        value, at = compact_value(text), at + 1
                    except LiteralError:
                        self.problems.error(
                            at, f"`{text}` is not an attribute value", "strings are written in double quotes"
                        )
                else:
                    value, at = self.context.value_at(at + 1)
                if name in attrs:
                    self.problems.error(start, f"the attribute `{name}` is given twice")
                attrs[name] = value
            elif first == '"' and len(token) > 1 and self.context.old_grammar:
                attrs[dtype_attribute(str(callee), self.context.dialect)] = read_string(token)
                at += 1
            elif token.startswith("meta[") and not token.startswith("meta[relay.Constant]"):
                self._whole_attributes(callee, token, attrs, at)
                at += 1
            elif attrs:
                self.problems.expected(
                    at, "an attribute (`name=value`) or `)`; operands come before attributes"
                )
            else:
                return at, False
            if tokens[at] == ",":
                at += 1
            elif tokens[at] != ")":
                self.problems.expected(at, "`,` or `)`")

    def _whole_attributes(self, callee: object, token: str, attrs: dict[str, object], at: int) -> None:
        found = REFERENCE.fullmatch(token)
        metadata, dialect = self.context.metadata, self.context.dialect
        signature = dialect.get(callee) if dialect is not None and isinstance(callee, str) else None
        if found is not None and metadata is not None and signature is not None:
            try:
                raw = metadata.attributes(found[1], int(found[2]))
                decoded = None if raw is None else attributes_of_object(signature, raw, metadata)
            except MetadataError as error:
                self.problems.error(at, f"`{token}` cannot be read: {error}")
            if decoded is not None:
                attrs.update(decoded)
                return
        attrs[WHOLE_ATTRS] = token

    def _open_callee(self, token: str, at: int) -> str:
        """An operator's or global function's name in front of `(`."""
        if token in self.context.constructors:
            self.problems.unsupported(at, "an ADT constructor", f"`{token}`")
        if is_of_memory_dialect(token):
            self.problems.unsupported(at, "the memory dialect", f"`{token}`")
        return token

    def _call(self, frame: tuple[Any, ...], close: int) -> int:
        _, callee, operands, attrs, at, mark = frame
        self.leave(mark)
        type = None
        dialect = self.context.dialect
        if isinstance(callee, str):
            op = callee
            if op[0] == "@":
                self.calls.append((op, len(operands), at))
            elif dialect is not None and attrs:
                normalised(attrs, dialect.get(op))
                without_repetitions(op, attrs)
        else:
            op = CALL
            type = self.result_types.get(callee)
            operands = [callee, *operands]
        self.where.append(at)
        node = self.graph.add(op, operands, attrs or NO_ATTRS, type)
        if close in self.notes:
            self.note(node, close)
        return node

    # ── expressions ─────────────────────────────────────────────────────────────────────────────────────────

    def _operand(self, token: str, at: int, stack: list[tuple[object, ...]]) -> tuple[int | None, int]:
        """An operand other than a declared variable: (node, index behind it), or None if it only opened
        something.
        """
        first = token[0]
        if first == "%":
            if token[-1] == "=":
                stack.append((BIND, token, None, at))
                return None, at + 1
            return self.variable(token, at), at + 1
        if first == "(":
            if self.tokens[at + 1] == ")":
                return self.add_tuple([], at), at + 2
            stack.append((PAREN, None, at, len(self.undo)))
            return None, at + 1
        if first == "{":
            stack.append((BLOCK, at, len(self.undo)))
            return None, at + 1
        if _NUMBER_START.match(token):
            return self.literal(token, at), at + 1
        if first == "-" and self.context.old_grammar:
            stack.append((NEGATE, 20, at))
            return None, at + 1
        if token.startswith("meta["):
            return self.meta_constant(token, at), at + 1
        if first == "@":
            if self.tokens[at + 1] == "(":
                stack.append((OPEN_CALL, token, [], {}, at, len(self.undo)))
                return None, at + 2
            if stack and stack[-1][0] == OPEN_CALL and stack[-1][1] == "call_lowered":
                self.where.append(at)
                return self.graph.add(GLOBAL, (), {"name": token}), at + 1
            self.problems.unsupported(at, "higher-order use of functions", f"`{token}` as a value")
        if first.isalpha() or first == "_":
            return self._word(token, at, stack)
        if token == "[" and self.context.old_grammar:
            self.problems.unsupported(at, "a tensor literal")
        self.problems.expected(at, "an expression")

    def _word(self, token: str, at: int, stack: list[tuple[object, ...]]) -> tuple[int | None, int]:
        if token in ("True", "False"):
            node = self.constant(numpy.array(token == "True"), "bool", at)
            return node, at + 1
        if token == "let":
            return None, self._let(at, stack)
        if token == "free_var":
            return None, self._free_variable(at)
        if token == "fn":
            return self.context.read_nested(self, at)
        if token in _CONTROL:
            self.problems.unsupported(at, _CONTROL[token])
        if "=" in token:
            self.problems.error(at, f"the attribute `{token}` occurs outside a call")
        if self.tokens[at + 1] == "(":
            stack.append((OPEN_CALL, self._open_callee(token, at), [], {}, at, len(self.undo)))
            return None, at + 2
        if token in self.context.constructors:
            self.problems.unsupported(at, "an ADT constructor", f"`{token}`")
        if self.tokens[at + 1] in _CONTEXTUAL and self.tokens[at + 1] is not END:
            self.problems.unsupported(
                at, "higher-order use of functions", f"the operator `{token}` as a value"
            )
        self.problems.expected(at + 1, f"`(` after the operator `{token}`")

    def _let(self, at: int, stack: list[tuple[object, ...]]) -> int:
        start = at
        name = self.tokens[at + 1]
        if name[0] != "%" or name[-1] == "=" or name == "%":
            self.problems.expected(at + 1, "a variable such as `%x` after `let`")
        at += 2
        declared: Type | None = None
        if self.tokens[at] == ":":
            declared, at = self.context.type_at(at + 1)
        at = self.context.expect(at, "=")
        self.pending.append(name)
        stack.append((BIND, name, declared, start))
        return at

    def _free_variable(self, at: int) -> int:
        name = self.tokens[at + 1]
        if name[0] != "%" or name[-1] == "=" or name == "%":
            self.problems.expected(at + 1, "a variable such as `%x` after `free_var`")
        if self.outer is not None or name in self.scope:
            self.problems.error(at + 1, f"`{name}` cannot be declared free here")
        type: Type | None = None
        end = at + 2
        if self.tokens[end] == ":":
            type, end = self.context.type_at(end + 1)
        self.scope[name] = self.add_input(name[1:], type, at + 1)
        return self.context.expect(end, ";")

    def _reduce(self, stack: list[tuple[Any, ...]], value: int, level: int) -> int:
        """Close the infix operators on top that bind at least as tightly as `level`."""
        while stack and stack[-1][0] <= NEGATE and stack[-1][1] >= level:
            frame = stack.pop()
            self.where.append(frame[-1])
            if frame[0] == INFIX:
                value = self.graph.add(frame[2], (frame[3], value))
            else:
                value = self.graph.add("negative", (value,))
        return value

    def expression(self, at: int, single: bool = False) -> tuple[int, int]:
        """The expression from token `at` on: (node, index of the token that ends it). A `single` one ends at
        `;`.
        """
        # Long on purpose: one loop over the tokens with its own stack, so that depth costs no recursion.
        tokens, notes = self.tokens, self.notes
        stack: list[tuple[Any, ...]] = []
        value: int | None
        while True:
            # An operand is wanted, or a statement.
            token = tokens[at]
            value = self.scope.get(token) if self.outer is None else None
            if value is None:
                opened = len(stack)
                value, at = self._operand(token, at, stack)
                if value is None:
                    if len(stack) > opened and stack[-1][0] == OPEN_CALL:
                        at, closed = self._arguments(stack[-1], at)
                        if not closed:
                            continue
                        value = self._call(stack.pop(), at - 1)
                    else:
                        continue
            else:
                at += 1
            # `value` is complete up to `at`: go on with it, or close what is open.
            while True:
                token = tokens[at]
                if token == "(":
                    frame: tuple[Any, ...] = (
                        OPEN_CALL, self._function_value(value, at), [], {}, at, len(self.undo),
                    )
                    at, closed = self._arguments(frame, at + 1)
                    if not closed:
                        stack.append(frame)
                        break
                    value = self._call(frame, at - 1)
                    continue
                if token[0] == "." and len(token) > 1 and token != "...":
                    value = self.project(value, token, at)
                    if at in notes:
                        self.note(value, at)
                    at += 1
                    continue
                if token in OPERATORS:
                    level, operator = OPERATORS[token]
                    value = self._reduce(stack, value, level)
                    stack.append((INFIX, level, operator, value, at))
                    at += 1
                    break
                value = self._reduce(stack, value, 0)
                if not stack:
                    if (token == ";" or token == ";;") and not single:
                        self._sequence(value, at)
                        at += 1
                        break
                    return value, at
                frame = stack[-1]
                kind = frame[0]
                if kind == OPEN_CALL:
                    if token == "," or token == ")":
                        frame[2].append(value)
                        if len(self.undo) > frame[5]:
                            self.leave(frame[5])
                        at, closed = self._arguments(frame, at + 1 if token == "," else at)
                        if not closed:
                            break
                        stack.pop()
                        value = self._call(frame, at - 1)
                        continue
                elif kind == BIND:
                    if token == ";" or token == ";;":
                        stack.pop()
                        self.bind(frame, value)
                        at += 1
                        break
                    self._unexpected(at, "`;` after the value of a binding")
                elif kind == PAREN:
                    closed_value, at_next = self._close_paren(stack, value, token, at)
                    if at_next is not None:
                        at = at_next
                        if closed_value is None:
                            break
                        value = closed_value
                        continue
                elif token == "}":
                    stack.pop()
                    self.leave(frame[2])
                    at += 1
                    continue
                if token == ";" or token == ";;":
                    self._sequence(value, at)
                    at += 1
                    break
                self._unexpected(at, {OPEN_CALL: "`,` or `)`", PAREN: "`,` or `)`"}.get(kind, "`}`"))

    def _close_paren(
        self, stack: list[tuple[Any, ...]], value: int, token: str, at: int
    ) -> tuple[int | None, int | None]:
        """In parentheses at `,` or `)`: the finished value and the next index, or None and the next index for
        one more item.
        """
        kind, items, start, mark = stack[-1]
        if token not in (",", ")"):
            return None, None
        self.leave(mark)
        if token == ",":
            if items is None:
                items = []
                stack[-1] = (kind, items, start, mark)
            items.append(value)
            if self.tokens[at + 1] != ")":
                return None, at + 1
            at += 1
        elif items is not None:
            items.append(value)
        stack.pop()
        if items is None:
            return value, at + 1
        node = self.add_tuple(items, start)
        if at in self.notes:
            self.note(node, at)
        return node, at + 1

    def _unexpected(self, at: int, what: str) -> None:
        token = self.tokens[at]
        if token in ("^", ":="):
            self.problems.unsupported(at, "a reference cell", f"`{token}`")
        self.problems.expected(at, what)

    def _function_value(self, node: int, at: int) -> int:
        graph = self.graph
        if graph.types[node] is not None or graph.op[node] in (CONST, TUPLE):
            self.problems.error(at, "only a function can be called")
        if graph.op[node] is INPUT and self.outer is None:
            self.problems.unsupported(
                at, "higher-order use of functions", f"the parameter `%{graph.names[node]}` is called"
            )
        return node

    def _sequence(self, value: int, at: int) -> None:
        """`value;` drops a value: allowed if computing it has no effect."""
        stack, seen = [value], {value}
        while stack:
            node = stack.pop()
            if not self.is_pure(node):
                self.problems.unsupported(
                    at, "sequencing of impure values", f"`{self.graph.op[node]}` may have an effect"
                )
            for operand in self.graph.operands[node]:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        self.problems.warn(at, "the value before `;` is not used and is dropped")

    def is_pure(self, node: int) -> bool:
        """True if nothing is known that says a call has an effect.

        A function's call or an unknown operator may have one.
        """
        op = self.graph.op[node]
        if op[0] == "%" or op in (FN, GLOBAL):
            return True
        if op[0] == "@" or op == CALL:
            return False
        dialect = self.context.dialect
        return dialect is None or op in dialect.operators

