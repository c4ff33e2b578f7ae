"""The recorded dialogues, said again: every answer is the one that was recorded (`python -m tests.lsp.record`
records anew).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lsp.record import FOLDER, said


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_said_again(path: Path) -> None:
    recorded = json.loads(path.read_text(encoding="utf-8"))
    assert recorded
    for before, now in zip(recorded, said(recorded), strict=True):
        assert now == before, now["client"]["method"]
