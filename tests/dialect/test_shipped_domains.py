"""Every attribute of every shipped operator says which values it may have, or stands in a short list with the
reason.
"""

from __future__ import annotations

import re

import pytest

from gslang.dialect.domain import (
    Anything,
    Domain,
    Exactly,
    Interval,
    ListOf,
    OneOf,
    TupleOf,
    contains,
)
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.schemas import read_domains
from gslang.dialect.signature import REQUIRED, AttributeSpec

# Operator and attribute, as regular expressions → why nothing is declared.
UNDECLARED = {
    r"strided_slice\.(begin|end)|Slice\.(starts|ends)|Pad\.pads": (
        "any integers: what lies outside is clamped, negative pads cut off"
    ),
    r"device_copy\.\w+_virtual_device": "names of devices",
    r"(If|Loop|Scan|SequenceMap|Optional|ai\.onnx\.preview\.FlexAttention)\.(\w+_branch|body|type|\w+_mod)": (
        "graphs and types, carried as they are"
    ),
    r"Constant\.value(_int|_ints|_string|_strings)?|Constant\.sparse_value": "any constant",
    r"ConstantOfShape\.value": "any constant",
    r"ConcatFromSequence\.axis|Scan\.scan_(in|out)put_axes": (
        "axes of what is in a sequence or is sliced, whose rank no type tells"
    ),
    r".*Dropout\.seed": "any integer", r".*Loss\.ignore_index": "any label",
    r"Einsum\.equation|RegexFullMatch\.pattern": "languages of their own",
    r"String\w+\.(locale|stopwords|delimiter)": "languages of their own",
    r"TfIdfVectorizer\.(ngram_counts|ngram_indexes|pool_\w+)": "a vocabulary",
    r"ai\.onnx\.ml\.\w+\.(cats|default|keys|values|classlabels|imputed|replaced)\w*": "labels",
    r"ai\.onnx\.ml\.\w+\.(int64_vocabulary|string_vocabulary)\w*": "labels",
    r"ai\.onnx\.ml\.TreeEnsemble\w*\.(\w+_as_tensor|leaf_weights|membership_values)": "tensors",
    r"ai\.onnx\.ml\.TreeEnsemble\w*\.nodes_(hitrates|modes|splits)": "tensors",
    r"ai\.onnx\.preview\.training\.Gradient\.\w+": "names of values",
}


def is_declared(domain: Domain) -> bool:
    """False where nothing says which values there are: a plain `str`, `int`, `array`, `graph` or `tensor`, or
    a list of such.
    """
    match domain:
        case Interval(base, None, None):
            return base == "float"
        case Anything(base):
            return base in ("bool", "dtype")
        case ListOf(item):
            return is_declared(item)
        case TupleOf(items):
            return all(map(is_declared, items))
        case OneOf(parts):
            return any(is_declared(part) and part != Exactly(None) for part in parts)
    return True


def attributes(dialect: str) -> list[tuple[str, AttributeSpec]]:
    signatures = load_dialect(dialect).operators.values()
    specs = [
        (s.name, [*s.attributes.values(), *(o.attribute for o in s.operands if o.attribute is not None)])
        for s in signatures
    ]
    return [(name, spec) for name, found in specs for spec in found]


@pytest.mark.parametrize("dialect", ["relay", "onnx"])
def test_every_attribute_has_a_domain(dialect: str) -> None:
    missing = {f"{name}.{spec.name}" for name, spec in attributes(dialect) if not is_declared(spec.domain)}
    assert (
        sorted(where for where in missing if not any(re.fullmatch(pattern, where) for pattern in UNDECLARED))
        == []
    )


def test_the_list_of_reasons_is_not_longer_than_needed() -> None:
    missing = {
        f"{name}.{spec.name}"
        for d in ("relay", "onnx")
        for name, spec in attributes(d) if not is_declared(spec.domain)
    }
    assert [
        pattern for pattern in UNDECLARED if not any(re.fullmatch(pattern, where) for where in missing)
    ] == []
    assert len(missing) < 90


@pytest.mark.parametrize("dialect", ["relay", "onnx"])
def test_defaults_lie_in_their_domains(dialect: str) -> None:
    wrong = [
        (name, spec.name)
        for name, spec in attributes(dialect)
        if spec.default is not REQUIRED and contains(spec.domain, spec.default) is False
    ]
    assert wrong == []


def test_onnx_domains_are_about_attributes_that_exist() -> None:
    operators = load_dialect("onnx").operators
    assert [
        (name, key)
        for name, table in read_domains().items()
        for key in table if operators[name].attribute(key) is None
    ] == []


def test_onnx_bounds_mention_operands_that_exist() -> None:
    """Operands in `domains.gsl` only name what bounds mention: they must be the schema's."""
    from gslang.dialect.onnx.schemas import declared_domains
    from gslang.dialect.shipped import declared_operators

    operators = load_dialect("onnx").operators
    found = declared_operators("domains.gsl", declared_domains())
    assert [
        (s.name, o.name)
        for s in found
        for o in s.operands if o.name not in {real.name for real in operators[s.name].operands}
    ] == []


def test_unused_ranges_of_literals_are_told_apart() -> None:
    """A few facts, from the operators' documentation."""
    onnx, relay = load_dialect("onnx").operators, load_dialect("relay").operators
    for signature, name, inside, outside in [
        (onnx["Pad"], "mode", "wrap", "constnt"), (onnx["Cast"], "round_mode", "nearest", "even"),
        (onnx["TopK"], "largest", 0, 2), (onnx["ScatterND"], "reduction", "max", "mean"),
        (onnx["LSTM"], "activations", ("Tanh",) * 3, ("Tan",) * 3),
        (onnx["com.microsoft.MatMulNBits"], "bits", 8, 3), (relay["nn.pad"], "pad_mode", "edge", "symmetric"),
        (relay["topk"], "ret_type", "values", "all"), (relay["nn.dropout"], "rate", 0.0, 1.0),
    ]:
        spec = signature.attribute(name)
        assert spec is not None
        assert contains(spec.domain, inside) is not False, name
        assert contains(spec.domain, outside) is False, name
