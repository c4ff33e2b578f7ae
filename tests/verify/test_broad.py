"""Rules over all families of operators and constructs, as a user who wants to fool the verifier would write
them: no wrong one is accepted, no right one refuted.

A wrong one is refuted, or `unknown`, or `tested` with what was not varied named (`test_unseen`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.check.checked import CheckedRule
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import Settings, verify_now
from tests.shipped import rule_names, rules_in
from tests.verify.test_unseen import is_accepted

FILES = sorted((Path(__file__).parent / "broad").glob("*.gsl"))
RULES = [(file.name, name) for file in FILES for name in rule_names(file)]
WRONG = [(file, name) for file, name in RULES if name.endswith("_wrong")]
RIGHT = [(file, name) for file, name in RULES if name.endswith("_right")]
QUICK = Settings(seconds=5, wanted=8, proof_steps=0)


def refuted(rules: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(file, name) for file, name in rules if verify_now(rule(file, name), QUICK).verdict == "refuted"]


def rule(file: str, name: str) -> CheckedRule:
    return rules_in(FILES[0].parent / file)[name]


def test_there_are_many() -> None:
    assert len(WRONG) >= 400 and len(RIGHT) >= 150 and len(WRONG) + len(RIGHT) == len(RULES)


def test_some_wrong_ones_are_not_accepted() -> None:
    assert [(file, name) for file, name in WRONG[::60] if is_accepted(rule(file, name))] == []


def test_some_right_ones_are_not_refuted() -> None:
    assert refuted(RIGHT[::60]) == []


@pytest.mark.parametrize(
    "file, name",
    [
        ("onnx_corners.gsl", "gemm_rows"), ("onnx_corners.gsl", "pool_one"),
        ("onnx_corners.gsl", "argmax_shift"), ("relay_corners.gsl", "stack"),
    ],
)
def test_sizes_that_coincide_are_tried(file: str, name: str) -> None:
    """Random sizes hardly ever meet the conditions of these where they are wrong."""
    assert verify_now(rule(file, f"{name}_wrong"), Settings(seconds=5)).verdict == "refuted"
    assert verify_now(rule(file, f"{name}_right"), QUICK).verdict == "exact"


def test_some_mistakes_in_attributes_are_not_accepted() -> None:
    some = [item for item in WRONG if item[0].endswith("_attributes.gsl")][::8]
    assert [(file, name) for file, name in some if is_accepted(rule(file, name))] == []


def test_some_right_attributes_are_not_refuted() -> None:
    assert refuted([item for item in RIGHT if item[0].endswith("_attributes.gsl")][2::16]) == []


def test_a_target_that_cannot_be_computed_for_inputs_of_unknown_rank_refutes() -> None:
    verdict = verify_now(rule("relay_movement.gsl", "all_wrong"), Settings(seconds=5))
    assert verdict.verdict == "refuted" and "axis 0 of a tensor with 0 dimensions" in verdict.reason


@pytest.mark.parametrize(
    "file, name", [("relay_rare.gsl", "cast_like_float"), ("onnx_rare.gsl", "like_back")]
)
def test_an_example_of_a_type_is_of_another_type(file: str, name: str) -> None:
    assert verify_now(rule(file, f"{name}_wrong"), QUICK).verdict == "refuted"


def test_sizes_that_a_narrow_type_does_not_hold_are_tried() -> None:
    verdict = verify_now(rule("onnx_spellings.gsl", "sizes_in_bytes_wrong"), Settings(seconds=5))
    assert verdict.verdict == "refuted" and verdict.counterexample is not None
    assert "4001" in verdict.counterexample.test


@pytest.mark.parametrize(
    "file, name",
    [
        ("relay_movement.gsl", "sl_mode"), ("relay_movement.gsl", "sl_axes"), ("relay_movement.gsl", "rrs"),
        ("relay_compositions.gsl", "ss_size"), ("onnx_movement.gsl", "slice_noop"),
    ],
)
def test_the_prover_alone_does_not_take_them(file: str, name: str) -> None:
    """Numbers that are read with other axes or in another mode; sizes are whole in any case."""
    with pytest.raises(NotProved):
        prove(rule(file, f"{name}_wrong"), 12_000)


@pytest.mark.parametrize(
    "file",
    [
        f"onnx_{name}.gsl"
        for name in ("blocks", "bytes", "images", "shapes", "lookups", "scores", "tables")
    ],
)
def test_the_prover_alone_takes_none_of_these_that_are_wrong(file: str) -> None:
    """Each wrong rule differs in one thing from one that is proved."""
    for name in [name for f, name in WRONG if f == file]:
        with pytest.raises(NotProved):
            prove(rule(file, name), 12_000)


@pytest.mark.parametrize(
    "file, name",
    [
        ("onnx_blocks.gsl", "sum_all"), ("onnx_blocks.gsl", "join"), ("onnx_shapes.gsl", "one"),
        ("onnx_shapes.gsl", "rest"), ("onnx_lookups.gsl", "twice"), ("onnx_lookups.gsl", "tables"),
        ("onnx_lookups.gsl", "neighbours"), ("onnx_lookups.gsl", "partly"),
        ("onnx_bytes.gsl", "real"), ("onnx_bytes.gsl", "order"),
        ("onnx_windows.gsl", "mean_counts"), ("onnx_scores.gsl", "low_added"),
        ("onnx_tables.gsl", "each_place"), ("onnx_tables.gsl", "halves"), ("onnx_tables.gsl", "pairs"),
        ("onnx_tables.gsl", "counted"), ("onnx_scores.gsl", "low_more"), ("onnx_scores.gsl", "nan_bounded"),
    ],
)
def test_their_twins_are_proved(file: str, name: str) -> None:
    prove(rule(file, f"{name}_right"))


@pytest.mark.long
@pytest.mark.parametrize("file", sorted({file for file, _ in RULES}))
def test_no_wrong_one_is_accepted(file: str) -> None:
    assert [name for f, name in WRONG if f == file and is_accepted(rule(f, name))] == []


@pytest.mark.long
@pytest.mark.parametrize("file", sorted({file for file, _ in RULES}))
def test_no_right_one_is_refuted(file: str) -> None:
    assert refuted([item for item in RIGHT if item[0] == file]) == []
