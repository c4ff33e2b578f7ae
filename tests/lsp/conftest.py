"""One server for each test file; it must have ended well and logged nothing when the file is done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lsp.client import Client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    client = Client()
    yield client
    assert client.close() == 0
    assert client.stderr == ""
