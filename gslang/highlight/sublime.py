"""The scopes as a syntax definition of Sublime Text (YAML)."""

from __future__ import annotations

from gslang.highlight.scopes import Context, Include, Match, Region, contexts


def sublime() -> str:
    """The text of `gslang.sublime-syntax`."""
    lines = [
        "%YAML 1.2", "---", "# Written by: python -m gslang.highlight.generate",
        "name: gslang", "file_extensions: [gsl]",
    ]
    lines += ["scope: source.gslang", "version: 2", "contexts:"]
    for name, context in contexts().items():
        lines += [f"  {name}:", *_context(context)]
    return "\n".join(lines) + "\n"


def _context(context: Context) -> list[str]:
    lines: list[str] = []
    for entry in context:
        match entry:
            case Include(name):
                lines.append(f"    - include: {name}")
            case Match(pattern, scopes):
                lines += [f"    - match: {_quoted(pattern)}", *_scopes(scopes, "      ")]
            case Region():
                lines += [
                    f"    - match: {_quoted(entry.begin)}", *_scopes(entry.begin_scopes, "      "),
                    "      push:",
                ]
                if entry.scope:
                    lines.append(f"        - meta_scope: {entry.scope}.gslang")
                lines += [
                    f"        - match: {_quoted(entry.end)}", *_scopes(entry.end_scopes, "          "),
                    "          pop: true",
                ]
                lines.append(f"        - include: {entry.inside}")
    return lines


def _scopes(scopes: dict[int, str], indent: str) -> list[str]:
    if list(scopes) == [0]:
        return [f"{indent}scope: {scopes[0]}.gslang"]
    return (
        [f"{indent}captures:", *(f"{indent}  {group}: {scope}.gslang" for group, scope in scopes.items())]
        if scopes
        else []
    )


def _quoted(pattern: str) -> str:
    return "'" + pattern.replace("'", "''") + "'"
