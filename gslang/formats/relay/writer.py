"""Graph → Relay text, laid out as TVM prints it: operands before users, a numbered binding for all that is
not a leaf.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy

from gslang.base.diagnostics import InputError
from gslang.base.json_text import json_text
from gslang.base.open_types import JsonObject
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import numpy_dtype_exists
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.formats.relay.attributes import written_attributes
from gslang.formats.relay.lexer import substitute
from gslang.formats.relay.literals import INLINE_DTYPES, LiteralError, read_number, write_scalar
from gslang.formats.relay.metadata import CONSTANT, with_constants
from gslang.formats.relay.module import CALL, FN, GLOBAL, META_KEY, RelayModule
from gslang.formats.relay.naming import function_name, is_word, variable_names
from gslang.formats.relay.spellings import stated_attributes
from gslang.formats.relay.types_text import write_type
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, VARIABLES, Graph
from gslang.graph.known_calls import true_name

_BOUND: Final = re.compile(r"%(\d+)(.*)", re.DOTALL)
_CONSTANT_REFERENCE: Final = re.compile(r"meta\[relay\.Constant\]\[(\d{1,9})\]")


def write_relay(graph: Graph, dialect: Dialect | None, *, comments: bool = True) -> str:
    """The text of the graph as a function, with the rest of the file that it was read from.

    `comments` writes `/* ty=… */` behind calls and constants. Several outputs are written as a tuple. Raises
    `InputError` for what Relay text cannot say.
    """
    if graph.dialect != "relay":
        raise InputError(
            f"a graph of dialect `{graph.dialect}` cannot be written as Relay text",
            help="write it as JSON, or translate it with rules",
        )
    module = graph.meta.get(META_KEY)
    if not isinstance(module, RelayModule):
        module = RelayModule()
    return _Writer(graph, dialect, module, comments).text()


class _Writer:
    def __init__(
        self, graph: Graph, dialect: Dialect | None, module: RelayModule, comments: bool
    ) -> None:
        self.graph, self.dialect, self.module, self.comments = graph, dialect, module, comments
        self.order = graph.reverse_post_order()
        self.counter = 0
        self.atoms: dict[int, str] = {}
        self.notes: dict[int, str] = {}
        self.added: list[tuple[Any, TensorType] | None] = []
        self.first_added = self._first_free_constant()

    def text(self) -> str:
        before = [self._renumbered(text) for text in self.module.before]
        main = self._function()
        after = [self._renumbered(text) for text in self.module.after]
        header = [self.module.header] if self.module.header else []
        document: JsonObject | None = None
        if any(item is not None for item in self.added):
            if self.module.metadata is None and self.first_added:
                header.append(f"// meta[relay.Constant][0] to [{self.first_added - 1}] are not in this file")
            document = with_constants(self.module.metadata, self.first_added, self.added)
        elif self.module.metadata is not None:
            document = self.module.metadata.document
        body = "\n\n".join([*before, main, *after])
        text = "\n".join([*header, body]) + "\n"
        if document is not None:
            text += "\n#[metadata]\n" + json_text(document)
        return text

    # ── constants ───────────────────────────────────────────────────────────────────────────────────────────

    def _first_free_constant(self) -> int:
        used = [0]
        graph, metadata = self.graph, self.module.metadata
        if metadata is not None:
            used.append(len(metadata.table.get(CONSTANT, ())))
        texts = [*self.module.before, *self.module.after]
        for node in self.order:
            if graph.op[node] is CONST and (found := _CONSTANT_REFERENCE.fullmatch(graph.names[node] or "")):
                used += [int(found[1]) + 1] if self._unchanged(node, int(found[1])) else []
            elif graph.op[node] == FN:
                texts.append(str(graph.attrs[node].get("text")))
        for text in texts:
            used += [int(index) + 1 for index in _CONSTANT_REFERENCE.findall(text)]
        return max(used)

    def _constant(self, node: int) -> str:
        graph = self.graph
        type, value, name = graph.types[node], graph.values.get(node), graph.names[node]
        found = _CONSTANT_REFERENCE.fullmatch(name) if name is not None else None
        if found is not None and self._unchanged(node, int(found[1])):
            return str(name)
        if isinstance(type, TensorType) and value is not None:
            if type.shape == () and type.dtype in INLINE_DTYPES:
                return self._scalar(node, type.dtype)
            if type.dtype is None or not is_static(type.shape) or not numpy_dtype_exists(type.dtype):
                raise InputError(
                    f"the constant `{graph.label(node)}` of type {type} cannot be written as Relay text"
                )
            self.added.append((graph.value(node), type))
        else:
            self.added.append(None)
        return f"meta[{CONSTANT}][{self.first_added + len(self.added) - 1}]"

    def _unchanged(self, node: int, index: int) -> bool:
        """True if the constant is still what the reference in the file means."""
        value = self.graph.values.get(node)
        held = self.module.metadata.constant(index) if self.module.metadata is not None else None
        if held is None or value is None or held is value:
            return (held is None) == (value is None)
        array, type = self.graph.value(node), self.graph.types[node]
        same_type = (
            isinstance(type, TensorType) and type.dtype == held.dtype and numpy.shape(array) == held.shape
        )
        return same_type and numpy.asarray(array).tobytes() == held.load().tobytes()

    def _scalar(self, node: int, dtype: str) -> str:
        value = numpy.asarray(self.graph.value(node)).reshape(())
        spelling = self.graph.extras.get(node, {}).get("spelling")
        if isinstance(spelling, str) and dtype != "bool":
            try:
                read, read_dtype, remark = read_number(spelling)
            except LiteralError:
                pass
            else:
                if remark is None and read_dtype == dtype and read.tobytes() == value.astype(dtype).tobytes():
                    return spelling
        return write_scalar(value[()], dtype)

    # ── the function ────────────────────────────────────────────────────────────────────────────────────────

    def _function(self) -> str:
        graph = self.graph
        parameters = [node for node in graph.nodes() if graph.op[node] in VARIABLES]
        names = variable_names([graph.names[node] for node in parameters])
        declarations = []
        for node, name in zip(parameters, names):
            self.atoms[node] = "%" + name
            placement = graph.extras.get(node, {}).get("attributes")
            place = f" {{{', '.join(written_attributes(placement, None))}}}" if placement else ""
            type_text = write_type(graph.types[node])
            declarations.append(f"%{name}{place}" + (f": {type_text}" if type_text else ""))
        form = self.module.form
        if form == "expr":
            return "\n".join([*(f"free_var {d};" for d in declarations), *self._statements("")])
        attributes = list(written_attributes(self.module.attributes, None))
        head = "fn (" if form == "fn" else f"def @{function_name(graph.name)}("
        result = self._result_type()
        arrow = f" -> {result}" if result else ""
        return "\n".join(
            [f"{head}{', '.join(declarations + attributes)}){arrow} {{", *self._statements("  "), "}"]
        )

    def _result_type(self) -> str | None:
        types = [write_type(self.graph.types[node]) for node in self.graph.outputs]
        if len(types) == 1:
            return types[0]
        if any(text is None for text in types):
            return None
        return f"({', '.join(text for text in types if text is not None)})"

    def _statements(self, indent: str) -> list[str]:
        graph = self.graph
        if not graph.outputs:
            raise InputError("a graph without outputs cannot be written as Relay text")
        last = graph.outputs[0] if len(graph.outputs) == 1 and not graph.users[graph.outputs[0]] else -1
        lines: list[str] = []
        final = ""
        shared = self._shared_constants()
        for node in self.order:
            op = graph.op[node]
            if op is INPUT or op is PARAM:
                continue
            if op == GLOBAL:
                self.atoms[node] = str(self._carried(node, "name"))
                continue
            if op is CONST:
                self.atoms[node] = self._constant(node)
                self.notes[node] = self._note(node)
                if node in shared and not self.atoms[node].startswith("meta["):
                    # A literal that is written twice would be read as two constants.
                    self._binding(node, self._atom(node), indent, lines)
                continue
            if op == FN:
                lines += self._bound_constants(node, indent)
            text = self._expression(node, indent) + self._note(node)
            if node == last:
                final = text
            else:
                self._binding(node, text, indent, lines)
        if not final:
            atoms = [self._atom(node) for node in graph.outputs]
            final = atoms[0] if len(atoms) == 1 else f"({', '.join(atoms)})"
        lines.append(indent + final)
        return lines

    def _shared_constants(self) -> set[int]:
        graph = self.graph
        once: set[int] = set()
        shared: set[int] = set()
        for used in [graph.outputs, *(graph.operands[node] for node in self.order)]:
            for operand in used:
                if operand >= 0 and graph.op[operand] is CONST:
                    (shared if operand in once else once).add(operand)
        return shared

    def _binding(self, node: int, text: str, indent: str, lines: list[str]) -> None:
        self.atoms[node] = f"%{self.counter}"
        lines.append(f"{indent}%{self.counter} = {text};")
        self.counter += 1

    def _bound_constants(self, node: int, indent: str) -> list[str]:
        """Bindings for constants that a nested function captures, so that its text can name them."""
        lines: list[str] = []
        for operand in self.graph.operands[node]:
            if self.graph.op[operand] is CONST and not self.atoms[operand].startswith("%"):
                self._binding(operand, self._atom(operand), indent, lines)
        return lines

    def _note(self, node: int) -> str:
        """The info comment of a call or constant, with the blank before it."""
        graph = self.graph
        if not self.comments or graph.op[node] is TUPLE or graph.op[node] is PROJ:
            return ""
        type_text = write_type(graph.types[node])
        return f" /* ty={type_text} */" if type_text else ""

    def _atom(self, node: int) -> str:
        """The text of an operand; a constant has its comment at its first use."""
        return self.atoms[node] + self.notes.pop(node, "")

    def _expression(self, node: int, indent: str) -> str:
        graph = self.graph
        op, operands, attrs = true_name(graph.op[node]), graph.operands[node], stated_attributes(graph, node)
        if op is PROJ:
            return f"{self.atoms[operands[0]]}.{attrs['index']}"
        if op is TUPLE:
            fields = ", ".join([self._atom(operand) for operand in operands])
            return f"({fields},)" if len(operands) == 1 else f"({fields})"
        if op == FN:
            return self._nested(node, indent)
        given = list(operands)
        while given and given[-1] < 0:
            given.pop()
        if any(operand < 0 for operand in given):
            raise InputError(
                f"`{graph.label(node)}`: `{op}` with an omitted operand in the middle cannot be written as "
                "Relay text"
            )
        callee = op
        if op == CALL:
            if not given or graph.op[given[0]] not in (FN, GLOBAL, CALL, PROJ, INPUT):
                raise InputError(
                    f"`{graph.label(node)}`: a call of a value that is not a function cannot be written as "
                    "Relay text"
                )
            callee = self.atoms[given.pop(0)]
        if not is_word(callee) and op != CALL:
            raise InputError(
                f"`{graph.label(node)}`: an operator called `{op}` cannot be written as Relay text"
            )
        signature: Signature | None = self.dialect.get(op) if self.dialect is not None else None
        parts = [self._atom(operand) for operand in given]
        try:
            if attrs:
                parts += written_attributes(attrs, signature)
        except InputError as error:
            raise InputError(f"`{graph.label(node)}`: {error.message}") from None
        return f"{callee}({', '.join(parts)})"

    # ── text that is carried ────────────────────────────────────────────────────────────────────────────────

    def _carried(self, node: int, attribute: str) -> Any:
        """The properties of a node that only Relay text has.

        A graph from another format may lack them. Raises `InputError`.
        """
        try:
            return self.graph.attrs[node][attribute]
        except KeyError:
            message = (
                f"`{self.graph.label(node)}`: `{self.graph.op[node]}` without `{attribute}` cannot be "
                "written as Relay text"
            )
            raise InputError(message) from None

    def _nested(self, node: int, indent: str) -> str:
        graph = self.graph
        operands = graph.operands[node]
        text = str(self._carried(node, "text"))
        if self.comments:
            text = str(graph.extras.get(node, {}).get("commented", text))
        base = self.counter

        def replace(token: str) -> str:
            found = _BOUND.fullmatch(token)
            if found is None:
                return token
            number = base + int(found[1])
            self.counter = max(self.counter, number + 1)
            return f"%{number}{found[2]}"

        # Captured variables are `%^k`, which is three tokens to the lexer: they go last, as no legal text
        # holds `%^`.
        text = substitute(text, replace)
        text = re.sub(r"%\^(\d+)", lambda found: self.atoms[operands[int(found[1])]], text)
        return text.replace("\n", "\n" + indent)

    def _renumbered(self, text: str) -> str:
        """A carried definition with its numbered bindings counting on from this file's others."""
        numbers: dict[str, int] = {}

        def replace(token: str) -> str:
            found = _BOUND.fullmatch(token)
            if found is None:
                return token
            if found[2] and found[1] not in numbers:
                numbers[found[1]] = self.counter
                self.counter += 1
            return f"%{numbers[found[1]]}{found[2]}" if found[1] in numbers else token

        return substitute(text, replace)


