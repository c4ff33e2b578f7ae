"""Counterexamples: an instance that refutes a rule, as texts to print, to read again and to paste."""

from __future__ import annotations

from functools import partial

from gslang.base.arrays import Array
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.formats.json_writer import write_json
from gslang.graph.graph import Graph
from gslang.graph.inner_graph import READ
from gslang.verify.comparison.compare import Finding
from gslang.verify.instances.draw import Instance
from gslang.verify.paste import as_test


@dataclass(frozen=True, slots=True)
class Counterexample:
    """`source` and `target` are JSON graphs, or models in ONNX's text form (`.onnxtxt`) if calls in them have
    bodies; `test` is a `test` item to paste, or the source in that form.

    `inputs`: values by name, as nested lists.
    """

    source: str
    target: str | None
    inputs: dict[str, Array]
    max_abs: float
    test: str

    def read_source(self, dialect: Dialect) -> Graph:
        """The source as a graph."""
        if self.source.startswith("{"):
            from gslang.formats.json_reader import read_json

            return read_json(self.source, dialect=dialect)
        from gslang.formats.onnx.text import read_onnx_text

        return read_onnx_text(self.source.encode(), "<counterexample>", dialect)


def counterexample_of(rule: CheckedRule, instance: Instance, finding: Finding | None) -> Counterexample:
    """An instance that refutes a rule, as texts."""
    inputs = finding.inputs if finding is not None and finding.inputs is not None else {}
    before, after, shown = instance.before, instance.after, instance.shown or instance.before
    source, target, test = write_json, write_json, partial(as_test, rule)
    if READ in before.meta:
        from gslang.verify.instances.bodies import as_model, as_model_to_match

        source, target, test = as_model, as_model, partial(as_model_to_match, rule)
    return Counterexample(
        source(before),
        None if after is None else target(after),
        {name: value.tolist() for name, value in inputs.items()},
        finding.max_abs if finding is not None else float("inf"),
        test(shown),
    )


def elements_of(graph: Graph) -> int:
    """The number of elements in the graph's inputs and nodes."""
    total = 0
    for node in graph.reverse_post_order():
        shape = getattr(graph.types[node], "shape", None) or ()
        size = 1
        for d in shape:
            size *= d if isinstance(d, int) else 2
        total += size + 1
    return total
