"""TASO's substitutions become rules that check; some hold only with conditions.

`taso/graph_subst.json` has the 133 substitutions of TASO (jiazhihao/TASO, `graph_subst.pb`; Apache License
2.0), one per line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

import gslang.api as api
from gslang.cli.main import main
from gslang.taso.dimensions import Size, System, unknown
from gslang.taso.read import read_substitutions
from gslang.taso.write import translate_all, write_rules
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import Settings, verify_now

FILE = Path(__file__).parent / "taso" / "graph_subst.json"
FAST = Settings(seconds=5, wanted=4, proof_steps=0)
# What states no side condition, and does not hold without one.
REFUTED = {
    70, 81, 84, 95, 98, 99, 100, 103, 104, 105, 110, 111, 112, 113, 114, 115, 116, 117, 118, 120, 125, 126,
    127, 128, 129, 130, 131, 132,
}
DISCONNECTED = {63, 65, 70, 81, 95, 120}


def long(*indices: int) -> list[ParameterSet]:
    """These only in `make test-long`."""
    return [pytest.param(k, marks=pytest.mark.long) for k in indices]


def tensor(op: int, part: int = 0) -> dict[str, int]:
    return {"opId": op, "tsId": part}


def operator(kind: str, *operands: int | tuple[int, int], **params: int) -> dict[str, Any]:
    inputs = [tensor(o) if isinstance(o, int) else tensor(*o) for o in operands]
    return {
        "type": f"OP_{kind}",
        "inputs": inputs,
        "params": [{"key": f"PM_{k}", "value": v} for k, v in params.items()],
    }


def substitution(
    source: list[Any], target: list[Any], *outputs: tuple[int, int, int, int], index: int = 0
) -> dict[str, Any]:
    pairs = [dict(zip(("srcOpId", "srcTsId", "dstOpId", "dstTsId"), output)) for output in outputs]
    return {"index": index, "srcOp": source, "dstOp": target, "mappedOutputs": pairs}


# (a·b)·c = a·(b·c), and two relus as one, cut in two
CHAIN = substitution(
    [operator("MATMUL", -1, -2), operator("MATMUL", 0, -3)],
    [operator("MATMUL", -2, -3), operator("MATMUL", -1, 0)], (1, 0, 1, 0),
)
RELUS = substitution(
    [operator("RELU", -1), operator("RELU", -2)],
    [operator("CONCAT", -1, -2, AXIS=1, NUMDIM=2), operator("RELU", 0), operator("SPLIT", 1, AXIS=1)],
    (0, 0, 2, 0), (1, 0, 2, 1), index=1,
)  # fmt: skip


def imported(tmp_path: Path, rules: list[Any], with_conditions: bool = False) -> api.RuleSet:
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(rules))
    folder = tmp_path / "out"
    assert (
        main([
            "import", "taso", str(file), "-o", str(folder),
            *(["--with-conditions"] if with_conditions else []),
        ])
        == 0
    )
    loaded = api.load(folder / "taso.gsl")
    assert loaded.diagnostics == ()
    return loaded


def test_a_chain_of_products(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = imported(tmp_path, [CHAIN]).own["taso_000"]
    assert not rule.disconnected
    assert verify_now(rule, FAST).verdict in ("exact", "proved")
    text = (tmp_path / "out" / "taso.gsl").read_text()
    assert (
        (
            "rule taso_000(x1: any(shape = (_, (a := _))), w1: any(shape = (a, (b := _))), w2: any(shape = "
            "(b, _))) {"
        )
        in text
    )
    assert "1 rule:" in capsys.readouterr().err


def test_conditions_make_a_disconnected_rule_hold(tmp_path: Path) -> None:
    plain = imported(tmp_path, [RELUS]).own["taso_001"]
    assert plain.disconnected and verify_now(plain, FAST).verdict == "refuted"
    held = imported(tmp_path, [RELUS], with_conditions=True).own["taso_001"]
    assert held.disconnected and verify_now(held, FAST).verdict in ("exact", "proved")
    text = (tmp_path / "out" / "taso.gsl").read_text()
    assert "x1.ndim == 2, x2.ndim == 2, x2.shape[0] == x1.shape[0], x2.dtype == x1.dtype" in text
    assert "split(t1, indices_or_sections = (b,), axis = 1)" in text


def test_disconnected_rules_match_but_are_not_applied_in_sweeps(tmp_path: Path) -> None:
    rules = imported(tmp_path, [RELUS], with_conditions=True)
    file = tmp_path / "graph.relay"
    file.write_text(
        "def @main(%a: Tensor[(2, 3), float32], %b: Tensor[(2, 4), float32]) { %0 = nn.relu(%a); %1 = "
        "nn.relu(%b); (%0, %1) }"
    )
    graph = api.read(file)
    assert len(list(rules["taso_001"].matches(graph))) == 1  # seen from either side it is the same
    assert rules.apply(graph).applications == 0


def test_sizes_as_sums() -> None:
    a, b, c = (unknown(k, 0) for k in range(3))
    system = System()
    assert system.demand(c.plus(a), b.plus(b)) and not system.demand(b.plus(b).minus(a), c)
    assert system.reduced(c) == b.plus(b).minus(a) == Size((((0, 0), -1), ((1, 0), 2)))
    assert system.demand(a, b) and system.reduced(c) == system.reduced(b) == a
    assert not system.demand(c.plus(Size((), 2)), a.plus(Size((), 2)))


def broken(change: Any) -> list[Any]:
    rule = json.loads(json.dumps(CHAIN))
    change(rule)
    return [rule]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "invalid JSON"), ("[]", "no substitutions found"),
        ("{}", "a list is expected here"), ([3], "rules.json:/0: an object is expected here"),
        ([CHAIN, CHAIN], "rules.json:/1/index: the index 0 is that of /0, too"),
        (broken(lambda r: r.pop("srcOp")), "rules.json:/0/srcOp: a list is expected here"),
        (broken(lambda r: r.update(dstOp=[])), "rules.json:/0/dstOp: a side has at least one operator"),
        (
            broken(lambda r: r.update(mappedOutputs=[])),
            "rules.json:/0/mappedOutputs: a substitution has at least one output",
        ),
        (
            broken(lambda r: r["srcOp"][0].update(type="OP_MATMULL")),
            "/0/srcOp/0/type: no operator `OP_MATMULL` is translated\n  help: did you mean `OP_MATMUL`?",
        ),
        (
            broken(lambda r: r["srcOp"][0].update(type="OP_POOL2D_MAX")),
            "no operator `OP_POOL2D_MAX` is translated\n  help: known: OP_MATMUL, ",
        ),
        (
            broken(lambda r: r["srcOp"][0]["inputs"].pop()),
            "/0/srcOp/0/inputs: `OP_MATMUL` has 2 operands, not 1",
        ),
        (
            broken(lambda r: r["srcOp"][0]["inputs"][0].update(opId=0)),
            "/0/srcOp/0/inputs/0: no operator 0 before this position",
        ),
        (
            broken(lambda r: r["srcOp"][0]["inputs"][0].update(opId="x")),
            "/0/srcOp/0/inputs/0/opId: a whole number is expected here",
        ),
        (
            broken(lambda r: r["srcOp"][0]["inputs"][0].update(tsId=1)),
            "/0/srcOp/0/inputs/0: no output 1",
        ),
        (
            broken(lambda r: r["dstOp"][0]["inputs"][0].update(opId=-9)),
            "/0/dstOp/0/inputs/0: the source has no input -9",
        ),
        (
            broken(lambda r: r["mappedOutputs"][0].update(dstOpId=2)),
            "/0/mappedOutputs/0/dstOpId: no operator 2",
        ),
        (
            broken(lambda r: r["mappedOutputs"][0].update(srcOpId=-1)),
            "an output is one of an operator, not an input of the rule",
        ),
        (
            broken(lambda r: r["mappedOutputs"][0].update(dstOpId=0)),
            "/0/dstOp/1: nothing uses this operator, and it is not an output",
        ),
        (
            broken(lambda r: r["srcOp"][0]["params"].append({"key": "PM_GROUP", "value": 1})),
            "no parameter `PM_GROUP` is translated",
        ),
        (
            broken(lambda r: r["srcOp"][0]["params"].append({"key": "PM_ACTI", "value": 4})),
            "`PM_ACTI` is 4; translated are 0 to 3",
        ),
        (
            [substitution([operator("CONCAT", -1, -2, AXIS=0)], [operator("EW_ADD", -1, -2)], (0, 0, 0, 0))],
            "`OP_CONCAT` needs `PM_NUMDIM`",
        ),
        (
            [substitution(
                [operator("CONCAT", -1, -2, AXIS=2, NUMDIM=2)], [operator("RELU", -1)], (0, 0, 0, 0)
            )],
            "/0/srcOp/0: a tensor of rank 2 has no axis 2",
        ),
        (
            [substitution(
                [operator("MATMUL", -1, -2)], [operator("CONCAT", -1, -2, AXIS=2, NUMDIM=4)], (0, 0, 0, 0)
            )],
            "/0/dstOp/0: a tensor of rank 4 here",
        ),
        (
            [substitution([operator("SPLIT", -1, AXIS=0)], [operator("RELU", -1)], (0, 0, 0, 0))],
            "/0/srcOp/0: a split in a source",
        ),
        (
            [substitution(
                [operator("MATMUL", -1, -2)], [operator("MATMUL", -1, -2), operator("SPLIT", 0, AXIS=0)],
                (0, 0, 1, 0),
            )],
            "nothing was concatenated along this axis",
        ),
    ],
)
def test_bad_files_are_told(
    content: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rules.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    assert main(["import", "taso", str(file), "-o", str(tmp_path / "out")]) == 3
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_and_a_folder_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "taso", str(tmp_path / "none.json"), "-o", str(tmp_path)]) == 3
    assert "none.json: cannot be read: no such file" in capsys.readouterr().err
    file = tmp_path / "rules.json"
    file.write_text(json.dumps([CHAIN]))
    assert main(["import", "taso", str(file), "-o", str(file)]) == 3
    assert "cannot be written" in capsys.readouterr().err


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, api.RuleSet]:
    """The whole file, as it is and with conditions."""
    sets = {}
    for with_conditions in (False, True):
        folder = tmp_path_factory.mktemp("taso")
        write_rules(read_substitutions(FILE), str(FILE), folder, with_conditions)
        sets[with_conditions] = api.load(folder / "taso.gsl")
    return sets


@pytest.mark.parametrize("with_conditions", [False, True])
def test_all_substitutions_check(with_conditions: bool, whole: dict[bool, api.RuleSet]) -> None:
    rules = whole[with_conditions]
    assert list(rules.own) == [f"taso_{k:03}" for k in range(133)]
    assert rules.diagnostics == ()
    assert {k for k, rule in enumerate(rules.own.values()) if rule.disconnected} == DISCONNECTED


def test_conditions_are_added_where_needed() -> None:
    rules = translate_all(read_substitutions(FILE), str(FILE), True)
    assert {k for k, rule in enumerate(rules) if rule.conditions} == REFUTED
    assert rules[103].conditions == ("x3.shape[1] == x1.shape[1]",)
    assert {"w1.shape[1] == x1.shape[1]", "w2.shape[1] == x2.shape[1]"} < set(rules[98].conditions)


@pytest.mark.parametrize("index", sorted(REFUTED))
def test_refuted_as_the_file_has_them(index: int, whole: dict[bool, api.RuleSet]) -> None:
    assert verify_now(whole[False].own[f"taso_{index:03}"], Settings(seconds=5)).verdict == "refuted"


# one of each kind: products, sums of convolutions, joined kernels and images, groups, declared operators
PROVED = (1, 31, 63, 73, 79, 93, 99, 116, 131)


@pytest.mark.parametrize("index", [*PROVED, *long(*(k for k in range(133) if k not in PROVED))])
def test_proved_with_conditions(index: int, whole: dict[bool, api.RuleSet]) -> None:
    """Those that need no condition are proved as the file has them, too."""
    assert prove(whole[index in REFUTED].own[f"taso_{index:03}"]).ranks is None


@pytest.mark.parametrize("index", [k for k in sorted(REFUTED) if k % 4 == 0])
def test_not_proved_without_conditions(index: int, whole: dict[bool, api.RuleSet]) -> None:
    with pytest.raises(NotProved):
        prove(whole[False].own[f"taso_{index:03}"])


@pytest.mark.parametrize("index", [k for k in range(133) if k % 5 == 0 or k in REFUTED])
def test_accepted_with_conditions(index: int, whole: dict[bool, api.RuleSet]) -> None:
    verdict = verify_now(whole[True].own[f"taso_{index:03}"], FAST)
    assert verdict.verdict in ("exact", "proved", "tested"), verdict.reason


def rows() -> dict[int, list[str]]:
    """The table of the manual: index → cells behind the name."""
    page = (Path(__file__).parent.parent.parent / "docs" / "taso.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| `taso_")]
    return {int(line[8:11]): [cell.strip() for cell in line.strip("|").split("|")[1:]] for line in lines}


def test_the_manual_has_every_verdict() -> None:
    table = rows()
    assert sorted(table) == list(range(133))
    assert (
        {k for k, cells in table.items() if cells[1] == "refuted"} == REFUTED
        == {k for k, cells in table.items() if cells[3]}
    )
    assert {cells[1] for cells in table.values()} == {"refuted", "proved"}
    assert {cells[2] for cells in table.values()} == {"proved"}
    assert {k for k, cells in table.items() if "disconnected" in cells[0]} == DISCONNECTED


def test_the_manual_has_the_conditions() -> None:
    translated = translate_all(read_substitutions(FILE), str(FILE), True)
    assert {k: cells[3] for k, cells in rows().items()} == {
        k: "; ".join(f"`{c}`" for c in rule.conditions) for k, rule in enumerate(translated)
    }


@pytest.mark.long
def test_every_verdict(whole: dict[bool, api.RuleSet]) -> None:
    for with_conditions, rules in whole.items():
        found = {
            k: verify_now(rule, Settings(seconds=600)).verdict for k, rule in enumerate(rules.own.values())
        }
        assert found == {k: cells[2 if with_conditions else 1] for k, cells in rows().items()}
