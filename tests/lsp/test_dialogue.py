"""Dialogues with the server over its standard input and output, feature by feature."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lsp.client import Client, place

RULES = """\
#! Rules of the test.
dialect relay;

## Twice the same.
rule relu_twice(x): nn.relu(nn.relu(x)) => nn.relu(x);

## A sum of convolutions.
rule sum_of_two(x, w1: var, w2: var(shape = w1.shape)) {
    c1 = nn.conv2d(x, w1);
    c2 = nn.conv2d(x, w2, c1.*);
    c1 + c2
  =>
    nn.conv2d(x, w1 + w2, c1.*)
}

test "two become one" for relu_twice {
    x: input float32[2, 3];
    nn.relu(nn.relu(x)) => nn.relu(x)
}
test "sum" for sum_of_two {
    x: input float32[1, 2, 4, 4];  w1: param float32[4, 2, 1, 1];  w2: param float32[4, 2, 1, 1];
    nn.conv2d(x, w1) + nn.conv2d(x, w2)
  => nn.conv2d(x, w1 + w2)
}
"""
URI = "file:///nowhere/rules.gsl"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    client = Client()
    yield client
    assert client.close() == 0
    assert "Traceback" not in client.stderr and "ERROR" not in client.stderr, client.stderr


def test_a_file_without_findings(client: Client) -> None:
    assert client.open(URI, RULES) == []


def test_diagnostics_follow_each_edit(client: Client) -> None:
    uri = "file:///nowhere/edited.gsl"
    client.open(uri, RULES)
    line, character = place(RULES, "nn.conv2d(x, w1);", 3)
    where = {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + 6}}
    (found,) = [d for d in client.change(uri, {"range": where, "text": "conv3e"}) if d["code"] == "E0301"]
    assert found["severity"] == 1 and found["range"]["start"]["line"] == line
    assert "did you mean" in found["message"] and found["codeDescription"]["href"].endswith("E0301.md")
    where["end"]["character"] = character + 6
    assert client.change(uri, {"range": where, "text": "conv2d"}) == []


def test_symbols_of_a_broken_file(client: Client) -> None:
    uri = "file:///nowhere/broken.gsl"
    broken = RULES.replace("c1 = nn.conv2d(x, w1);", "c1 = nn.conv2d(x, ;;")
    found = client.open(uri, broken)
    assert [d["code"] for d in found] == ["E0102"]
    names = [(s["name"], s["detail"]) for s in client.on("documentSymbol", uri)]
    assert names == [("relu_twice", "rule"), ("sum_of_two", "rule"), ("two become one", "test for relu_twice"), ("sum", "test for sum_of_two")]
