"""Paddings of a number without dimensions, which has no ends to pad."""

from __future__ import annotations

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.evaluate.run import evaluate
from gslang.graph.builder import Builder


@pytest.mark.parametrize(
    "operator, attrs",
    [("nn.pad", {"pad_mode": mode}) for mode in ("constant", "edge", "reflect")] + [("nn.mirror_pad", {})],
)
def test_a_number_stays_as_it_is(operator: str, attrs: dict[str, str]) -> None:
    build = Builder(load_dialect("relay"))
    padded = build.call(operator, build.input("x", (), "float32"), pad_width=(), **attrs)
    (found,) = evaluate(build.finish(padded), build.dialect, {"x": np.float32(3)})
    assert found.shape == () and found == 3
