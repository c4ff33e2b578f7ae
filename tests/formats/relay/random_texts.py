"""Random modules of Relay text that use every construct of `docs/relay-text.md`, each from a seed."""

from __future__ import annotations

from random import Random

from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import AttributeSpec, AttributeType, Signature

HEADERS = ('#[version = "0.0.5"]\n', "v0.0.4\n", "", '// by hand /* not a comment\n#[ version = "0.0.5" ]\n')
DTYPES = ("float32", "float16", "float64", "int8", "uint8", "int32", "int64", "bool", "bfloat16", "float32x4")
NAMES = (
    "x", "input.1", "conv-1/w", "serving_default_input_1:0", "a.b:0", "größe", "w.0", "x_1", "x__1", "X",
    "free", "let", "fn", "meta", "True",
)
STRINGS = ("", "NCHW", 'q"u\\o', "tab\tline\n", "größe ✓", "meta[relay.Constant][0]", "/* ty=int8 */", "a;b")
FLOATS = (
    "0.1f", "1e-05f", "-0.0f", "inff", "-inff", "nanf", "3.4e38f", "1e-45f", "2f", "16777217f", "0.1f64",
    "5e-324f64", "65504f16", "1.5",
)
INTS = ("0", "-1", "7", "2147483648", "-2147483648", "9007199254740993", "3i64", "-3i16", "100i8")
INFIX = ("+", "-", "*", "/", "<", ">", "<=", ">=", "==", "!=")
UNARY = ("exp", "nn.relu", "negative", "tanh", "sigmoid", "copy")


