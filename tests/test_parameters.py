"""`param` items: defaults, values from the command line, from JSON and from Python; what they decide, and
what is wrong with them.
"""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

import gslang
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.cli.main import main
from gslang.lint.run_lints import lint_program
from gslang.verify.verdict import Settings, verify_now

TEXT = """## The smallest size.
param threshold: int >= 1 = 64;
param scales: (str, float)[] = ();
param rate: float = 0.5;
fn scale_of(key) = [v for k, v in scales if k == key][0];
## Large ones.
rule big(x) { y = exp(x); y where x.shape[0] >= threshold => y + 0.0 - 0.0 }
## Scaled ones.
rule scaled(x): nn.relu(nn.softmax(x)) where len(scales) > 0 => nn.softmax(x) * scale_of("a");
test "large" for big { x: input float32[64]; exp(x) => exp(x) + 0.0 - 0.0 }
test "small" for big { x: input float32[63]; exp(x) => unchanged }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rules.gsl"
    path.write_text(TEXT)
    return path


def test_default_and_given_values(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(file), "--rule", "big"]) == 0
    assert main(["test", str(file), "--rule", "big", "--define", "threshold=10"]) == 1
    assert main(["test", str(file), "--rule", "big"]) == 0  # nothing of the run before is kept
    assert gslang.load(file).parameters == {"threshold": 64, "scales": (), "rate": 0.5}
    given = gslang.load(file, defines={"threshold": 3, "scales": {"a": 0.5, "b": 2}})
    assert given.parameters == {"threshold": 3, "scales": (("a", 0.5), ("b", 2)), "rate": 0.5}
    assert gslang.parse_rules(TEXT, defines={"threshold": 3}).parameters["threshold"] == 3


def test_tables_from_json(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "scales.json"
    table.write_text(json.dumps({"a": 0.5}))
    test = tmp_path / "test.gsl"
    test.write_text(
        'use "./rules.gsl";\ntest "s" for scaled { x: input float32[2]; nn.relu(nn.softmax(x)) => '
        'nn.softmax(x) * 0.5 }\n'
    )
    # the numbers differ, but it was applied
    assert main(["test", str(test), "--define", f"scales=@{table}"]) == 1
    assert "numbers differ" in capsys.readouterr().out
    assert main(["test", str(test)]) == 1
    assert "not applied" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("threshold=0", "does not match its type"), ("threshold=many", "does not match its type"),
        ("treshold=1", "did you mean `threshold`?"), ("threshold", "expected NAME=VALUE"),
        ("scales=@nowhere.json", "nowhere.json"), ("rate=NaN", "value nan given for `rate` is not finite"),
        ("rate=1e999", "is not finite"), ("rate=-Infinity", "is not finite"), ("rate=nan", "match its type"),
        ('scales={"a": NaN}', "is not finite"),
    ],
)
def test_mistakes(given: str, told: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), "--define", given]) != 0
    assert told in capsys.readouterr().err


def test_numbers_in_a_file_are_finite(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "scales.json"
    for number in ("NaN", "1e999", "-Infinity"):
        table.write_text(f'{{"a": 1, "b": {number}}}')
        assert main(["check", str(file), "--define", f"scales=@{table}"]) == 1
        assert "is not finite" in capsys.readouterr().err
    with pytest.raises(gslang.RuleError, match="is not finite"):
        gslang.load(file, defines={"rate": float("inf")})


def test_a_broken_json_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "scales.json"
    table.write_text('{"a": 0.5,\n  }')
    assert main(["check", str(file), "--define", f"scales=@{table}"]) == 3
    assert "scales.json:2:3: invalid JSON: illegal trailing comma" in _plain(capsys.readouterr().err)
    for data, told in (
        (b'{"a": "\xe9"}', "scales.json:1:8: byte 0xe9 is not UTF-8"),
        (b"[" * 100_000, "scales.json: JSON nested too deeply"),
        (b'{"a": 1, "a": 2}', "scales.json: duplicate key `a`"),
    ):
        table.write_bytes(data)
        assert main(["check", str(file), "--define", f"scales=@{table}"]) == 3
        assert told in capsys.readouterr().err
    table.write_bytes(b"\xef\xbb\xbf" + b'{"a": 0.5, "b": 2}')
    assert main(["check", str(file), "--define", f"scales=@{table}"]) == 0


def _plain(text: str) -> str:
    """A message of `json` as newer versions of Python word it."""
    return text.replace(
        "expecting property name enclosed in double quotes", "illegal trailing comma before end of object"
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["threshold"], "expected NAME=VALUE"), (["treshold=1"], "did you mean `threshold`?"),
        (["rate=1", "rate=2"], "gives `rate` twice"), (["scales=@"], "the name of the file is missing"),
    ],
)
def test_misuse(given: list[str], told: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), *[word for text in given for word in ("--define", text)]]) == 2
    assert told in capsys.readouterr().err


def test_a_key_is_given_once(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), "--define", 'scales={"a": 1, "a": 2}']) == 3
    assert "--define scales: duplicate key `a`" in capsys.readouterr().err


def test_explained_with_values(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "big", str(file), "--define", "threshold=3"]) == 0
    assert "# with threshold = 3" in capsys.readouterr().out


def test_why_not_tells_the_value(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "g.relay"
    graph.write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(8), float32]) { exp(%x) }\n')
    main(["match", str(file), str(graph), "--rule", "big", "--why-not"])
    assert "threshold = 64" in capsys.readouterr().out


def test_a_condition_on_a_parameter_is_not_constant(file: Path) -> None:
    rules = gslang.load(file)
    found = lint_program(Source(str(file), TEXT), rules.programs[0], frozenset({"L0104"}), cache=False)
    assert found == []


def test_an_unknown_parameter() -> None:
    with pytest.raises(KeyError, match="unknown parameter `sise`"):
        gslang.parse_rules("param size: int = 1;", defines={"sise": 2})


@pytest.mark.parametrize("levels", [190, 3000])
def test_lists_of_lists_are_levels_of_nesting(levels: int) -> None:
    program = check_source(
        Source("r.gsl", f"param k: int{'[]' * levels} = ();\nrule r(a): nn.relu(a) where len(k) > 1 => a;\n")
    )
    assert [d.code for d in program.diagnostics][:1] == (["E0107"] if levels > 200 else [])


@pytest.mark.parametrize("declared", ["k: int = 9 ** 9", "k: int", 'k: int = "a"', "k: int >= 3 = 2"])
def test_a_parameter_without_a_value_is_told_once(declared: str) -> None:
    text = f"dialect relay;\nparam {declared};\nrule r(a): nn.relu(a) where -k > 1 and k[0] == 2 => a;\n"
    found = check_source(Source("p.gsl", text)).diagnostics
    assert [diagnostic.code for diagnostic in found] == ["E0211"]


def test_a_wrong_default_is_the_only_mistake() -> None:
    text = 'param k: int = "a";\nrule r(x): nn.softmax(x, axis = k) => x;\nrule s(x): x + k => x;\n'
    found = check_source(Source("rules.gsl", text)).diagnostics
    assert [diagnostic.code for diagnostic in found] == ["E0211"]


def test_conditions_are_found_with_the_values_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.gsl"
    path.write_text(
        "param most: int = 1;\nfn small(x) = x.ndim <= most;\n"
        "rule wrong(x, z: const) { x + z where small(x) => x }\n"
    )
    assert main(["verify", str(path), "--define", "most=2"]) == 1
    assert f"gslc generalize {path} wrong --define most=2` finds" in capsys.readouterr().out
    found = tmp_path / "o.gsl"
    assert main(["generalize", str(path), "wrong", "--define", "most=2", "-o", str(found)]) == 0
    assert "# needs: z.value == 0" in capsys.readouterr().out
    assert gslang.load(found).parameters == {"most": 1}


def test_a_size_of_a_test_is_a_parameter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.gsl"
    path.write_text(
        "param size: int = 4;\nrule r(x): exp(exp(x)) where x.shape[0] == size => exp(x + exp(x) - x);\n"
        'test "its size" for r { x: input float32[size]; exp(exp(x)) => exp(x + exp(x) - x) }\n'
        'test "another" for r { x: input float32[other]; exp(exp(x)) => unchanged }\n'
    )
    for given in ([], ["--define", "size=7"]):
        assert main(["test", str(path), *given]) == 0, capsys.readouterr().out


def test_a_parameter_without_a_value_is_no_obstacle_where_nothing_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.gsl"
    path.write_text(
        "param need: int >= 2;\n## d\nrule r(x): nn.relu(nn.relu(x)) where x.ndim == need => nn.relu(x);\n"
        'test "r" for r { x: input float32[2, 2]; nn.relu(nn.relu(x)) => nn.relu(x) }\n'
    )
    assert main(["lint", str(path)]) == 0, capsys.readouterr().out
    assert main(["lint", str(path), "--jobs", "2", str(tmp_path)]) == 0
    assert main(["check", str(path)]) == 0 and main(["fmt", str(path)]) == 0
    assert main(["check", str(path), "--define", "need=1"]) == 1
    assert "does not match its type" in "".join(capsys.readouterr())
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(path.read_bytes())))
    assert main(["check", "-"]) == 0
    for verb in ("test", "verify"):
        capsys.readouterr()
        assert main([verb, str(path)]) == 1 and "`need` has no value" in "".join(capsys.readouterr())
    assert main(["export", "onnxscript", str(path)]) == 1
    assert "`need` has no value" in "".join(capsys.readouterr())
    main(["export", "onnxscript", str(path), "--define", "need=2"])
    assert "has no value" not in "".join(capsys.readouterr())


def test_values_are_given_by_name() -> None:
    with pytest.raises(TypeError, match="values by name"):
        gslang.parse_rules("param k: int = 1;", defines=[("k", 2)])  # type: ignore[arg-type]


def test_an_unused_parameter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.gsl"
    path.write_text(
        "param idle: int = 1;\nparam size: int = 1;\n## d\nrule r(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
        'test "r" for r { x: input float32[size]; nn.relu(nn.relu(x)) => nn.relu(x) }\n'
    )
    assert main(["lint", str(path)]) == 1
    out = capsys.readouterr().out
    assert "unused parameter `idle`" in out and "`size`" not in out


def test_what_a_value_decides_needs_no_other_instance() -> None:
    text = "dialect onnx;\nparam k: int = 1;\nrule r(x): Relu(Relu(x)) => Relu(x) if k > 0 else Abs(x);\n"
    for value, expected in ((1, "proved"), (0, "refuted")):
        rule = gslang.parse_rules(text, defines={"k": value}).own["r"]
        assert verify_now(rule, Settings(seconds=20)).verdict == expected
    chain = (
        "dialect onnx;\nparam k: int = 1;\nrule r(x) { chain c in 2.. from x { y = Relu(prev.y); } c[-1].y\n"
        "=> Relu(x) if k > 0 else Max(x, 0) }\n"
    )
    assert verify_now(gslang.parse_rules(chain).own["r"], Settings(seconds=20)).verdict in ("exact", "proved")
