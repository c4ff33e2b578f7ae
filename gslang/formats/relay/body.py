"""The body of one function: tokens → nodes of a graph.

One loop with an explicit stack of what is still open, so that calls and parentheses may nest as deep as memory allows.
Bindings and pure lets are sharing: a name for a node. Nested functions are read by `nested`, types follow in `types`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gslang.dialect.tensor_type import TensorType, TupleType, Type
from gslang.formats.relay.attributes import (
    attributes_of_object, compact_value, dtype_attribute, normalised, read_string,
)  # fmt: skip
from gslang.formats.relay.comments import info
from gslang.formats.relay.context import Context
from gslang.formats.relay.lexer import END
from gslang.formats.relay.literals import LiteralError, read_number
from gslang.formats.relay.metadata import CONSTANT, REFERENCE, MetadataError
from gslang.formats.relay.module import CALL, FN, GLOBAL, WHOLE_ATTRS
from gslang.formats.relay.types_text import type_of_comment
from gslang.graph.graph import CONST, INPUT, NO_ATTRS, TUPLE, Graph

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
_PROJECTIONS: Final = re.compile(r"(%.*?)((?:\.\d+)+)", re.DOTALL)
_NUMBER_START: Final = re.compile(r"-*(?:\d|inff|nanf)")
MAX_FIELD: Final = 1 << 31


class Body:
    """The nodes of one function while it is read. `where[node]` is the token that a node comes from.

    `claims` are types that comments and annotations state: (node, type, token). `calls` are the global functions called:
    (name, number of arguments, token). `outer` is the body around a nested function.
    """

    def __init__(self, context: Context, outer: Body | None = None) -> None:
        self.context = context
        self.problems = context.problems
        self.tokens = context.tokens.text
        self.notes = context.tokens.notes
        self.graph = Graph("relay")
        self.where: list[int] = []
        self.scope: dict[str, int] = {}
        self.claims: list[tuple[int, Type, int]] = []
        self.calls: list[tuple[str, int, int]] = []
        self.outer = outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        # Nested functions only: what is captured from outside (outer node → own node), how tokens read there.
        self.captured: dict[int, int] = {}
        self.spelled: dict[int, tuple[str, int, str, str]] = {}
        self.numbering: dict[str, int] = {}
        self.counter = 0
        # Bindings made inside nested functions, which the official parser lets others refer to: token → its value's token.
        self.inner: dict[str, int] = {}
        self.result_types: dict[int, Type | None] = {}
        self._undo: list[tuple[str, int | None]] = []
        self._constants: dict[str, int] = {}
        self._names: set[str] = set()
        self._pending: list[str] = []

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_input(self, name: str, type: Type | None, at: int) -> int:
        self.where.append(at)
        return self.graph.add(INPUT, (), NO_ATTRS, type, name)

    def _tuple(self, items: list[int], at: int) -> int:
        self.where.append(at)
        return self.graph.add_tuple(items)

    def _project(self, node: int, fields: str, at: int) -> int:
        """`fields` is `.0` or a chain `.0.1`."""
        for field in fields[1:].split("."):
            index = int(field) if len(field) < 12 else MAX_FIELD
            known = self.graph.types[node]
            if isinstance(known, TensorType) or index >= MAX_FIELD:
                self.problems.error(at, f"`.{field}` takes a field of a tuple, this is a tensor")
            if isinstance(known, TupleType) and index >= len(known.fields):
                self.problems.error(at, f"there is no field {index} in a tuple with {len(known.fields)} fields")
            if self.graph.op[node] is TUPLE and index >= len(self.graph.operands[node]):
                self.problems.error(at, f"there is no field {index} in a tuple with {len(self.graph.operands[node])} fields")
            self.where.append(at)
            node = self.graph.add_proj(node, index)
        return node

    def _note(self, node: int, at: int) -> None:
        """The info comments behind token `at` are about `node`."""
        for comment in self.notes.get(at, ()):
            type_text, span = info(comment)
            if type_text is not None:
                claim = type_of_comment(type_text)
                if claim is not None:
                    self.claims.append((node, claim, at))
            if span is not None and self.context.keep_spans:
                self.graph.extras.setdefault(node, {})["span"] = span

    def _literal(self, token: str, at: int) -> int:
        said = None
        for comment in self.notes.get(at, ()):
            claim = type_of_comment(info(comment)[0] or "_")
            if isinstance(claim, TensorType) and claim.shape == ():
                said = claim.dtype
        try:
            value, dtype, remark = read_number(token, said)
        except LiteralError as error:
            self.problems.error(at, str(error))
        if remark is not None:
            self.problems.warn(at, remark)
        node = self._constant(value, dtype, at)
        self.graph.extras[node] = {"spelling": token}
        return node

    def _constant(self, value: Any, dtype: str, at: int) -> int:
        self.where.append(at)
        return self.graph.add_const(value, TensorType((), dtype))

    def _meta_constant(self, token: str, at: int) -> int:
        node = self._constants.get(token)
        if node is None:
            found = REFERENCE.fullmatch(token)
            if found is None or found[1] != CONSTANT:
                self.problems.unsupported(at, f"`{token}` as a value")
            index = int(found[2])
            metadata = self.context.metadata
            try:
                handle = metadata.constant(index) if metadata is not None else None
            except MetadataError as error:
                self.problems.error(at, f"`{token}` cannot be read: {error}")
            type = self.context.constant_types.get(index)
            if handle is not None:
                type = TensorType(handle.shape, handle.dtype)
            self.where.append(at)
            node = self._constants[token] = self.graph.add(CONST, (), NO_ATTRS, type, token)
            if handle is not None:
                self.graph.values[node] = handle
        self._note(node, at)
        return node

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def declare(self, name: str, node: int) -> None:
        """A variable in scope until the block around it ends."""
        self._undo.append((name, self.scope.get(name)))
        self.scope[name] = node

    def _leave(self, mark: int) -> None:
        undo = self._undo
        while len(undo) > mark:
            name, before = undo.pop()
            if before is None:
                del self.scope[name]
            else:
                self.scope[name] = before

    def _bind(self, frame: tuple[Any, ...], node: int) -> None:
        _, name, declared, at = frame
        if name[-1] == "=":
            name = name[:-1].rstrip()
            if name in self.scope:
                self.problems.error(at, f"`{name}` is bound a second time", "numbered bindings are bound once in a function")
            self.scope[name] = node
            if self.outer is not None:
                self.numbering[name] = self.counter
                self.spelled[at] = ("number", self.counter, "", " =")
                self.counter += 1
                self.inner[name] = at + 1
        else:
            self.declare(name, node)
            if self._pending and self._pending[-1] == name:
                self._pending.pop()
        if declared is not None:
            self.claims.append((node, declared, at))
        if self.graph.names[node] is None and name not in self._names and self.graph.op[node] is not CONST:
            self._names.add(name)
            self.graph.names[node] = name

    def find(self, name: str) -> int | None:
        """The node of a variable or binding, taken from outside if need be."""
        node = self.scope.get(name)
        if node is not None or self.outer is None:
            if node is None and name in self.inner:
                node = self.scope[name] = self.expression(self.inner[name], single=True)[0]
            return node
        if name in self.outer._pending:
            return None
        outside = self.outer.find(name)
        if outside is None:
            return None
        if outside not in self.captured:
            self.captured[outside] = self.add_input(name, self.outer.graph.types[outside], 0)
            if outside in self.outer.result_types:
                self.result_types[self.captured[outside]] = self.outer.result_types[outside]
        return self.captured[outside]

    def _variable(self, token: str, at: int) -> int:
        """The longest prefix that is declared; what remains are projections."""
        name, fields = token, ""
        while True:
            node = self.find(name)
            if node is not None:
                break
            found = _PROJECTIONS.fullmatch(name)
            if found is None:
                self._undeclared(token, at)
            cut = name.rindex(".")
            name, fields = name[:cut], name[cut:] + fields
        self._spell(node, name, fields, at)
        return self._project(node, fields, at) if fields else node

    def _spell(self, node: int, name: str, fields: str, at: int) -> None:
        if self.outer is None:
            return
        for outside, own in self.captured.items():
            if own == node:
                self.spelled[at] = ("captured", outside, name, fields)
                return
        if name in self.numbering:
            self.spelled[at] = ("number", self.numbering[name], "", fields)

    def _undeclared(self, token: str, at: int) -> None:
        body: Body | None = self
        while body is not None:
            if token in body._pending:
                self.problems.unsupported(at, "recursion", f"`{token}` is used in its own value")
            body = body.outer
        help = "put blanks around `/` and `-`" if re.search(r"[/-]", token) else ""
        self.problems.error(at, f"undeclared variable `{token}`", help)

    # ── calls ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _arguments(self, frame: tuple[Any, ...], at: int) -> tuple[int, bool]:
        """Attributes from `at` on: (index, True) behind the closing parenthesis, (index, False) before an operand."""
        _, callee, operands, attrs, _, _ = frame
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
                        self.problems.error(at, f"`{text}` is no attribute value", "strings stand in double quotes")
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
                self.problems.expected(at, "an attribute (`name=value`) or `)`; operands come before attributes")
            else:
                return at, False
            if tokens[at] == ",":
                at += 1
            elif tokens[at] != ")":
                self.problems.expected(at, "`,` or `)`")

    def _whole_attributes(self, callee: Any, token: str, attrs: dict[str, Any], at: int) -> None:
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
        if token.startswith(("memory.", "vm.")) and token != "vm.shape_of":
            self.problems.unsupported(at, "the memory dialect", f"`{token}`")
        return token

    def _call(self, frame: tuple[Any, ...], close: int) -> int:
        _, callee, operands, attrs, at, mark = frame
        self._leave(mark)
        type = None
        dialect = self.context.dialect
        if isinstance(callee, str):
            op = callee
            if op[0] == "@":
                self.calls.append((op, len(operands), at))
            elif dialect is not None and attrs:
                normalised(attrs, dialect.get(op))
        else:
            op = CALL
            type = self.result_types.get(callee)
            operands = [callee, *operands]
        self.where.append(at)
        node = self.graph.add(op, operands, attrs or NO_ATTRS, type)
        if close in self.notes:
            self._note(node, close)
        return node

    # ── expressions ───────────────────────────────────────────────────────────────────────────────────────────────

    def _operand(self, token: str, at: int, stack: list[tuple[Any, ...]]) -> tuple[int | None, int]:
        """An operand other than a declared variable: (node, index behind it), or None if it only opened something."""
        first = token[0]
        if first == "%":
            if token[-1] == "=":
                stack.append((BIND, token, None, at))
                return None, at + 1
            return self._variable(token, at), at + 1
        if first == "(":
            if self.tokens[at + 1] == ")":
                return self._tuple([], at), at + 2
            stack.append((PAREN, None, at, len(self._undo)))
            return None, at + 1
        if first == "{":
            stack.append((BLOCK, at, len(self._undo)))
            return None, at + 1
        if _NUMBER_START.match(token):
            return self._literal(token, at), at + 1
        if first == "-" and self.context.old_grammar:
            stack.append((NEGATE, 20, at))
            return None, at + 1
        if token.startswith("meta["):
            return self._meta_constant(token, at), at + 1
        if first == "@":
            if self.tokens[at + 1] == "(":
                stack.append((OPEN_CALL, token, [], {}, at, len(self._undo)))
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

    def _word(self, token: str, at: int, stack: list[tuple[Any, ...]]) -> tuple[int | None, int]:
        if token in ("True", "False"):
            node = self._constant(_truth(token), "bool", at)
            return node, at + 1
        if token == "let":
            return None, self._let(at, stack)
        if token == "free_var":
            return None, self._free_variable(at)
        if token == "fn":
            from gslang.formats.relay.nested import read_nested

            return read_nested(self, at)
        if token in _CONTROL:
            self.problems.unsupported(at, _CONTROL[token])
        if "=" in token:
            self.problems.error(at, f"the attribute `{token}` stands outside a call")
        if self.tokens[at + 1] == "(":
            stack.append((OPEN_CALL, self._open_callee(token, at), [], {}, at, len(self._undo)))
            return None, at + 2
        if token in self.context.constructors:
            self.problems.unsupported(at, "an ADT constructor", f"`{token}`")
        if self.tokens[at + 1] in _CONTEXTUAL and self.tokens[at + 1] is not END:
            self.problems.unsupported(at, "higher-order use of functions", f"the operator `{token}` as a value")
        self.problems.expected(at + 1, f"`(` after the operator `{token}`")

    def _let(self, at: int, stack: list[tuple[Any, ...]]) -> int:
        start = at
        name = self.tokens[at + 1]
        if name[0] != "%" or name[-1] == "=" or name == "%":
            self.problems.expected(at + 1, "a variable such as `%x` after `let`")
        at += 2
        declared: Type | None = None
        if self.tokens[at] == ":":
            declared, at = self.context.type_at(at + 1)
        at = self.context.expect(at, "=")
        self._pending.append(name)
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
        """The expression from token `at` on: (node, index of the token that ends it). A `single` one ends at `;`."""
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
                    frame = (OPEN_CALL, self._function_value(value, at), [], {}, at, len(self._undo))
                    at, closed = self._arguments(frame, at + 1)
                    if not closed:
                        stack.append(frame)
                        break
                    value = self._call(frame, at - 1)
                    continue
                if token[0] == "." and len(token) > 1 and token != "...":
                    value = self._project(value, token, at)
                    if at in notes:
                        self._note(value, at)
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
                        if len(self._undo) > frame[5]:
                            self._leave(frame[5])
                        at, closed = self._arguments(frame, at + 1 if token == "," else at)
                        if not closed:
                            break
                        stack.pop()
                        value = self._call(frame, at - 1)
                        continue
                elif kind == BIND:
                    if token == ";" or token == ";;":
                        stack.pop()
                        self._bind(frame, value)
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
                    self._leave(frame[2])
                    at += 1
                    continue
                if token == ";" or token == ";;":
                    self._sequence(value, at)
                    at += 1
                    break
                self._unexpected(at, {OPEN_CALL: "`,` or `)`", PAREN: "`,` or `)`"}.get(kind, "`}`"))

    def _close_paren(self, stack: list[tuple[Any, ...]], value: int, token: str, at: int) -> tuple[int | None, int | None]:
        """In parentheses at `,` or `)`: the finished value and the next index, or None and the next index for one more item."""
        kind, items, start, mark = stack[-1]
        if token not in (",", ")"):
            return None, None
        self._leave(mark)
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
        node = self._tuple(items, start)
        if at in self.notes:
            self._note(node, at)
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
            self.problems.unsupported(at, "higher-order use of functions", f"the parameter `%{graph.names[node]}` is called")
        return node

    def _sequence(self, value: int, at: int) -> None:
        """`value;` drops a value: allowed if computing it has no effect."""
        stack, seen = [value], {value}
        while stack:
            node = stack.pop()
            if not self.is_pure(node):
                self.problems.unsupported(at, "sequencing of impure values", f"`{self.graph.op[node]}` may have an effect")
            for operand in self.graph.operands[node]:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        self.problems.warn(at, "the value before `;` is not used and is dropped")

    def is_pure(self, node: int) -> bool:
        """True if nothing is known that says a call has an effect. A function's call or an unknown operator may have one."""
        op = self.graph.op[node]
        if op[0] == "%" or op in (FN, GLOBAL):
            return True
        if op[0] == "@" or op == CALL:
            return False
        dialect = self.context.dialect
        return dialect is None or op in dialect.operators


def _truth(token: str) -> Any:
    import numpy

    return numpy.array(token == "True")
