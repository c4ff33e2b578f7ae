"""What a host has no form for is named by what was written."""

from __future__ import annotations

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.hosts.sayable import Refused, plain


def test_a_chain_is_told_as_one() -> None:
    text = "dialect onnx; rule r(x) { chain c in 2.. from x { y = Relu(prev.y); } c[-1].y => Relu(x) }"
    program = check_source(Source("r.gsl", text))
    assert program.ok, program.diagnostics
    with pytest.raises(Refused, match="it has a `chain`"):
        plain(program.rules["r"])
