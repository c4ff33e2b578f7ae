"""The state that all functions of one file share while it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import Type
from gslang.formats.relay.attributes import AttributeProblem, read_value
from gslang.formats.relay.lexer import Tokens
from gslang.formats.relay.metadata import Metadata
from gslang.formats.relay.problems import Problems
from gslang.formats.relay.types_text import TypeProblem, read_type

if TYPE_CHECKING:
    from gslang.formats.relay.body import Body


@dataclass
class Context:
    """`constructors` are those of the file's type definitions.

    `read_nested` reads a function value in a body, whose `fn` is the token at hand: (its node, the index
    behind it).
    """

    tokens: Tokens
    problems: Problems
    dialect: Dialect | None
    metadata: Metadata | None
    old_grammar: bool
    read_nested: Callable[[Body, int], tuple[int, int]]
    constructors: set[str] = field(default_factory=set)

    def type_at(self, at: int) -> tuple[Type | None, int]:
        """The type at a token, and the index behind it."""
        tokens = self.tokens.text
        try:
            found, end = read_type(tokens, at)
        except TypeProblem as problem:
            if problem.construct:
                self.problems.unsupported(problem.index, problem.construct)
            self.problems.expected(problem.index, problem.expected)
        if tokens[at] == "(" and found is not None and not hasattr(found, "fields"):
            self.problems.warn(at, "a type in parentheses is read as that type; TVM reads a tuple of one")
        return found, end

    def value_at(self, at: int) -> tuple[object, int]:
        """The attribute value at a token, and the index behind it."""
        try:
            return read_value(self.tokens.text, at, self.metadata)
        except AttributeProblem as problem:
            self.problems.expected(problem.index, problem.expected)

    def expect(self, at: int, token: str) -> int:
        """The index behind `token`, which must stand at `at`."""
        if self.tokens.text[at] != token:
            self.problems.expected(at, f"`{token}`")
        return at + 1
