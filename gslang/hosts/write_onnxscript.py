"""Rules as a Python module for onnxscript's rewriter: two functions for each rule, and the set of all.

Attributes that are handed on are variables of the pattern. Constants are given by their values; as onnxscript
compares them with a tolerance, so does what is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword

from gslang.hosts.sayable import Bound, Call, Number, Plain

_HEAD = '''"""Rules for onnxscript's rewriter, written by `gslc export onnxscript`."""

from onnxscript.rewriter import pattern
'''


def as_module(rules: Sequence[Plain]) -> bytes:
    """The text of the module. `rules` is the name of the set."""
    parts = [_HEAD, *(_rule(rule) for rule in rules)]
    names = ", ".join(_name(rule.name) for rule in rules)
    return (
        "\n\n".join(part.rstrip("\n") + "\n" for part in parts)
        + f"\n\nrules = pattern.RewriteRuleSet([{names}])\n"
    ).encode()


def _rule(rule: Plain) -> str:
    own = _name(rule.name)
    names: dict[str, str] = {}
    for name in (*rule.inputs, *(o for call in (*rule.source, *rule.target) for o in call.outputs)):
        names[name] = _name(name)
    variables = _variables(rule.source)
    read = _variables(rule.target)
    inputs = ", ".join(["op", *(names[i] for i in rule.inputs), *variables])
    target_inputs = ", ".join(["op", *(names[i] for i in rule.inputs), *read, "**_"])
    about = [f'    """{rule.doc}"""'.replace("\\", "\\\\")] if rule.doc and '"""' not in rule.doc else []
    lines = [
        f"def {own}_pattern({inputs}):", *about,
        *(f"    {line}" for line in _calls(rule.source, names, True)),
        f"    return {_results(rule.outputs, names)}",
    ]
    lines += [
        "", "", f"def {own}_replacement({target_inputs}):",
        *(f"    {line}" for line in _calls(rule.target, names, False)),
        f"    return {_results(rule.results, names)}",
    ]
    lines += ["", "", f"{own} = pattern.RewriteRule({own}_pattern, {own}_replacement, name={rule.name!r})"]
    return "\n".join(lines) + "\n"


def _variables(calls: Sequence[Call]) -> list[str]:
    found = {value.name: None for call in calls for _, value in call.attributes if isinstance(value, Bound)}
    return list(found)


def _results(outputs: Sequence[str], names: Mapping[str, str]) -> str:
    return ", ".join(names[name] for name in outputs)


def _calls(calls: Sequence[Call], names: Mapping[str, str], is_pattern: bool) -> list[str]:
    lines = []
    for call in calls:
        operands = []
        for operand in call.operands:
            if isinstance(operand, Number):
                operands.append(repr(operand.value.tolist()) if is_pattern else _constant(operand))
            else:
                operands.append("None" if operand is None else names[operand])
        attributes = [
            f"{name}={value.name if isinstance(value, Bound) else _literal(value)}"
            for name, value in call.attributes
        ]
        domain = [f"_domain={call.domain!r}"] if call.domain else []
        several = [f"_outputs={len(call.outputs)}"] if len(call.outputs) > 1 else []
        left = ", ".join(names[name] for name in call.outputs)
        lines.append(f"{left} = op.{call.operator}({', '.join([*operands, *attributes, *domain, *several])})")
    return lines


def _constant(number: Number) -> str:
    kind = "float" if number.value.dtype.kind == "f" else "int"
    return f"op.Constant(value_{kind}{'s' * bool(number.value.ndim)}={number.value.tolist()!r})"


def _literal(value: object) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _name(name: str) -> str:
    return f"{name}_" if iskeyword(name) or name in ("op", "pattern", "rules", "_") else name
