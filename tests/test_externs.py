"""Conditions in Python (`@extern`): imported only where somebody asks for it; what goes wrong in them is told
like any other mistake.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import gslang.api as api
from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import Symbol
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

RULES = """## Whether the accelerator takes it.
@extern("npu:fits")
fn fits(shape: tuple, dtype: dtype) -> bool;
fn small(x) = fits(x.shape, x.dtype);
## Through a function.
@once
rule r(x) { tanh(x) where small(x) => -(-tanh(x)) }
## A value of the target.
@extern("npu:order")
fn order(rank: int) -> tuple;
## Turns what fits.
@once
rule t(x) { sin(x) where small(x)
    => transpose(transpose(sin(x), axes = order(x.ndim)), axes = order(x.ndim)) }
test "fits" for r { x: input float32[2, 2]; tanh(x) => -(-tanh(x)) }
test "too long" for r { x: input float32[2, 2, 2]; tanh(x) => unchanged }
test "turned" for t { x: input float32[2, 3]; sin(x)
    => transpose(transpose(sin(x), axes = [1, 0]), axes = [1, 0]) }
"""
NPU = """def fits(shape, dtype):
    return dtype == "float32" and len(shape) == 2

def order(rank):
    return list(reversed(range(rank)))
"""


def written(folder: Path, python: str = NPU, rules: str = RULES) -> str:
    (folder / "npu.py").write_text(python)
    (folder / "r.gsl").write_text(rules)
    return str(folder / "r.gsl")


def graph(*shape: int) -> Graph:
    b = Builder(load_dialect("relay"))
    b.graph.set_outputs([b.call("tanh", b.input("x", shape))])
    return b.graph


def test_where_it_is_allowed_it_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path)
    rules = api.load(path, allow_extern=True)
    assert [rules.apply(graph(*shape), rules=["r"]).applications for shape in ((2, 2), (2, 2, 2))] == [1, 0]
    assert main(["test", path, "--allow-extern"]) == 0
    assert [
        len(list(matches(program_of(rules.known["r"]), g, g.outputs[0])))
        for g in (graph(2, 2), graph(2, 2, 2))
    ] == [1, 0]
    capsys.readouterr()


def test_nothing_is_imported_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "raise SystemExit('loaded now')")
    for command in (["check", path], ["lint", path], ["fmt", path], ["fmt", "--check", path]):
        assert main(command) in (0, 1)
    assert "loaded now" not in "".join(capsys.readouterr())
    assert main(["test", path]) == 1
    assert "`npu:fits`, which was not imported; `gslc … --allow-extern` imports it" in capsys.readouterr().out
    assert main(["verify", path, "--rule", "r"]) == 0
    assert capsys.readouterr().out.startswith(
        "unknown  r  it depends on the Python function `npu:fits`, which was not imported; `gslc …"
    )
    assert main(["generalize", path, "r"]) == 1
    assert "which was not imported; `gslc … --allow-extern` imports it" in capsys.readouterr().out
    rules = api.load(path)
    with pytest.raises(
        InputError, match=r"r\.gsl:2:1: rule `r`: it depends on .*not imported\n  help: .*--allow-extern"
    ):
        rules.apply(graph(2, 2), rules=["r"])


def test_rules_without_it_run_all_the_same(tmp_path: Path) -> None:
    rules = api.load(written(tmp_path, "raise ValueError", RULES + "rule plain(x): tanh(x) => x;"))
    assert rules.apply(graph(2, 2), rules=["plain"]).applications == 1


def test_a_verdict_says_that_it_rests_on_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", written(tmp_path), "--allow-extern", "--jobs", "2", "--instances", "6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(
        "it depends on the Python function" in line and line.split()[0] in ("exact", "tested")
        for line in lines[:2]
    )
    assert "functions `npu:fits`, `npu:order`" in lines[1]


def test_conditions_are_found_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = RULES + "rule wrong(x, z: const) { x + z where fits(x.shape, x.dtype) => x }\n"
    path = written(tmp_path, rules=twice)
    assert main(["verify", path, "--rule", "wrong", "--allow-extern"]) == 1
    assert f"gslc generalize {path} wrong --allow-extern` finds" in capsys.readouterr().out
    assert main(["generalize", path, "wrong", "--allow-extern", "-o", str(tmp_path / "o.gsl")]) == 0
    assert "# needs: z.value == 0" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "o.gsl")]) == 0


@pytest.mark.parametrize(
    ("python", "message"),
    [
        (
            "def fits(shape, dtype): return 1 / 0",
            "failed for ((2, 2), 'float32'): ZeroDivisionError: division by zero (npu.py:1)",
        ),
        ("def fits(shape, dtype): return 'yes'", "returned 'yes', the rule file declares `-> bool`"),
        ("def fits(shape, dtype): raise SystemExit(2)", "SystemExit: 2 (npu.py:1)"),
        (
            (
                "def fits(shape, dtype):\n    return deeper()\ndef deeper():\n"
                "    raise ValueError('two\\nlines')"
            ),
            "ValueError: two lines (npu.py:4)",
        ),
    ],
)
def test_a_function_that_fails(python: str, message: str, tmp_path: Path) -> None:
    rules = api.load(written(tmp_path, python + "\ndef order(rank): return ()"), allow_extern=True)
    with pytest.raises(InputError) as caught:
        rules.apply(graph(2, 2), rules=["r"])
    assert f"{tmp_path}/r.gsl:2:1: rule `r`: the Python function `npu:fits` " in str(
        caught.value
    ) and message in str(caught.value)


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("", "`npu` has no `fits`"), ("def fit(shape, dtype): ...", "help: did you mean `fit`?"),
        ("fits = 3", "`npu:fits` is not a function but a int"),
        ("def fits(shape): ...", "does not take 2 arguments: it is `fits(shape)`"),
        (
            "import no_such_module_at_all",
            "cannot be imported: ModuleNotFoundError: No module named 'no_such_module_at_all' (npu.py:1)",
        ),
        ("def fits(:", "cannot be imported: SyntaxError"),
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3 (npu.py:1)"),
    ],
)
def test_a_module_that_cannot_be_used(
    python: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, python)
    with pytest.raises(InputError) as caught:
        api.load(path, allow_extern=True)
    assert str(caught.value).startswith(f"{path}:2:1: ") and message in str(caught.value)
    assert main(["test", path, "--allow-extern"]) == 3
    assert "Traceback" not in capsys.readouterr().err


def test_modules_of_one_name_in_two_folders(tmp_path: Path) -> None:
    found = []
    for name, answer in (("a", "True"), ("b", "False")):
        (tmp_path / name).mkdir()
        python = f"import helper_of_npu\ndef fits(shape, dtype): return {answer}\ndef order(rank): return ()"
        (tmp_path / name / "helper_of_npu.py").write_text("")
        found.append(
            api.load(written(tmp_path / name, python), allow_extern=True)
            .apply(graph(2, 2), rules=["r"])
            .applications
        )
        sys.modules.pop("helper_of_npu", None)
    assert found == [1, 0] and str(tmp_path / "a") not in sys.path


def test_an_array_may_have_no_dimensions(tmp_path: Path) -> None:
    rules = written(tmp_path, "def itself(v):\n    return v\n", """## A constant that Python computes.
@extern("npu:itself")
fn itself(v: array) -> array;
## Itself.
@once
rule r(x, k: const) { y = x * k; y => x * const(value = itself(k.value), dtype = k.dtype) }
test "a number" for r { x: input float32[2]; x * 2.0 => x * 2.0 }
test "a vector" for r { x: input float32[2]; x * (1.0, 2.0) => x * (1.0, 2.0) }
""")
    assert main(["test", rules, "--allow-extern"]) == 0


def test_not_known_is_unknown(tmp_path: Path) -> None:
    """What is unknown is never given to Python; None means that it does not know."""
    python = (
        "def fits(shape, dtype):\n    assert all(type(d) is int for d in shape)\n"
        "    return None if shape[0] == 3 else True\ndef order(rank): return ()"
    )
    rules = api.load(written(tmp_path, python), allow_extern=True)
    symbolic = Builder(load_dialect("relay"))
    symbolic.graph.set_outputs([symbolic.call("tanh", symbolic.input("x", (Symbol("n"), 2)))])
    assert [rules.apply(g, rules=["r"]).applications for g in (graph(3, 2), graph(4, 2), symbolic.graph)] == [
        0, 1, 0,
    ]
