"""The dependency direction is law: each layer imports only itself and those above it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent / "gslang"
LAYERS = [
    "base", "syntax", "dialect", "graph", "check", "engine", "evaluate", "formats", "testing", "highlight",
    "verify", "search", "notebook", "api", "onnx", "taso", "fmt", "generalize", "hosts", "discover", "lint",
    "view", "lsp", "cli",
]
FILES = sorted(
    p
    for p in ROOT.rglob("*.py")
    if p.name not in ("__main__.py",) and p.parent != ROOT
    or p.name in ("notebook.py", "onnx.py", "testing.py")
)


def layer(module: str) -> int | None:
    parts = module.split(".")
    return LAYERS.index(parts[1]) if len(parts) > 1 and parts[0] == "gslang" and parts[1] in LAYERS else None


def test_imports_only_upwards() -> None:
    assert not [f"{path.relative_to(ROOT)} imports {name}" for path in FILES for name in downwards(path)]


def downwards(path: Path) -> list[str]:
    """What a file imports from layers below its own."""
    own = layer("gslang." + ".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert own is not None, path
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if (layer(name) or 0) > own]


def test_the_table_of_layers_is_complete_and_in_order() -> None:
    text = (ROOT.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `gslang/(\w+)", text, re.MULTILINE) == LAYERS


def test_the_core_is_light() -> None:
    """`import gslang` loads neither NumPy nor Lark."""
    import subprocess
    import sys

    code = "import gslang, sys; import gslang.cli.main; print(sorted({'numpy', 'lark'} & set(sys.modules)))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_modules_import_in_one_direction() -> None:
    """No module imports one that imports it, directly or over others, inside functions included."""
    from benchmarks.structure import cycles, imports

    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    assert cycles(imports(ROOT, trees)) == []


def test_docstrings_begin_with_what_is_returned_or_done() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{k}: {line.strip()}"
        for path in sorted(ROOT.rglob("*.py"))
        for k, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.match(r'\s*r?"""(What|Whether|Which|How)\b', line)
    ]
    assert wrong == [], "begin a docstring with a noun or a verb: “True if …”, “The …”"
