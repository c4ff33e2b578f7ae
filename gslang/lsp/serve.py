"""Running the language server: all parts registered, on standard input and output."""

from __future__ import annotations

import logging
import os
import sys

from pygls.exceptions import JsonRpcException

from gslang.lsp import commands, requests, synchronisation
from gslang.lsp.server import Server

_TURN = 0.0005  # seconds that a thread which verifies or runs tests may go on while a message waits


def serve() -> bool:
    """Talk on standard input and output until the client says `exit` or is gone; False if it said that
    without asking for `shutdown` before.
    """
    logging.basicConfig(level=logging.ERROR)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_no_answer)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints goes to standard error, not between the messages
    sys.setswitchinterval(_TURN)
    server = make_server()
    server.start_io(sys.stdin.buffer, output)
    return not server.exited or bool(server.protocol._shutdown)


def make_server() -> Server:
    """A server with all that it can do."""
    server = Server()
    for part in (synchronisation, requests, commands):
        part.register(server)
    return server


def _is_no_answer(record: logging.LogRecord) -> bool:
    """Requests that are refused on purpose (a rename to a keyword, a request without its parameters) is
    answered and belongs in no log.
    """
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException)) and not str(
        record.msg
    ).startswith("Unable to deserialize")
