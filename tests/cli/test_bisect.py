"""`gslc bisect`: the first application that makes a check fail, among many that are right."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import gslang
from examples.models import inception_v3, transformer
from gslang.base.resources import stdlib_path
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

RULES = """rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);
rule odd(x): tanh(-x) => -tanh(x);
rule wrong(x): exp(abs(x)) => exp(x);
"""


@pytest.fixture()
def files(tmp_path: Path) -> Path:
    build = Builder(load_dialect("relay"))
    x = y = build.input("x", (2, 3))
    for k in range(16):
        x = build.call("nn.relu", build.call("nn.relu", x))
        x = build.call("tanh", build.call("negative", x))
        if k == 9:
            y = build.call("exp", build.call("abs", y))
            x = build.call("add", x, y)
    gslang.write(build.finish(x, y), tmp_path / "graph.json")
    (tmp_path / "rules.gsl").write_text(RULES, encoding="utf-8")
    return tmp_path


def bisect(folder: Path, check: str, *more: str) -> int:
    return main(["bisect", str(folder / "rules.gsl"), str(folder / "graph.json"), "--check", check, *more])


def first_wrong(folder: Path) -> int:
    """Found the slow way: which application of the run is the wrong rule's."""
    applied: list[str] = []
    rules = gslang.load(folder / "rules.gsl")
    rules.apply(
        gslang.read(folder / "graph.json"),
        watch=lambda *_: lambda _, what: applied.append(what if isinstance(what, str) else what.rule),
    )
    return applied.index("wrong") + 1


@pytest.mark.parametrize("check", ["numbers", "grep -q abs", "grep -q abs {}"])
def test_it_names_the_application(files: Path, capsys: pytest.CaptureFixture[str], check: str) -> None:
    assert bisect(files, check) == 1
    told = capsys.readouterr().out
    assert told.startswith(
        f"application {first_wrong(files)} is the first after which the check fails: rule `wrong` ("
    )
    assert "rules.gsl:3:6)" in told and f"--stop-after {first_wrong(files)}" in told


def test_a_wrong_rule_among_the_shipped_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a pass with built-in steps, on a real network."""
    (tmp_path / "rules.gsl").write_text("""use std.relay;
rule wrong(x): nn.avg_pool2d(x, pool_size = [3, 3], strides = [1, 1], padding = [1, 1, 1, 1]) => x;
pass all { lower_batch_norm; fold; conv_mul; fold; repeat { bias_add_add; wrong; diamond_conv_add; } cse; }
""", encoding="utf-8")  # fmt: skip
    gslang.write(inception_v3.build(75, width=0.1), tmp_path / "graph.json")
    assert bisect(tmp_path, "numbers", "--pass", "all") == 1
    told = capsys.readouterr().out
    assert "fails: rule `wrong` (" in told and "the numbers differ" in told


@pytest.mark.parametrize("check", ["numbers", "test $(grep -c nn.dense {}) -gt 10"])
def test_a_shipped_rule_that_somebody_broke(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], check: str
) -> None:
    """Kernels joined in another order than their results are taken apart, in a transformer of two layers (12
    of `nn.dense`, with q, k, v joined 8).
    """
    text = (stdlib_path() / "relay" / "dense.gsl").read_text(encoding="utf-8")
    right, wrong = "[d.w for d in ds]", "[ds[len(ds) - 1 - i].w for i in range(len(ds))]"
    assert right in text
    (tmp_path / "rules.gsl").write_text(text.replace(right, wrong), encoding="utf-8")
    gslang.write(transformer.build(layers=2, d_model=16, heads=2, d_ff=32, length=4), tmp_path / "graph.json")
    assert bisect(tmp_path, check, "--rule", "parallel_dense_variadic") == 1
    told = capsys.readouterr().out
    assert "rule `parallel_dense_variadic` (" in told and told.startswith(
        "application 1 is the first after which the check fails"
    ), told


def test_a_check_that_holds_to_the_end(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(files, "numbers", "--skip", "wrong") == 0
    assert "the check passes after all 32 applications" in capsys.readouterr().err


def test_a_check_that_never_holds(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(files, "false") == 1
    assert "the check fails before any application" in capsys.readouterr().err


def test_numbers_that_cannot_be_computed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (files / "graph.json").read_text().replace('"nn.relu"', '"my.relu"', 1)
    (files / "graph.json").write_text(text)
    assert bisect(files, "numbers") == 3
    assert "the numbers cannot be checked" in capsys.readouterr().err


def test_the_run_is_chosen_as_for_apply(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the command that shows it again really does."""
    assert bisect(files, "grep -q abs", "--skip", "odd", "--rule", "twice", "--rule", "wrong") == 1
    told = capsys.readouterr().out
    command = shlex.split(told.rpartition("see it ")[2])
    assert command[0] == "gslc" and "--skip" in command
    number = int(command[-1])
    for count, there in ((number - 1, True), (number, False)):
        assert main([*command[1:-1], str(count), "-o", str(files / "out.json")]) == 0
        assert ('"abs"' in (files / "out.json").read_text()) == there


