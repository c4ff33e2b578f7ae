"""Recorded dialogues: what a client said and what the server answered, word for word, in `recorded/*.json`.

`python -m tests.lsp.record` says everything again and writes the new answers; the difference is then to be
read before it is kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.lsp.client import ROOT, Client

FOLDER = Path(__file__).parent / "recorded"
_PLACES = (
    ((ROOT / "stdlib_rules").as_uri(), "file:///stdlib_rules"),
    ((ROOT / "gslang").as_uri(), "file:///gslang"),
)


def said(dialogue: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The dialogue with the answers that the server gives now.

    Texts of documents are lists of lines, for those who read them.
    """
    client = Client()
    result = []
    for step in dialogue:
        ask = step["client"]
        params = dict(ask["params"])
        uri = params.get("textDocument", {}).get("uri", "")
        if ask["method"] == "textDocument/didOpen":
            answer: Any = client.open(uri, "\n".join(params["textDocument"]["text"]))
        elif ask["method"] == "textDocument/didChange":
            answer = client.change(uri, *params["contentChanges"])
        else:
            answer = client.ask(ask["method"], params)
        result.append({"client": ask, "server": json.loads(_portable(json.dumps(answer)))})
    assert client.close() == 0 and client.stderr == ""
    return result


def _portable(text: str) -> str:
    """Paths of this checkout as paths of no one."""
    for mine, anyone in _PLACES:
        text = text.replace(mine, anyone)
    return text


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.json")):
        path.write_text(
            json.dumps(said(json.loads(path.read_text(encoding="utf-8"))), indent=1, ensure_ascii=False)
            + "\n",
            encoding="utf-8",
        )
