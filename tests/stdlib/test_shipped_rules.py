"""Every shipped rule file: no findings, all its `test` items pass, every rule has a positive and a negative
one.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from gslang.base.source import Source
from gslang.check.checked import CheckedProgram
from gslang.check.modules import load_module
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse, read_source
from gslang.testing import run_tests
from tests.shipped import STDLIB

# that one declares operators
FILES = sorted(path.name for path in (STDLIB / "relay").glob("*.gsl") if path.name != "ops.gsl")


@cache
def programs() -> dict[str, CheckedProgram]:
    return {program.name.rsplit("/", 1)[-1]: program for program in load_module("std.relay")}


def test_all_files_are_modules() -> None:
    assert set(programs()) == set(FILES)


EXPECTED = """
trans_trans split_concat split_concat_variadic bias_add_add diamond_conv_add two_conv_add
conv_shortcut_add lower_batch_norm lower_layer_norm lower_group_norm lower_instance_norm
lower_l2_norm conv_mul merge_element_wise merge_element_wise_variadic dispatch_tuple
parallel_two_conv parallel_conv_variadic parallel_conv_expand_kernels parallel_group_conv_variadic
parallel_dense parallel_dense_variadic parallel_batch_matmul_variadic parallel_matmul_variadic
concretize_zeros_like concretize_ones_like concretize_reshape_like concretize_collapse_sum_like
concretize_broadcast_to_like simplify_reshape simplify_transpose full_element_wise
eliminate_identity simplify_pad_conv simplify_bias_add combine_parallel_conv2d
""".split()


@pytest.mark.parametrize("name", FILES)
def test_no_findings(name: str) -> None:
    assert [(d.code, d.message, str(d.primary.span)) for d in programs()[name].diagnostics] == []


@pytest.mark.parametrize("name", FILES)
def test_all_tests_pass(name: str) -> None:
    assert [(o.rule, o.title, o.problem) for o in run_tests(programs()[name]) if not o.passed] == []


def test_all_promised_rules_are_there() -> None:
    shipped = {rule for program in programs().values() for rule in program.own_rules}
    assert sorted(set(EXPECTED) - shipped) == []


@pytest.mark.parametrize("name", FILES)
def test_each_rule_has_a_positive_and_a_negative_test_and_a_doc(name: str) -> None:
    program = programs()[name]
    for rule in program.own_rules:
        assert program.rules[rule].doc, rule
        expectations = [test.expected for test in program.tests if test.rule == rule]
        assert any(e is not None for e in expectations), rule
        assert any(e is None for e in expectations), rule


# As CONTRIBUTING.md lists them.
TAGS = frozenset(
    "algebra cleanup fusion inference layout onnxruntime quantization shape transformers".split()
)


@pytest.mark.parametrize("package", ["relay", "onnx", "onnxruntime"])
def test_each_rule_says_what_it_is_for(package: str) -> None:
    for program in load_module(f"std.{package}"):
        for name in program.own_rules:
            tags = program.rules[name].tags
            assert tags and TAGS.issuperset(tags), name


# The substitutions of TVM's SimplifyExpr, CombineParallel*, SimplifyInference and SimplifyConvPad.
OF_TVM = """
simplify_reshape simplify_transpose full_element_wise eliminate_identity concretize_zeros_like
concretize_ones_like concretize_reshape_like concretize_collapse_sum_like concretize_broadcast_to_like
combine_parallel_conv2d parallel_dense_variadic parallel_batch_matmul_variadic lower_batch_norm
lower_layer_norm lower_instance_norm lower_group_norm lower_l2_norm eliminate_dropout simplify_pad_conv
""".split()


def code_of(package: str, kind: type[n.Rule] | type[n.FnDecl]) -> dict[str, list[str]]:
    """Name → lines of each rule or function of a package, without annotations, blank lines and comments."""
    found = {}
    for path in sorted((STDLIB / package).glob("*.gsl")):
        source = read_source(path)
        assert isinstance(source, Source)
        for item in parse(source).program.items:
            if isinstance(item, kind):
                lines = source.text[item.span.start : item.span.end].splitlines()
                found[item.name.id] = [
                    line for line in lines if line.strip() and not line.lstrip().startswith(("#", "@"))
                ]
    return found


def rule_lines(package: str) -> int:
    """The number of lines of the rules of a package; functions and tests do not count."""
    return sum(map(len, code_of(package, n.Rule).values()))


def test_rules_say_what_they_share_once() -> None:
    """By families, kinds of inputs and functions; written out, they took some 2,000 lines."""
    assert 1_000 < rule_lines("relay") + rule_lines("onnx") <= 1_430


def test_nineteen_substitutions_of_tvm_are_short() -> None:
    """With all functions that they use, in 130 lines (docs/comparison.md)."""
    rules, functions = code_of("relay", n.Rule), code_of("relay", n.FnDecl)
    used: dict[str, list[str]] = {}
    waiting = [rules[name] for name in OF_TVM]
    while waiting:
        for name in set(re.findall(r"\w+(?=\()", "\n".join(waiting.pop()))) & functions.keys() - used.keys():
            used[name] = functions[name]
            waiting.append(used[name])
    assert len(set(OF_TVM)) == 19
    assert 100 < sum(len(rules[name]) for name in OF_TVM) + sum(map(len, used.values())) <= 130