def test_a_built_in_step_may_be_the_culprit(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = RULES + "pass all { twice; cse; odd; }"
    (files / "rules.gsl").write_text(rules, encoding="utf-8")
    build = Builder(load_dialect("relay"))
    x = build.input("x", (2, 3))
    build.call("nn.relu", x)
    both = [
        build.call("tanh", build.call("negative", build.call("nn.relu", build.call("nn.relu", x))))
        for _ in range(2)
    ]
    gslang.write(build.finish(*both), files / "graph.json")
    assert bisect(files, "test 2 = $(grep -c tanh {})", "--pass", "all") == 1
    told = capsys.readouterr().out
    assert told.startswith(
        "the built-in step `cse` after application 2 is the first after which the check fails\n"
    )


def test_what_a_command_says_is_told(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(files, "grep -q abs {} || { echo abs is gone >&2; exit 7; }") == 1
    assert "the command fails with exit code 7: abs is gone\n" in capsys.readouterr().out


def test_a_command_gets_the_format_of_the_input(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gslang.write(gslang.read(files / "graph.json"), files / "graph.relay")
    assert (
        main([
            "bisect", str(files / "rules.gsl"), str(files / "graph.relay"), "--check",
            "case {} in *.relay) grep -q 'abs(' {};; esac",
        ])
        == 1
    )
    assert "rule `wrong`" in capsys.readouterr().out


def test_names_are_checked(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(files, "numbers", "--rule", "wrnog") == 2
    assert "did you mean `wrong`?" in capsys.readouterr().err


def test_a_command_that_is_ended_by_a_signal(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(files, "grep -q abs {} || kill -9 $$") == 1
    assert "the command was ended by SIGKILL\n" in capsys.readouterr().out


def test_built_in_steps_are_told_apart(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "rules.gsl").write_text(RULES + "pass all { twice; cse; fold; wrong; }", encoding="utf-8")
    assert bisect(files, "numbers", "--pass", "all") == 1
    steps = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  after")]
    assert len(set(steps)) == len(steps) and any(" and `fold`: holds" in step for step in steps), steps


def test_sizes_of_dimensions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The graph can be computed with some sizes only."""
    (tmp_path / "rules.gsl").write_text("rule wrong(x): tanh(x) => exp(x);", encoding="utf-8")
    graph = Graph("relay", "symbolic")
    x = graph.add_input("x", TensorType((Symbol("n"), 3), "float32"))
    node = graph.add("add", [x, graph.add_input("y", TensorType((7, 3), "float32"))], {}, None)
    graph.set_outputs([graph.add("tanh", [node], {}, None)])
    gslang.write(graph, tmp_path / "graph.json")
    assert bisect(tmp_path, "numbers") == 3
    assert bisect(tmp_path, "numbers", "--dim", "m=7") == 3
    assert bisect(tmp_path, "numbers", "--dim", "n=x") == 2
    capsys.readouterr()
    assert bisect(tmp_path, "numbers", "--dim", "n=7") == 1
    assert "rule `wrong`" in capsys.readouterr().out


def test_a_command_reads_nothing_of_the_terminal(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And one that says much is heard all the same."""
    assert bisect(files, "cat; yes | head -c 300000; grep -q abs {}") == 1
    assert "rule `wrong`" in capsys.readouterr().out


@pytest.mark.parametrize("rule, code", [("Relu(Relu(x)) => Relu(x)", 0), ("Relu(Relu(x)) => Abs(x)", 1)])
def test_outputs_that_draw_random_numbers_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rule: str, code: int
) -> None:
    build = Builder(load_dialect("onnx"))
    x = build.input("x", (2, 3))
    drawn = build.call("RandomNormalLike", x)
    gslang.write(build.finish(drawn, build.call("Relu", build.call("Relu", x))), tmp_path / "graph.json")
    (tmp_path / "rules.gsl").write_text(f"dialect onnx;\nrule r(x): {rule};\n", encoding="utf-8")
    assert bisect(tmp_path, "numbers") == code
    said = capsys.readouterr()
    assert "output 1 is not compared: RandomNormalLike" in said.err
    assert ("application 1 is the first" in said.out) == bool(code)
