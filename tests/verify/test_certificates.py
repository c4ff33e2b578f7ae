"""Certificates are checked again by a checker of its own, which refuses what was changed, and what a wrong
prover writes.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import gslang.verify.prove.prove as prove_module
import gslang.verify.prove.terms.axioms as axioms
import gslang.verify.recheck as recheck_package
from gslang.check.checked import CheckedRule
from gslang.cli.main import main
from gslang.verify.certificates import digest_of_rule, outputs_of
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.prove.terms.certificate import as_certificate
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.terms import number
from gslang.verify.recheck.check import IMPOSSIBLE, Checked, Refused, check
from gslang.verify.recheck.terms import digest_of
from tests.shipped import shipped_rules

FOLDER = Path(recheck_package.__file__).parent
RULES = """dialect relay;
rule relus(x): nn.relu(nn.relu(x)) => nn.relu(x);
rule sigmoid(x) { y = 1.0 / (1.0 + exp(-x)); y where y.shape == x.shape => sigmoid(x) }
rule exps(x, y: any(shape = x.shape, dtype = x.dtype)): exp(x) * exp(y) => exp(x + y);
rule joined(x: any(shape = (_, _)), w: var(shape = (_, _)), v: var(shape = w.shape, dtype = w.dtype)) {
    a = nn.dense(x, w);
    b = nn.dense(x, v, a.*);
    a + b
  =>
    nn.dense(x, w + v, a.*)
}
rule halves(x: any(shape = (_, _)), y: any(shape = (_, _), dtype = x.dtype)) {
    s = sum(concatenate((x, y), axis = 0), axis = (0,), keepdims = false, exclude = false);
    s
  =>
    sum(x, axis = (0,)) + sum(y, axis = (0,))
}
"""


@cache
def certificate(name: str) -> str:
    from gslang.base.source import Source
    from gslang.check.check import check_source

    rule = check_source(Source("r.gsl", RULES)).rules[name]
    return as_certificate(name, digest_of_rule(rule), prove(rule, record=True))


def test_what_is_proved_is_recorded_within_the_same_steps() -> None:
    """Cases that begin alike share what they know then, too."""
    from gslang.base.source import Source
    from gslang.check.check import check_source

    rule = check_source(Source("r.gsl", RULES)).rules["joined"]
    enough = next(steps for steps in range(200, 2000, 100) if proof_in(rule, steps) is not None)
    recorded = proof_in(rule, enough, record=True)
    assert recorded is not None and len(recorded.written) >= recorded.cases


def proof_in(rule: CheckedRule, steps: int, record: bool = False) -> Proof | None:
    try:
        return prove(rule, steps, record)
    except NotProved:
        return None


def document(name: str) -> dict[str, Any]:
    return json.loads(certificate(name))  # type: ignore[no-any-return]


def signed(changed: dict[str, Any]) -> dict[str, Any]:
    """With the checksum that it would have: what is refused then is refused for what it says."""
    return {**changed, "sha256": digest_of(changed)}


NAMES = ("relus", "sigmoid", "exps", "joined", "halves")


@pytest.mark.parametrize("name", NAMES)
def test_they_are_accepted(name: str) -> None:
    checked = check(document(name))
    assert checked.rule == name and checked.counts["equal"] and not untried(checked)
    assert checked.counts["steps"] > 0 or name == "joined"


def first_equal(changed: dict[str, Any]) -> dict[str, Any]:
    """A case whose source has several steps."""
    return max(
        (case for case in changed["cases"] if case["outputs"]),
        key=lambda case: len(case["outputs"][0]["source"]["steps"]),
    )  # type: ignore[no-any-return]


def steps_of(changed: dict[str, Any]) -> list[Any]:
    return first_equal(changed)["outputs"][0]["source"]["steps"]  # type: ignore[no-any-return]


def swap_steps(changed: dict[str, Any]) -> None:
    steps = steps_of(changed)
    steps[0], steps[1] = steps[1], steps[0]


def drop_step(changed: dict[str, Any]) -> None:
    del steps_of(changed)[0]


def drop_case(changed: dict[str, Any]) -> None:
    del changed["cases"][len(changed["cases"]) // 2]
    changed["claim"]["cases"] = sum(case["end"] == "equal" for case in changed["cases"])


def other_law(changed: dict[str, Any]) -> None:
    steps_of(changed)[0]["law"] = "quotient"


def law_unclaimed(changed: dict[str, Any]) -> None:
    changed["claim"]["laws"].remove(steps_of(changed)[0]["law"])


def place_from_the_end(changed: dict[str, Any]) -> None:
    steps_of(changed)[0]["at"] = [-1]


def other_place(changed: dict[str, Any]) -> None:
    steps_of(changed)[0]["at"] = [7]


def other_letters(changed: dict[str, Any]) -> None:
    steps_of(changed)[0]["letters"]["x"] = [["3", []]]


def other_normal_form(changed: dict[str, Any]) -> None:
    for output in first_equal(changed)["outputs"]:
        output["target"]["normal"].append(["1", []])


def other_target(changed: dict[str, Any]) -> None:
    for output in first_equal(changed)["outputs"]:
        output["target"] = {
            "written": [["2", part[1]] for part in output["target"]["written"]],
            "steps": [],
            "normal": [["2", part[1]] for part in output["target"]["normal"]],
        }


def no_claim(changed: dict[str, Any]) -> None:
    changed["claim"]["floats"] = not changed["claim"]["floats"]


def false_obligation(changed: dict[str, Any]) -> None:
    case = next(case for case in changed["cases"] if case["sizes"]["names"])
    case["obligations"].append({"assumed": [], "at_least_0": [[-1, [case["sizes"]["names"][0]]]]})


def other_choice(changed: dict[str, Any]) -> None:
    changed["cases"][0]["choices"][0][0] += 1


def no_outputs(changed: dict[str, Any]) -> None:
    first_equal(changed)["outputs"] = []


def output_left_out(changed: dict[str, Any]) -> None:
    """Of two that there would be."""
    for output in first_equal(changed)["outputs"]:
        output["of"] = [[0, 2]]


def no_elements(changed: dict[str, Any]) -> None:
    case = next(case for case in changed["cases"] if case["outputs"] and case["sizes"]["names"])
    case["outputs"] = [{"of": [[0, 1]], "empty": [[[1, [name]] for name in case["sizes"]["names"]]]}]


def left_out_for_its_sizes(changed: dict[str, Any]) -> None:
    case = first_equal(changed)
    case["end"], case["outputs"] = "excluded by sizes", []
    changed["claim"]["cases"] -= 1
    changed["claim"]["whole"] -= case["whole"]


def left_out_for_no_reason(changed: dict[str, Any]) -> None:
    case = first_equal(changed)
    case["end"], case["outputs"] = "excluded", []
    changed["claim"]["cases"] -= 1
    changed["claim"]["whole"] -= case["whole"]


def no_wrapping_numbers(changed: dict[str, Any]) -> None:
    changed["claim"]["whole"] += 1
    case = next(case for case in changed["cases"] if case["outputs"] and case["whole"])
    case["whole"] = False


CHANGES = (
    no_outputs, output_left_out, no_elements, left_out_for_its_sizes, left_out_for_no_reason,
    no_wrapping_numbers,
    swap_steps, drop_step, drop_case, other_law, law_unclaimed, other_place, other_letters, other_normal_form,
    other_target, place_from_the_end, no_claim, false_obligation, other_choice,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_was_changed_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    changed = document("relus")
    change(changed)
    with pytest.raises(Refused):
        check(changed)
    with pytest.raises(Refused):
        check(signed(changed))


def test_the_number_of_outputs_is_that_of_the_rule() -> None:
    assert check(document("exps"), outputs=1).counts["cases"]
    with pytest.raises(Refused, match="the rule has 2 outputs, the certificate has 1"):
        check(document("exps"), outputs=2)


def test_the_name_of_a_law_is_that_of_what_it_rewrites() -> None:
    changed = document("halves")
    step = next(
        step for case in changed["cases"] for output in case["outputs"] for side in ("source", "target")
        for step in output[side]["steps"] if "before" in step
    )
    changed["claim"]["laws"].append("very low number")
    step["law"] = "very low number"
    with pytest.raises(Refused, match="the function of the law does not occur"):
        check(signed(changed))


def test_conditions_on_constants_are_kept_where_terms_are_tried() -> None:
    """The slope of `leaky_relu` lies between 0 and 1: elsewhere the sides differ."""
    rule = shipped_rules("std.onnx")["leaky_relu"]
    found = json.loads(as_certificate("leaky_relu", "", prove(rule, record=True)))
    assert check(found).counts["equal"]
    for case in found["cases"]:
        case["bounds"] = []
    with pytest.raises(Refused, match="both sides as written"):
        check(signed(found))


def test_reasons_of_cases_that_are_left_out_are_counted() -> None:
    counts = check(document("joined")).counts
    assert sum(counts[end] for end in ("equal", "not shown for integers", *IMPOSSIBLE)) == counts["cases"]


def test_conditions_on_sizes_are_under_the_checksum() -> None:
    for kind in ("at_least_0", "names"):
        changed = document("joined")
        case = next(case for case in changed["cases"] if case["sizes"][kind])
        del case["sizes"][kind][0]
        with pytest.raises(Refused, match="checksum"):
            check(changed)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [path] if not isinstance(value, (dict, list)) else []
    return found + [leaf for key, item in items for leaf in leaves(item, (*path, key))]


def test_any_change_is_refused_by_the_checksum_and_none_is_an_error() -> None:
    whole = document("exps")
    random = Random(3)
    for path in random.sample(leaves(whole), 150):
        changed = deepcopy(whole)
        inner: Any = changed
        for key in path[:-1]:
            inner = inner[key]
        old = inner[path[-1]]
        inner[path[-1]] = random.choice(
            [None, "x", -7, 10**9, [], [[]], {}, old + 1 if type(old) is int else f"{old}1"]
        )
        with pytest.raises(Refused):
            check(changed)
        try:
            assert isinstance(check(signed(changed)), Checked)
        except Refused:
            pass


def test_a_prover_with_a_wrong_law_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says to be proved does not pass: the law is not that of the list."""
    right = axioms.exponential
    monkeypatch.setitem(
        axioms.FUNCTIONS, "exp",
        lambda x: number(1) if axioms.is_raw() is False and len(x.parts) == 2 else right(x),
    )
    from gslang.base.source import Source
    from gslang.check.check import check_source

    rule = check_source(Source(
        "r.gsl",
        "rule t(x, y: any(shape = x.shape, dtype = x.dtype)): exp(x + y) => exp(x + y) * exp(x + y);",
    )).rules["t"]
    try:
        proof = prove(rule, record=True)
    except NotProved as error:
        pytest.fail(f"the wrong law proves nothing: {error}")
    with pytest.raises(Refused):
        check(json.loads(as_certificate("t", "", proof)))


