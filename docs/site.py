"""Stages the sources of the documentation site in build/docs: the manual, generated reference pages and the
top-level pages.
"""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path

import gslang
from gslang.base.codes import CODES
from gslang.dialect.load import dialect_names, load_dialect
from gslang.lint.codes import LINTS

ROOT = Path(__file__).resolve().parent.parent
STAGED = ROOT / "build" / "docs"
TOP = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}


def main() -> None:
    """Write all pages anew."""
    shutil.rmtree(STAGED, ignore_errors=True)
    shutil.copytree(ROOT / "docs", STAGED, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for page in STAGED.glob("*.md"):
        page.write_text(_relinked(page.read_text(encoding="utf-8"), "../"), encoding="utf-8")
    for name, staged in TOP.items():
        if name != "README.md":
            text = (ROOT / name).read_text(encoding="utf-8")
            (STAGED / staged).write_text(_relinked(text.replace("](docs/", "]("), ""), encoding="utf-8")
    for name, text in (
        ("operators.md", operators()), ("api.md", interface()), ("diagnostics.md", diagnostics()),
    ):
        (STAGED / name).write_text(text, encoding="utf-8")


def _relinked(text: str, prefix: str) -> str:
    """Links to top-level pages lead to their staged names; links to other files of the repository become
    plain text.
    """
    for name, staged in TOP.items():
        text = text.replace(f"]({prefix}{name}", f"]({staged}")
    return re.sub(r"\[([^\]]+)\]\((?:\.\./|(?=[\w-]+/))(?!images/)[^):]+\)", r"\1", text)


def operators() -> str:
    """A page with the declaration of each operator of each dialect."""
    parts = ["# Operators\n\nGenerated from the declarations; `gslc ops` searches them.\n"]
    for name in dialect_names():
        known = load_dialect(name).operators
        parts.append(f"## {name}\n\n{len(known)} operators.\n")
        parts += [f"### {op}\n\n{known[op].doc}\n\n```gsl\n{known[op]}\n```\n" for op in sorted(known)]
    return "\n".join(parts)


def interface() -> str:
    """A page with the signature and the documentation of each public name."""
    parts = ["# Python names\n\nGenerated from the docstrings of `gslang`.\n"]
    for name in gslang.__all__:
        value = getattr(gslang, name)
        if inspect.ismodule(value):
            parts.append(f"## gslang.{name}\n\n{inspect.getdoc(value)}\n")
            parts += [
                _entry(f"{name}.{k}", v, "###")
                for k, v in vars(value).items() if inspect.isfunction(v) and v.__module__ == value.__name__
            ]
            continue
        parts.append(_entry(name, value, "##"))
        if inspect.isclass(value):
            members = [
                (k, v)
                for k, v in vars(value).items()
                if not k.startswith("_") and (inspect.isfunction(v) or isinstance(v, property))
            ]
            parts += [_entry(f"{name}.{k}", v, "###") for k, v in members]
    return "\n".join(parts)


def _entry(name: str, value: object, level: str) -> str:
    doc = inspect.getdoc(value) or ""
    if isinstance(value, property) or not callable(value):
        return f"{level} {name}\n\n{doc}\n"
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = "(…)"
    return f"{level} {name}\n\n```text\n{name}{signature}\n```\n\n{doc}\n"


def diagnostics() -> str:
    """A page with what `gslc explain` says about each code."""
    parts = ["# Diagnostics\n\nGenerated; `gslc explain CODE` prints one of them.\n"]
    for codes, folder in ((CODES, "check"), (LINTS, "lint")):
        for code in sorted(codes):
            page = ROOT / "gslang" / folder / "explain" / f"{code}.md"
            text = page.read_text(encoding="utf-8") if page.is_file() else f"# {code}: {codes[code].title}\n"
            parts.append(_deeper(text))
    return "\n".join(parts)


def _deeper(text: str) -> str:
    """A page's headings one level down; lines of code stay."""
    pieces = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(
        piece if piece.startswith("```") else re.sub(r"^#", "##", piece, flags=re.MULTILINE)
        for piece in pieces
    )


if __name__ == "__main__":
    main()
