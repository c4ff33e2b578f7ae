"""Generated code for the parts of a new call: its attributes, its node, a constant among its operands."""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.engine.build import fitted, normalised
from gslang.engine.code_writer import Place, Writer
from gslang.engine.target_runtime import AllBut, AttributeMemo, Only, TypeTable
from gslang.engine.value_code import code_of


def add_node(
    writer: Writer, place: Place, result: str, operator: str, items: list[str], attrs: str, known: str
) -> None:
    """Append a node whose operands are there: what `Edits.add` does, in line."""
    operands = f"({''.join(f'{item}, ' for item in items)})"
    # what is remembered is built rarely; -1: absent
    if writer.remembered or any(
        item == "-1" or item.startswith("*") or not item[1:].replace("_", "").isdigit() for item in items
    ):
        writer.line(place, f"{result} = add({operator}, {operands}, {attrs}, {known})")
        return
    writer.line(place, f"{result} = len(op)")
    writer.line(
        place,
        f"op_append({operator}); operands_append({operands}); attrs_append({attrs}); names_append(None); "
        "users_append(())",
    )
    for k, item in enumerate(items):
        writer.note_user(place, item, result, k > 0)
    key = f"({''.join(f'types[{item}], ' for item in items)})"
    writer.line(place, f"kind = {known}.get({key}, MISSING)")
    writer.line(place, f"types_append(infer({result}, {known}, {key}) if kind is MISSING else kind)")


def attributes_code(writer: Writer, place: Place, call: ir.MakeCall) -> tuple[str, str, str]:
    """The operator, its attributes, and the table of result types, as code."""
    names, rule = writer.names, writer.plan.rule
    if isinstance(call.operator, str):
        operator = repr(call.operator)
        if not call.spreads and all(isinstance(value, ir.Const) for _, value in call.attributes):
            signature = rule.dialect.operators.get(call.operator)
            given = {
                name: fitted(value.value, signature, name)
                for name, value in call.attributes if isinstance(value, ir.Const)
            }
            return operator, names.constant(normalised(given, signature)), names.constant(TypeTable())
    else:
        operator = f"w_{call.operator[1]}"
    copied, computed = _copied(writer, call)
    parts = [f"attrs[present({names.slot(spread.place, spread.node)})]" for spread in call.spreads]
    parts += [f"attrs[{slot}]" for slot, _ in copied]
    chosen = [AllBut(spread.without) for spread in call.spreads] + [
        Only(frozenset(wanted)) for _, wanted in copied
    ]
    memo = names.constant(AttributeMemo(rule.dialect, chosen, tuple(name for name, _ in computed)))
    values = "".join(f"{code_of(value, names)}, " for _, value in computed)
    both = writer.name("attributes")
    writer.line(
        place, f"{both} = {memo}.of(E, {operator}, ({''.join(f'{part}, ' for part in parts)}), ({values}))"
    )
    return operator, f"{both}[0]", f"{both}[1]"


def _copied(
    writer: Writer, call: ir.MakeCall
) -> tuple[list[tuple[str, list[str]]], list[tuple[str, ir.Value]]]:
    """Attributes that are taken over from a matched call of the same operator as they stand, by its slot, and
    the others.
    """
    rule, names = writer.plan.rule, writer.names
    groups: dict[str, list[str]] = {}
    computed: list[tuple[str, ir.Value]] = []
    for name, value in call.attributes:
        match value:
            case ir.NodeAttr(place, node, field) if (
                field == name and node in writer.sure and names.is_there(node)
            ):
                pattern = rule.nodes[node]
                if isinstance(pattern, ir.CallNode) and pattern.operators == (call.operator,):
                    signature = rule.dialect.operators.get(pattern.operators[0])
                    if (
                        signature is not None and name in signature.attributes
                        and all(o.name != name for o in signature.operands)
                    ):
                        groups.setdefault(names.slot(place, node), []).append(name)
                        continue
        computed.append((name, value))
    return list(groups.items()), computed


def constant_code(writer: Writer, constant: ir.MakeConst, dtype: str) -> str:
    """The code that makes a new constant; `dtype`: the code of its element type, unless it states one."""
    names = writer.names
    value = code_of(constant.value, names)
    if constant.dtype is not None:
        dtype = code_of(constant.dtype, names)
    if constant.as_tuple:
        return f"constants(E, {value}, {dtype})"
    shape = "None" if constant.splat_shape is None else code_of(constant.splat_shape, names)
    if constant.optional:
        return f"constant_or_absent(E, {value}, {dtype}, {shape})"
    return f"constant(E, {value}, {dtype}, {shape})"
