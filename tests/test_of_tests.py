"""Tests are collected without work, and none decides by the clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
FILES = sorted(path for path in TESTS.rglob("*.py") if path.name != "shipped.py")
LOADERS = {
    "load", "load_module", "check_file", "check_source", "shipped_rules", "rules_in", "verify", "verify_now",
    "prove", "apply",
}
CLOCKS = {"monotonic", "perf_counter", "time_ns", "perf_counter_ns", "monotonic_ns"}


def at_import(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The expressions that importing a module evaluates."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from statement.decorator_list
        elif isinstance(statement, ast.ClassDef):
            yield from at_import(statement.body)
        elif not isinstance(statement, ast.If):  # `if __name__ == "__main__":`
            yield from (node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr))


def called(expression: ast.expr) -> Iterator[str]:
    """Names of the functions that evaluating an expression calls, those inside lambdas left out."""
    pending: list[ast.AST] = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            function = node.func
            owner = function.value if isinstance(function, ast.Attribute) else None
            if not (isinstance(owner, ast.Name) and owner.id in ("json", "np", "yaml")):
                yield (
                    function.attr if isinstance(function, ast.Attribute)
                    else function.id if isinstance(function, ast.Name)
                    else ""
                )
        pending += ast.iter_child_nodes(node)


def test_collecting_loads_no_rules() -> None:
    found = [
        f"{path.relative_to(TESTS)}: {name}"
        for path in FILES
        for expression in at_import(ast.parse(path.read_text(encoding="utf-8")).body)
        for name in called(expression)
        if name in LOADERS
    ]
    assert found == []


def test_no_test_looks_at_the_clock() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{node.lineno}"
        for path in FILES
        if "editors" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS
    ]
    assert found == []