def test_the_checker_is_small_and_imports_nothing_of_the_prover() -> None:
    files = sorted(FOLDER.glob("*.py"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) < 600
    for file in (*files, FOLDER.parent / "laws.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom) and node.module is not None
                and node.module.startswith("gslang")
            ):
                assert node.module in ("gslang.verify.laws", "gslang.base.open_types") or (
                    node.module.startswith("gslang.verify.recheck")
                )


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, folder = tmp_path / "r.gsl", tmp_path / "proofs"
    rules.write_text(RULES + "rule wrong(x): exp(x) => x;\n")
    options = ["--rule", "exps", "--rule", "wrong", "--instances", "3"]
    assert main(["verify", str(rules), "--certificate", str(folder), *options]) == 1
    (file,) = folder.glob("*.json")
    assert file.name.startswith("exps-")
    capsys.readouterr()
    assert main(["verify", "--recheck", str(folder)]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert (
        first.startswith("checked  exps  for every rank and size") and "steps" in first
        and last == "1 checked, 0 refused"
    )
    assert main(["verify", str(rules), "--recheck", str(folder)]) == 0
    rules.write_text(RULES.replace("exps(x, y: any(shape = x.shape", "exps(x, y: var(shape = x.shape"))
    assert main(["verify", str(rules), "--recheck", str(folder)]) == 1
    assert "it is for a different rule of that name" in capsys.readouterr().out
    file.write_text(file.read_text().replace('"equal"', '"impossible"', 1))
    (folder / "other.json").write_text("{")
    assert main(["verify", "--recheck", str(folder)]) == 1
    assert (
        "checksum mismatch" in (said := capsys.readouterr().out) and "invalid JSON" in said
        and "0 checked, 2 refused" in said
    )


def test_a_proof_that_cannot_be_recorded_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, folder = tmp_path / "r.gsl", tmp_path / "proofs"
    rules.write_text(RULES)
    options = ["verify", str(rules), "--rule", "exps", "--instances", "3", "--certificate", str(folder)]
    assert main(options) == 0 and len(list(folder.iterdir())) == 1
    capsys.readouterr()
    monkeypatch.setattr(prove_module, "_TO_RECORD", 0)
    assert main(options) == 1 and not list(folder.iterdir())
    assert "  no certificate: the proof takes too many steps\n" in capsys.readouterr().out
    assert main([*options, "--format", "json"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert (entry["verdict"], entry["uncertified"]) == ("proved", "the proof takes too many steps")


def test_folders_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--recheck", str(tmp_path / "none")]) == 3
    assert main(["verify", "--recheck", str(tmp_path)]) == 3
    file = tmp_path / "file"
    file.write_text("")
    assert main(["verify", "std.relay", "--certificate", str(file)]) == 3
    assert main(["verify"]) == 2
    said = capsys.readouterr().err
    assert (
        "no such folder" in said and "no certificates found" in said
        and "cannot be written" in said and "no rules are given" in said
    )


SOME = (
    ("std.onnx", "leaky_relu"), ("std.onnx", "reduce_one"),
    ("std.relay", "conv_mul"), ("std.relay", "parallel_dense_variadic"), ("std.onnx", "mish"),
    ("std.onnxruntime", "ms_quick_gelu"),
)


def untried(checked: Checked) -> int:
    return sum(checked.counts[f"{what} without numerical test"] for what in ("cases", "equations"))


def checked_again(package: str, name: str) -> Checked | None:
    rule = shipped_rules(package)[name]
    try:
        proof = prove(rule, record=True)
    except NotProved:
        return None
    return check(
        json.loads(as_certificate(name, digest_of_rule(rule), proof)), digest_of_rule(rule),
        outputs_of(rule),
    )


@pytest.mark.parametrize("package, name", SOME)
def test_some_shipped_rules(package: str, name: str) -> None:
    checked = checked_again(package, name)
    assert checked is not None and untried(checked) <= checked.counts["cases"] / 4


@pytest.mark.long
@pytest.mark.parametrize("package", ["std.relay", "std.onnx", "std.onnxruntime"])
def test_all_shipped_rules_that_are_proved(package: str) -> None:
    found = {name: checked_again(package, name) for name in shipped_rules(package)}
    assert any(found.values())


