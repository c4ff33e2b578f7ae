"""Values beyond a limit are findings of the server; it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.check.limits import too_long
from gslang.lsp import store as store_module
from gslang.lsp.store import Store


def test_a_condition_beyond_a_limit_is_a_finding(tmp_path: Path) -> None:
    store = Store()
    document = store.put(
        (tmp_path / "x.gsl").as_uri(), "rule r(x) { y = nn.relu(x); y where 10 ** (10 ** 10) == 1 => x }", 1
    )
    assert [d.code for d in store.findings(document) if d.code.startswith("E")] == ["E0507"]


def test_a_lint_beyond_a_limit_leaves_the_other_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise too_long()

    monkeypatch.setattr(store_module, "lint", fail)
    store = Store()
    document = store.put((tmp_path / "x.gsl").as_uri(), "rule r(x): nn.relu(z) => x;", 1)
    assert {d.code for d in store.findings(document)} >= {"E0201"}