class Text:
    """One module. `values`: names of bound values; `depth`: of nested expressions."""

    def __init__(self, seed: int, dialect: Dialect) -> None:
        self.rng, self.dialect = Random(seed), dialect
        self.operators = sorted(dialect.operators)
        self.values: list[str] = []
        self.tuples: dict[str, int] = {}
        self.functions: list[tuple[str, int]] = []
        self.count = 0

    def module(self) -> str:
        rng = self.rng
        header = rng.choice(HEADERS)
        parts = [self.function(f"f{k}") for k in range(rng.choice((0, 0, 1, 2)))]
        parts.append(self.function("main"))
        return header + rng.choice(("\n", "\n\n", " ")).join(parts) + "\n"

    def function(self, name: str) -> str:
        rng = self.rng
        self.values, self.tuples, self.count = [], {}, 0
        taken = rng.sample(NAMES, rng.randint(1, 4))
        parameters = [f"%{p}{rng.choice((': ', ':'))}{self.type_of(p)}" for p in taken]
        self.values = [f"%{p}" for p in taken]
        attributes = rng.choice((
            "", "", "Primitive=1", 'Compiler="ext", global_symbol="s"', "k=[1, 2], t=-0.5f",
        ))
        body = self.body(rng.randint(1, 7))
        inside = ", ".join([*parameters, *([attributes] if attributes else [])])
        self.functions.append((name, len(taken)))
        return f"def @{name}({inside}) {{\n{body}\n}}"

    def type_of(self, parameter: str) -> str:
        if self.rng.random() < 0.12:
            self.tuples[f"%{parameter}"] = 2
            return f"({self.tensor()}, {self.tensor()})"
        return self.tensor()

    def tensor(self) -> str:
        rng = self.rng
        dtype = rng.choice(DTYPES) if rng.random() < 0.3 else "float32"
        shape = rng.choice(("2, 3", "2, 3", "2, 3", "", "?, 3", "3,", "2i64, 3", "1, 2, 4, 4"))
        return rng.choice((dtype, f"Tensor[({shape}), {dtype}]", f"Tensor[({shape}), {dtype}]"))

    def body(self, length: int) -> str:
        rng, lines = self.rng, []
        for _ in range(length):
            match rng.randint(0, 9):
                case 0:
                    name = f"%{rng.choice(('a', 'b', 'x', 'y.2'))}"
                    stated = f": {self.tensor()}" if rng.random() < 0.2 else ""
                    lines.append(f"let {name}{stated} = {self.expression(2)};")
                case 1:
                    name = self.fresh()
                    lines.append(f"{name} = {self.nested()};")
                    user = self.fresh()
                    lines.append(f"{user} = {name}({self.value()});")
                    name = user
                case 2:
                    name = self.fresh()
                    fields = [self.expression(1) for _ in range(rng.choice((1, 2, 3)))]
                    lines.append(f"{name} = ({', '.join(fields)}{',' * (len(fields) == 1)});")
                    self.tuples[name] = len(fields)
                case _:
                    name = self.fresh()
                    lines.append(f"{name} = {self.expression(2)}{self.comment()};")
            self.values.append(name)
        self.values = list(dict.fromkeys(self.values))
        return "\n".join([*lines, self.last()])

    def fresh(self) -> str:
        self.count += 1 + (self.rng.random() < 0.1) * 3
        return f"%{self.count}"

    def last(self) -> str:
        fields = self.rng.sample(self.values, min(len(self.values), self.rng.choice((1, 1, 2, 3))))
        return fields[-1] if len(fields) == 1 else f"({', '.join(fields)})"

    def comment(self) -> str:
        return self.rng.choice((
            "", "", "", "", " /* a /* nested */ one */", f" /* ty={self.tensor()} */",
            f" /* ty={self.tensor()} span=a;b/c:d:1:2 */", " // ends } here\n",
        ))

    def value(self) -> str:
        name = self.rng.choice(self.values)
        return f"{name}.{self.rng.randrange(self.tuples[name])}" if name in self.tuples else name

    def nested(self) -> str:
        if self.rng.random() < 0.5:
            return f"fn (%p: {self.tensor()}) {{ add(%p, {self.value()}) }}"
        inside = f"%{self.count + 90}"
        result = self.tensor()
        body = f"{inside} = exp(%p);\n {inside} * %p"
        return f"fn (%p: {self.tensor()}, Primitive=1) -> {result} {{\n {body}\n }}"

    def expression(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice((self.value, self.value, self.value, self.literal))()
        match rng.randint(0, 13):
            case 0:
                return f"{self.expression(depth - 1)} {rng.choice(INFIX)} {self.expression(depth - 1)}"
            case 1:
                return f"({self.expression(depth - 1)})"
            case 2:
                return self.literal()
            case 3:
                return f"({self.expression(depth - 1)}, {self.expression(depth - 1)}).{rng.randint(0, 1)}"
            case 4:
                return f"(let %l = {self.expression(depth - 1)}; tanh(%l))"
            case 5 if self.functions:
                name, count = rng.choice(self.functions)
                return f"@{name}({', '.join(self.value() for _ in range(count))})"
            case 6:
                return f"my.op({self.value()}, {self.attributes(None)})"
            case 7:
                axis = rng.choice(("", ", axis=1", ", axis=-1"))
                return f"concatenate(({self.value()}, {self.value()}){axis})"
            case 8 | 9:
                return f"{rng.choice(UNARY)}({self.expression(depth - 1)})"
            case 10:
                parts = rng.choice(("2", "[1]"))
                return f"split({self.value()}, indices_or_sections={parts}).{rng.randint(0, 1)}"
            case _:
                return self.call(depth)

    def call(self, depth: int) -> str:
        signature = self.dialect.operators[self.rng.choice(self.operators)]
        operands = [
            f"({self.value()}, {self.value()})" if spec.kind != "tensor" else self.expression(depth - 1)
            for spec in signature.operands if not spec.optional or self.rng.random() < 0.5
        ]
        attributes = self.attributes(signature)
        return f"{signature.name}({', '.join([*operands, *([attributes] if attributes else [])])})"

    def attributes(self, signature: Signature | None) -> str:
        rng = self.rng
        if signature is None:
            return ", ".join(f"{name}={self.any_value(2)}" for name in rng.sample("abcdk", rng.randint(1, 3)))
        chosen = [
            f"{name}={self.declared_value(spec)}"
            for name, spec in signature.attributes.items() if rng.random() < 0.6
        ]
        if rng.random() < 0.05:
            chosen.append(f"mood={self.any_value(1)}")
        return ", ".join(chosen)

    def declared_value(self, spec: AttributeSpec) -> str:
        return self.typed(self.rng.choice(spec.types)) if self.rng.random() < 0.95 else self.any_value(1)

    def typed(self, type: AttributeType) -> str:
        rng = self.rng
        if type.optional and rng.random() < 0.3:
            return "None"
        if type.depth:
            items = [rng.choice(("0", "1", "2")) for _ in range(rng.choice((1, 2, 4)))]
            return f"[{', '.join(items)}]"
        match type.base:
            case "int":
                return rng.choice(("0", "1", "2", "-1", "1i64", "4"))
            case "float":
                return rng.choice(FLOATS[:-1])
            case "bool":
                return rng.choice(("True", "False", "1", "0"))
            case "dtype":
                return rng.choice(('"float32"', '"int8"', '""'))
            case _:
                return self.string()

    def any_value(self, depth: int) -> str:
        rng = self.rng
        match rng.randint(0, 6):
            case 0:
                return rng.choice(INTS[:6])
            case 1:
                return rng.choice(FLOATS)
            case 2:
                return rng.choice(("True", "False", "None", "nullptr"))
            case 3:
                return self.string()
            case 4:
                return rng.choice(("meta[VirtualDevice][0]", "(3)"))
            case _:
                items = [self.any_value(depth - 1) for _ in range(rng.randint(0, 3))] if depth else []
                return f"[{', '.join(items)}]"

    def string(self) -> str:
        text = self.rng.choice(STRINGS)
        for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
            text = text.replace(plain, escaped)
        return f'"{text}"'

    def literal(self) -> str:
        noted = ("0.25f /* ty=float32 */", "1 /* ty=int64 */")
        return self.rng.choice((*FLOATS, *INTS, "True", "False", *noted))


def random_text(seed: int, dialect: Dialect) -> str:
    return Text(seed, dialect).module()
