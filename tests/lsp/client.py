"""A JSON-RPC client of `gslc lsp` over its standard input and output, as an editor is one; it knows nothing
of pygls.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LONG = 600.0  # seconds: only a server that hangs takes so long, however busy the machine is


class Client:
    """One server process.

    `notices`: notifications from it, in order; `unasked`: answers that nobody waited for; `stderr`: all that
    it wrote there.
    """

    def __init__(
        self,
        root: Path | None = None,
        encodings: list[str] | None = None,
        capabilities: dict[str, Any] | None = None,
        options: Any = None,
        command: Sequence[str] = (sys.executable, "-m", "gslang", "lsp"),
    ) -> None:
        self.process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
        self.notices: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.errors: list[dict[str, Any]] = []
        self.unasked: list[dict[str, Any]] = []
        self._stderr: list[bytes] = []
        self._inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._last = 0
        self._versions: dict[str, int] = {}
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=lambda: self._stderr.extend(self.process.stderr or ()), daemon=True).start()
        general = {"positionEncodings": encodings} if encodings else {}
        usual = {
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
            "completion": {"completionItem": {"snippetSupport": True}},
        }
        given = {"general": general, "textDocument": usual, **(capabilities or {})}
        self.server = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri() if root else None,
                "capabilities": given,
                "initializationOptions": options,
            },
        )
        self.say("initialized", {})

    # ── wire ──

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while True:
            length = 0
            while line := out.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                self._inbox.put(None)
                return
            self._inbox.put(json.loads(out.read(length)))

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _next(self) -> dict[str, Any]:
        message = self._inbox.get(timeout=LONG)
        assert message is not None, "the server has ended: " + self.stderr
        if "method" in message and "id" in message:
            self.requests.append(message)
            result = {"applied": True} if message["method"] == "workspace/applyEdit" else None
            self._send({"id": message["id"], "result": result})
        elif "method" in message:
            self.notices.append(message)
        return message

    @property
    def stderr(self) -> str:
        return b"".join(self._stderr).decode("utf-8", "replace")

    # ── talk ──

    def say(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any, *, fails: bool = False) -> Any:
        self._last += 1
        number = self._last
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == number and "method" not in message:
                if fails:
                    return message["error"]
                assert "error" not in message, message["error"]
                return message["result"]
            if "method" not in message:
                self.unasked.append(message)

    def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first notification, past or to come, that fits."""
        for notice in self.notices:
            if fits(notice):
                return notice
        while not ("id" not in (message := self._next()) and fits(message)):
            pass
        return message

    def open(self, uri: str, text: str) -> list[dict[str, Any]]:
        """Open a text; gives its diagnostics."""
        version = self._versions[uri] = self._versions.get(uri, 0) + 1
        self.say(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "gslang", "version": version, "text": text}},
        )
        return self.diagnostics(uri)

    def change(self, uri: str, *changes: dict[str, Any]) -> list[dict[str, Any]]:
        self._versions[uri] += 1
        self.say(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": self._versions[uri]}, "contentChanges": list(changes)},
        )
        return self.diagnostics(uri)

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """Those of the current version."""
        version = self._versions[uri]

        def fits(notice: dict[str, Any]) -> bool:
            params = notice.get("params") or {}
            return (
                notice["method"] == "textDocument/publishDiagnostics" and params["uri"] == uri
                and params.get("version") == version
            )

        found: list[dict[str, Any]] = self.until(fits)["params"]["diagnostics"]
        return found

    def at(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        return self.ask(
            "textDocument/" + method,
            {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more},
        )

    def on(self, method: str, uri: str, **more: Any) -> Any:
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, **more})

    def close(self) -> int:
        self.ask("shutdown", None)
        self.say("exit", None)
        code = self.process.wait(LONG)
        return code


def place(text: str, mark: str, skip: int = 0) -> tuple[int, int]:
    """Line and character (UTF-16) of `mark` in a text, moved on by some characters."""
    at = text.index(mark) + skip
    line = text.count("\n", 0, at)
    begin = text.rfind("\n", 0, at) + 1
    return line, len(text[begin:at].encode("utf-16-le")) // 2
