"""The nodes of one function while it is read, and the names they have.

Bindings and pure lets are sharing: a name for a node. What expressions look like is in `body`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, Final

from gslang.dialect.tensor_type import TensorType, TupleType, Type
from gslang.formats.relay.comments import stated_type
from gslang.formats.relay.context import Context
from gslang.formats.relay.literals import LiteralError, read_number
from gslang.formats.relay.metadata import CONSTANT, REFERENCE, MetadataError
from gslang.formats.relay.types_text import type_of_comment
from gslang.graph.graph import CONST, INPUT, NO_ATTRS, TUPLE, Graph

_PROJECTIONS: Final = re.compile(r"(%.*?)((?:\.\d+)+)", re.DOTALL)
MAX_FIELD: Final = 1 << 31


class Scope(ABC):
    """The nodes and names of one function while it is read. `where[node]` is the token that a node comes
    from.

    `claims` are types that comments and annotations state: (node, type, token). `calls` are the global
    functions called: (name, number of arguments, token). `outer` is the body around a nested function.
    """

    def __init__(self, context: Context, outer: Scope | None = None) -> None:
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
        self.captured_as: dict[int, int] = {}  # the inverse
        self.spelled: dict[int, tuple[str, int, str, str]] = {}
        self.numbering: dict[str, int] = {}
        self.counter = 0
        # Bindings made inside nested functions, which the official parser lets others refer to: token → its
        # value's token.
        self.inner: dict[str, int] = {}
        self.result_types: dict[int, Type | None] = {}
        self.undo: list[tuple[str, int | None]] = []
        self._constants: dict[str, int] = {}
        self._names: set[str] = set()
        self.pending: list[str] = []

    @abstractmethod
    def value_of_binding(self, at: int) -> int:
        """The node of the expression at token `at`, which ends at `;`."""

    # ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────

    def add_input(self, name: str, type: Type | None, at: int) -> int:
        self.where.append(at)
        return self.graph.add(INPUT, (), NO_ATTRS, type, name)

    def add_tuple(self, items: list[int], at: int) -> int:
        self.where.append(at)
        return self.graph.add_tuple(items)

    def project(self, node: int, fields: str, at: int) -> int:
        """`fields` is `.0` or a chain `.0.1`."""
        for field in fields[1:].split("."):
            index = int(field) if len(field) < 12 else MAX_FIELD
            known = self.graph.types[node]
            if isinstance(known, TensorType) or index >= MAX_FIELD:
                self.problems.error(at, f"`.{field}` takes a field of a tuple, found a tensor")
            if isinstance(known, TupleType) and index >= len(known.fields):
                self.problems.error(
                    at, f"no field {index} in a tuple with {len(known.fields)} fields"
                )
            if self.graph.op[node] is TUPLE and index >= len(self.graph.operands[node]):
                self.problems.error(
                    at, f"no field {index} in a tuple with {len(self.graph.operands[node])} fields"
                )
            self.where.append(at)
            node = self.graph.add_proj(node, index)
        return node

    def note(self, node: int, at: int) -> None:
        """The info comments behind token `at` are about `node`."""
        for comment in self.notes.get(at, ()):
            type_text = stated_type(comment)
            if type_text is not None:
                claim = type_of_comment(type_text)
                if claim is not None:
                    self.claims.append((node, claim, at))

    def literal(self, token: str, at: int) -> int:
        said = None
        for comment in self.notes.get(at, ()):
            claim = type_of_comment(stated_type(comment) or "_")
            if isinstance(claim, TensorType) and claim.shape == ():
                said = claim.dtype
        try:
            value, dtype, remark = read_number(token, said)
        except LiteralError as error:
            self.problems.error(at, str(error))
        if remark is not None:
            self.problems.warn(at, remark)
        node = self.constant(value, dtype, at)
        self.graph.extras[node] = {"spelling": token}
        return node

    def constant(self, value: object, dtype: str, at: int) -> int:
        self.where.append(at)
        return self.graph.add_const(value, TensorType((), dtype))

    def meta_constant(self, token: str, at: int) -> int:
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
            type = None if handle is None else TensorType(handle.shape, handle.dtype)
            self.where.append(at)
            node = self._constants[token] = self.graph.add(CONST, (), NO_ATTRS, type, token)
            if handle is not None:
                self.graph.values[node] = handle
        self.note(node, at)
        return node

    # ── names ───────────────────────────────────────────────────────────────────────────────────────────────

    def declare(self, name: str, node: int) -> None:
        """A variable in scope until the block around it ends."""
        self.undo.append((name, self.scope.get(name)))
        self.scope[name] = node

    def leave(self, mark: int) -> None:
        undo = self.undo
        while len(undo) > mark:
            name, before = undo.pop()
            if before is None:
                del self.scope[name]
            else:
                self.scope[name] = before

    def bind(self, frame: tuple[Any, ...], node: int) -> None:
        _, name, declared, at = frame
        if name[-1] == "=":
            name = name[:-1].rstrip()
            if name in self.scope:
                self.problems.error(
                    at, f"`{name}` is bound twice", "each numbered binding may occur only once in a function"
                )
            self.scope[name] = node
            if self.outer is not None:
                self.numbering[name] = self.counter
                self.spelled[at] = ("number", self.counter, "", " =")
                self.counter += 1
                self.inner[name] = at + 1
        else:
            self.declare(name, node)
            if self.pending and self.pending[-1] == name:
                self.pending.pop()
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
                node = self.scope[name] = self.value_of_binding(self.inner[name])
            return node
        if name in self.outer.pending:
            return None
        outside = self.outer.find(name)
        if outside is None:
            return None
        if outside not in self.captured:
            own = self.captured[outside] = self.add_input(name, self.outer.graph.types[outside], 0)
            self.captured_as[own] = outside
            if outside in self.outer.result_types:
                self.result_types[own] = self.outer.result_types[outside]
        return self.captured[outside]

    def variable(self, token: str, at: int) -> int:
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
        return self.project(node, fields, at) if fields else node

    def _spell(self, node: int, name: str, fields: str, at: int) -> None:
        if self.outer is None:
            return
        outside = self.captured_as.get(node)
        if outside is not None:
            self.spelled[at] = ("captured", outside, name, fields)
        elif name in self.numbering:
            self.spelled[at] = ("number", self.numbering[name], "", fields)

    def _undeclared(self, token: str, at: int) -> None:
        body: Scope | None = self
        while body is not None:
            if token in body.pending:
                self.problems.unsupported(at, "recursion", f"`{token}` is used in its own definition")
            body = body.outer
        help = "put spaces around `/` and `-`" if re.search(r"[/-]", token) else ""
        self.problems.error(at, f"undeclared variable `{token}`", help)
