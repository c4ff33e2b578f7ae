"""The shape of the code in numbers: what a change to the design should improve.

    python benchmarks/structure.py [--names] [CHECKOUT …]

prints one column per checkout (default: this one): functions that take apart the representation of rules,
import cycles between modules, lines, uses of `Any`, functions over 60 lines, and how many files know about
one kind of thing a match demands. `--names` lists those functions, with the classes that each tells apart.
Counted from the sources with `ast`; nothing is imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MANY = 3  # classes of the representation that a function tells apart, from which on it counts
LONG = 60  # lines of a function
REPRESENTATION = (
    "check/checked.py", "check/checked_pattern.py", "check/checked_tests.py", "check/checked_target.py",
    "check/checked_values.py", "check/checked_kinds.py", "engine/program.py",
)
"""Files whose classes are the checked rule and its match program."""
SAMPLES = ("Splice", "SameAttributes", "AltNode")
"""Kinds of things that a match demands: how many files mention each is what a new one would touch."""


def main(arguments: list[str]) -> None:
    """Print the table, or the functions."""
    roots = [Path(path) for path in arguments if path != "--names"] or [Path(__file__).parent.parent]
    if "--names" in arguments:
        for root in roots:
            print(*dispatching(root / "gslang"), sep="\n")
        return
    rows = [measure(root / "gslang") for root in roots]
    width = max(map(len, rows[0]))
    for name in rows[0]:
        print(f"{name:<{width}}  " + "  ".join(f"{row[name]:>8,}" for row in rows))


def measure(package: Path) -> dict[str, int]:
    """Property → number."""
    files = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in files.items()}
    functions = [node for _, node in functions_of(trees)]
    row = {
        "classes of the checked rule and its program": len(set().union(*representation(package).values())),
        f"functions that tell {MANY} or more of them apart": len(dispatching(package)),
        "import cycles between modules": len(cycles(imports(package, trees))),
        "modules in such cycles": sum(map(len, cycles(imports(package, trees)))),
        "lines of Python": sum(text.count("\n") for text in files.values()),
        "files": len(files),
        "mentions of `Any`": sum(
            isinstance(node, ast.Name) and node.id == "Any"
            for tree in trees.values()
            for node in ast.walk(tree)
        ),
        f"functions over {LONG} lines": sum(
            (node.end_lineno or 0) - node.lineno >= LONG for node in functions
        ),
    }
    for sample in SAMPLES:
        row[f"files that know of `{sample}`"] = sum(mentions(tree, sample) for tree in trees.values())
    return row


def dispatching(package: Path) -> list[str]:
    """The functions that tell apart `MANY` classes of the representation, with these classes."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.rglob("*.py"))}
    known = representation(package)
    names = {path: names_of(tree, known) for path, tree in trees.items()}
    found = [(path, node, told_apart(node) & names[path]) for path, node in functions_of(trees)]
    return [
        f"{path.relative_to(package)}:{node.lineno} {node.name}: {', '.join(sorted(kinds))}"
        for path, node, kinds in found if len(kinds) >= MANY
    ]


def representation(package: Path) -> dict[str, set[str]]:
    """Module → its classes, of the files of the representation that there are."""
    return {
        module_name(package, package / file): set(
            classes_of(ast.parse((package / file).read_text(encoding="utf-8")))
        )
        for file in REPRESENTATION if (package / file).is_file()
    }


def functions_of(
    trees: dict[Path, ast.Module],
) -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions, with their files."""
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield path, node


def classes_of(tree: ast.Module) -> Iterator[str]:
    """Names of the classes of a module, those that others share included."""
    yield from (node.name for node in tree.body if isinstance(node, ast.ClassDef))


def names_of(tree: ast.Module, representation: dict[str, set[str]]) -> set[str]:
    """How a module writes the classes of the representation: `ir.Splice`, or `Splice` where it imports that.
    """
    every = set().union(*representation.values())
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                if f"{node.module}.{alias.name}" in representation:
                    found |= {f"{alias.asname or alias.name}.{name}" for name in every}
                elif node.module in representation and alias.name in every:
                    found.add(alias.asname or alias.name)
    return found


def told_apart(function: ast.AST) -> set[str]:
    """Classes that a function matches against or asks `isinstance` of, as it writes them; those of functions
    inside it aside.
    """
    found: set[str] = set()
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.MatchClass):
            found.add(ast.unparse(node.cls))
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
            and len(node.args) == 2
        ):
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            found.update(map(ast.unparse, kinds))
        stack.extend(ast.iter_child_nodes(node))
    return found


def last_name(node: ast.expr) -> str:
    """`C` of `a.b.C`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def mentions(tree: ast.AST, name: str) -> bool:
    """Whether a module uses a name, as itself or as an attribute of a module."""
    return any(
        isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == name for node in ast.walk(tree)
    )


def imports(package: Path, trees: dict[Path, ast.Module]) -> dict[str, set[str]]:
    """Module → modules of the package that it imports, wherever in it, but for type checking only."""
    names = {module_name(package, path): path for path in trees}
    found: dict[str, set[str]] = {}
    for name, path in names.items():
        wanted = set()
        for node in runtime_imports(trees[path]):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif node.module is not None:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= {other for other in inner if other in names} or {node.module}
        found[name] = {other for other in wanted if other in names and other != name}
    return found


def runtime_imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a module, also those inside functions, without those under `if TYPE_CHECKING`."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            stack.extend(node.orelse)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        else:
            stack.extend(ast.iter_child_nodes(node))


def module_name(package: Path, path: Path) -> str:
    """`gslang.check.rule` for its file."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Sets of modules that import each other, directly or over others (strongly connected components; Tarjan
    1972).
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    result: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            component = []
            while True:
                component.append(stack.pop())
                if component[-1] == name:
                    break
            if len(component) > 1:
                result.append(sorted(component))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return sorted(result)


if __name__ == "__main__":
    main(sys.argv[1:])
