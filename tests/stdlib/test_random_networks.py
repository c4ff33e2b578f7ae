"""All shipped Relay rules, in random order, on random networks: both engines make the same graph, and numbers
stay.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import gslang
from gslang.dialect.load import load_dialect
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.evaluate.run import evaluate
from gslang.formats.json_writer import write_json
from gslang.graph.graph import INPUT, PARAM
from tests.engine.readable import readable_only
from tests.graph.invariants import check_invariants
from tests.stdlib.random_networks import random_network

pytestmark = pytest.mark.usefixtures("code_at_once")

RELAY = load_dialect("relay")


def one_network(seed: int) -> int:
    """Returns the number of applications."""
    original = random_network(seed, RELAY)
    rules = list(gslang.load("std.relay").known.values())
    Random(seed).shuffle(rules)
    graph, other = original.copy(), original.copy()
    progress = run_to_fixed_point(graph, rules, Limits(applications=300))
    with readable_only():
        again = run_to_fixed_point(other, rules, Limits(applications=300))
    assert check_invariants(graph) == [], seed
    assert progress.applications == again.applications and write_json(graph) == write_json(other), seed
    random = np.random.default_rng(seed)
    inputs = {
        original.names[n]: random.standard_normal(original.types[n].shape).astype(np.float32)
        for n in original.nodes() if original.op[n] in (INPUT, PARAM)
    }  # fmt: skip
    for before, after in zip(evaluate(original, RELAY, inputs), evaluate(graph, RELAY, inputs)):
        assert before.shape == after.shape and before.dtype == after.dtype, seed
        np.testing.assert_allclose(
            before, after, rtol=1e-3, atol=1e-4 * (1 + np.abs(before).max()), err_msg=str(seed)
        )
    return progress.applications


@pytest.mark.parametrize("chunk", range(2))
def test_random_networks(chunk: int) -> None:
    assert sum(one_network(seed) for seed in range(chunk * 10, chunk * 10 + 10)) > 20


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(2, 100))
def test_random_networks_long(chunk: int) -> None:
    for seed in range(chunk * 10, chunk * 10 + 10):
        one_network(seed)
