"""The words as tree-sitter files: a module for `grammar.js` and lists in the highlighting query."""

from __future__ import annotations

import json

from gslang.highlight import words as table


def words_module() -> str:
    """`words.js`: the words that no name may be."""
    listed = json.dumps([word for word in table.words() if word not in table.SOFT])
    return (
        f"// Written by: python -m gslang.highlight.generate\nmodule.exports = {{\n  reserved: {listed},\n"
        f"}};\n"
    )


def highlights_part() -> str:
    """Patterns for words and operators, between the marks of `highlights.scm`."""
    operators = [word for word in table.keywords() if word in ("and", "or", "not", "in", "is")]
    others = [word for word in table.keywords() if word not in operators]
    groups = (
        (table.items(), "keyword"),
        (others, "keyword"),
        (operators, "keyword.operator"),
        (table.signs(), "operator"),
    )
    text = "".join(
        f"[\n{''.join(f'  {json.dumps(word)}{chr(10)}' for word in found)}] @{capture}\n\n"
        for found, capture in groups
    )
    functions = "".join(f"\n    {json.dumps(name)}" for name in table.BUILTINS)
    return (
        f"{text}(call\n  function: (identifier) @function.builtin\n"
        f"  (#any-of? @function.builtin{functions}))\n"
    )
