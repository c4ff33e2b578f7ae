"""Every case of ONNX's backend suite, as it is and with constants for its integer inputs, after each shipped
pass.
"""

from __future__ import annotations

from itertools import islice

import pytest

from tests.onnx.backend_suite import cases, fault, with_constants

PASSES = ("basic", "inference", "transformers")


def faults(step: int) -> list[str]:
    found = []
    for case in islice(cases(), 0, None, step):
        for variant in (case, with_constants(case)):
            if variant is not None and (why := fault(variant, PASSES)) is not None:
                found.append(f"{variant.name}: {why}")
    return found


def test_a_sample_of_the_suite() -> None:
    assert faults(61) == []


@pytest.mark.long
def test_the_whole_suite() -> None:
    assert faults(1) == []
