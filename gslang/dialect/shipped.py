"""Reading the declarations of shipped dialects. The parser loads only when it is needed."""

from __future__ import annotations

from gslang.dialect.signature import Signature


def declared_operators(path: str, text: str) -> list[Signature]:
    """The signatures of a shipped file of declarations."""
    from gslang.base.source import Source
    from gslang.dialect.declarations import signature_of
    from gslang.syntax import nodes as n
    from gslang.syntax.parser import parse

    parsed = parse(Source(path, text))
    problems = list(parsed.diagnostics)
    signatures = []
    for item in parsed.program.items:
        if isinstance(item, n.OpDecl):
            signature, found = signature_of(item)
            signatures.append(signature)
            problems += found
    if problems:
        shown = "; ".join(f"{d.primary.span}: {d.message}" for d in problems)
        raise AssertionError(f"the shipped dialect does not load: {shown}")
    return signatures
