"""Rules with 2, 3 or any number of outputs and 1, 2 or 3 operators per branch, as text; and the networks that
they are for.

Branches share one tensor. Inception: convolution, bias, relu become one of each and a split. Transformer:
dense, bias, reshape (query, key, value), likewise. NASNet: relu, convolution, convolution, of which the relu
becomes one. Not here: clocks (`thesis`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from examples.models.nasnet_cell import build as nasnet
from examples.models.transformer import build as transformer
from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

ANY = 0  # any number of outputs
OUTPUTS = (2, 3, ANY)
OPERATORS = (1, 2, 3)


def inception(modules: int) -> Graph:
    """Modules of three 1×1 branches (two with a 3×3 convolution behind) and a pooled one, as after folding
    batch norms.
    """
    b = Builder(load_dialect("relay"))

    def unit(x: int, name: str, channels: int, kernel: int = 1) -> int:
        weight = b.param(f"{name}_weight", (channels, b.shape(x)[1], kernel, kernel))
        y = b.call("nn.conv2d", x, weight, padding=(kernel // 2,) * 4)
        return b.call("nn.relu", b.call("nn.bias_add", y, b.param(f"{name}_bias", (channels,))))

    x = b.input("data", (1, 64, 16, 16))
    for k in range(modules):
        pooled = b.call("nn.max_pool2d", x, pool_size=(3, 3), strides=(1, 1), padding=(1, 1, 1, 1))
        parts = [
            unit(x, f"m{k}a", 16),
            unit(unit(x, f"m{k}b", 16), f"m{k}bb", 16, 3),
            unit(unit(x, f"m{k}c", 16), f"m{k}cc", 16, 3),
            unit(pooled, f"m{k}d", 16),
        ]
        x = b.call("concatenate", b.pack(*parts), axis=1)
    return b.finish(x)


# Name → graph of a size, sizes, and operator calls that a size has about.
NETWORKS: dict[str, tuple[Callable[[int], Graph], Sequence[int]]] = {
    "Inception": (inception, (10, 30, 100, 300)),
    "Transformer": (
        lambda layers: transformer(layers=layers, d_model=64, heads=4, d_ff=128, length=16, values=False),
        (8, 25, 80, 250),
    ),
    "NASNet": (
        lambda cells: nasnet(cells=cells, reductions=0, filters=8, stem=16, size=8, values=False),
        (4, 13, 40, 130),
    ),
}


def rule_text(network: str, outputs: int, operators: int) -> str:
    """One rule. `outputs`: 2, 3 or `ANY`; `operators` per branch: 1 to 3."""
    make = {"Inception": _convolutions, "Transformer": _dense, "NASNet": _relus}[network]
    return "dialect relay;\n" + make(outputs, operators)


def _convolutions(outputs: int, operators: int) -> str:
    last = ("conv", "biased", "active")[operators - 1]
    if outputs == ANY:
        each = "w = var(shape = (_, _, first.w.shape[2], first.w.shape[3]));\n"
        each += "conv = nn.conv2d(x, w, groups = 1, first.conv.{strides, padding, dilation});\n"
        each += "b = var;\nbiased = nn.bias_add(conv, b, axis = 1);\n" if operators > 1 else ""
        each += "active = nn.relu(biased);\n" if operators > 2 else ""
        source = f"each branch in 2.. {{\n{each}}}\n*branch.{last}"
        weights, biases = "[i.w for i in branch]", "[i.b for i in branch]"
        sections, geometry, results, header = (
            "cumsum([i.w.shape[0] for i in branch])[:-1]", "branch[0].conv.*", "*parts", "x",
        )
    else:
        every = range(outputs)
        header = "x, " + ", ".join(
            f"w{i}: var"
            + (
                f"(shape = (_, _, w0.shape[2], w0.shape[3])){'' if operators == 1 else f', b{i}: var'}" if i
                else ", b0: var" * (operators > 1)
            )
            for i in every
        )
        source = ""
        for i in every:
            source += (
                f"conv{i} = nn.conv2d(x, w{i}, groups = "
                f"1{', conv0.{strides, padding, dilation}' if i else ''});\n"
            )
            source += f"biased{i} = nn.bias_add(conv{i}, b{i}, axis = 1);\n" if operators > 1 else ""
            source += f"active{i} = nn.relu(biased{i});\n" if operators > 2 else ""
        source += ", ".join(f"{last}{i}" for i in every)
        weights, biases = (f"({', '.join(f'{name}{i}' for i in every)})" for name in "wb")
        sections = f"cumsum([{', '.join(f'w{i}.shape[0]' for i in every)}])[:-1]"
        geometry, results = "conv0.*", ", ".join(f"parts.{i}" for i in every)
    target = f"all_convs = nn.conv2d(x, concatenate({weights}, axis = 0), {geometry}, channels = none);\n"
    target += (
        f"all_biased = nn.bias_add(all_convs, concatenate({biases}, axis = 0), axis = 1);\n" if operators > 1
        else ""
    )
    target += "all_active = nn.relu(all_biased);\n" if operators > 2 else ""
    whole = ("all_convs", "all_biased", "all_active")[operators - 1]
    return (
        f"rule merge({header}) {{\n{source}\n=>\n{target}parts = split({whole}, indices_or_sections = "
        f"{sections}, axis = 1);\n{results}\n}}\n"
    )


def _dense(outputs: int, operators: int) -> str:
    last = ("layer", "biased", "heads")[operators - 1]
    if outputs == ANY:
        each = "w = var(shape = first.w.shape);\nlayer = nn.dense(x, w);\n"
        each += "b = var;\nbiased = nn.bias_add(layer, b, axis = -1);\n" if operators > 1 else ""
        each += "heads = reshape(biased, first.heads.*);\n" if operators > 2 else ""
        condition = " where len(branch[0].heads.newshape) == 4" if operators > 2 else ""
        source = f"each branch in 2.. {{\n{each}}}\n*branch.{last}{condition}"
        weights, biases, count, header, results = (
            "[i.w for i in branch]", "[i.b for i in branch]", "len(branch)", "x", "*parts",
        )
        shape = "branch[0].heads.newshape"
    else:
        every = range(outputs)
        header = "x, " + ", ".join(
            f"w{i}: var{'(shape = w0.shape)' if i else ''}" + (f", b{i}: var" if operators > 1 else "")
            for i in every
        )
        source = ""
        for i in every:
            source += f"layer{i} = nn.dense(x, w{i});\n"
            source += f"biased{i} = nn.bias_add(layer{i}, b{i}, axis = -1);\n" if operators > 1 else ""
            source += f"heads{i} = reshape(biased{i}{', heads0.*' if i else ''});\n" if operators > 2 else ""
        source += ", ".join(f"{last}{i}" for i in every) + (
            " where len(heads0.newshape) == 4" if operators > 2 else ""
        )
        weights, biases = (f"({', '.join(f'{name}{i}' for i in every)})" for name in "wb")
        count, results, shape = str(outputs), ", ".join(f"parts.{i}" for i in every), "heads0.newshape"
    target = f"all_layers = nn.dense(x, concatenate({weights}, axis = 0));\n"
    target += (
        f"all_biased = nn.bias_add(all_layers, concatenate({biases}, axis = 0), axis = -1);\n"
        if operators > 1
        else ""
    )
    if operators > 2:
        target += (
            f"s = {shape};\nall_heads = reshape(all_biased, newshape = (s[0], s[1], s[2] * {count}, s[3]));\n"
        )
    whole = ("all_layers", "all_biased", "all_heads")[operators - 1]
    target += f"parts = split({whole}, indices_or_sections = {count}, axis = {2 if operators > 2 else -1});\n"
    return f"rule merge({header}) {{\n{source}\n=>\n{target}{results}\n}}\n"


def _relus(outputs: int, operators: int) -> str:
    last = ("active", "inner", "outer")[operators - 1]
    if outputs == ANY:
        each = "active = nn.relu(x);\n"
        each += "w = var;\ninner = nn.conv2d(active, w);\n" if operators > 1 else ""
        each += "v = var;\nouter = nn.conv2d(inner, v);\n" if operators > 2 else ""
        source = f"each branch in 2.. {{\n{each}}}\n*branch.{last}"
        new = (
            "one", "nn.conv2d(one, i.w, i.inner.*)",
            "nn.conv2d(nn.conv2d(one, i.w, i.inner.*), i.v, i.outer.*)",
        )[operators - 1]
        header, results = "x", f"*[{new} for i in branch]"
    else:
        every = range(outputs)
        header = ", ".join(["x", *(f"{name}{i}: var" for name in ("w", "v")[: operators - 1] for i in every)])
        source, targets = "", []
        for i in every:
            source += f"active{i} = nn.relu(x);\n"
            source += f"inner{i} = nn.conv2d(active{i}, w{i});\n" if operators > 1 else ""
            source += f"outer{i} = nn.conv2d(inner{i}, v{i});\n" if operators > 2 else ""
            inner = f"nn.conv2d(one, w{i}, inner{i}.*)"
            targets.append(("one", inner, f"nn.conv2d({inner}, v{i}, outer{i}.*)")[operators - 1])
        source += ", ".join(f"{last}{i}" for i in every)
        results = ", ".join(targets)
    return f"rule share({header}) {{\n{source}\n=>\none = nn.relu(x);\n{results}\n}}\n"


# Ten operators of one operand, three in a row: a thousand chains, none of which the family `tt` contains.
UNARY = ("exp", "sqrt", "abs", "negative", "log", "floor", "ceil", "round", "sin", "cos")


def rules_that_do_not_apply(count: int) -> str:
    """`count` rules, at most 1000, whose first operator is one that the graphs of family `tt` are made of."""
    chains = [(a, b, c) for a in UNARY for b in UNARY for c in UNARY][:count]
    rules = [
        f"rule absent{k}(x): tanh(transpose({a}({b}({c}(x))))) => {c}(x);"
        for k, (a, b, c) in enumerate(chains)
    ]
    return "\n".join(rules) + "\n"
