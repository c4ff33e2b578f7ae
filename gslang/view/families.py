"""Families of operators, by which a page colours nodes: read from the operators' names, so that unknown
dialects have colours too.
"""

from __future__ import annotations

import re
from typing import Final

FAMILIES: Final = (
    "contraction", "normalization", "activation", "reduction", "elementwise", "movement", "quantization",
    "control", "leaf", "other",
)

_WORDS: Final[tuple[tuple[str, str], ...]] = (  # the first family with a word in the name
    ("quantization", r"quanti[sz]e|qlinear|qdq|requantize|qnn|dynamicquantize|matmulinteger|convinteger"),
    ("contraction", r"conv|matmul|gemm|dense|einsum|attention|lstm|gru|rnn|dot|linear"),
    ("normalization", r"norm|lrn|batchnorm|dropout"),
    (
        "activation",
        r"relu|gelu|silu|swish|sigmoid|softmax|softplus|softsign|tanh|elu|selu|celu|mish|erf"
        r"|hardswish|clip|threshold",
    ),
    ("reduction", r"reduce|pool|mean|argmax|argmin|topk|cumsum|^sum$|^max$|^min$|^prod$|^all$|^any$|lpnorm"),
    ("control", r"^if$|^loop$|^scan$|sequence|optional|identity|^copy$|nop"),
    (
        "movement",
        r"reshape|transpose|concat|split|slice|gather|scatter|squeeze|expand|tile|repeat|pad|flatten"
        r"|layout|stack|shape|size|cast|resize|upsampl|broadcast"
        r"|onehot|take|strided|reverse|depthtospace|spacetodepth|range|arange|full|zeros|ones|constantof",
    ),
    (
        "elementwise",
        r"add|sub|mul|div|pow|sqrt|exp|log|neg|abs|floor|ceil|round|sign|recip|equal|greater|less"
        r"|where|maximum|minimum|max|min|sum|mod|and|or|xor|not|sin|cos|bias",
    ),
)
_COMPILED: Final = tuple((family, re.compile(words)) for family, words in _WORDS)


def family_of(operator: str) -> str:
    """The family of an operator, or "leaf" for inputs, parameters, constants, tuples and projections."""
    if operator.startswith("%"):
        return "leaf"
    name = operator.rsplit(".", 1)[-1].replace("_", "").lower()
    whole = operator.replace("_", "").lower()
    for family, words in _COMPILED:
        if words.search(name) or (family == "quantization" and words.search(whole)):
            return family
    return "other"
