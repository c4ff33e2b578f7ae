"""Files beyond a limit: the server says so where they are, answers questions about them, and serves the
others as before.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.lsp.store import Store
from tests.hostile.corpus import corpus

GOOD = "## Doc.\nrule twice(x): exp(log(x)) => x;\nrule broken(x): exp(y) => x;\n"
# Some that are beyond a limit, with what is said.
LIMITS = {
    "functions_chain.gsl": "E0107",
    "functions_unshared.gsl": "E0107",
    "parentheses.gsl": "E0107",
    "lists.gsl": "E0107",
    "digits_5000.gsl": "E01",
    "lets_deep.gsl": "E0107",
    "choices_deep.gsl": "E0107",
}


def served(store: Store, name: str, text: str) -> list[str]:
    """The codes that are shown for a document, after all that an editor asks for when it opens one."""
    from lsprotocol import types as lsp

    from gslang.lsp.diagnostics import shown
    from gslang.lsp.formatting import format_document
    from gslang.lsp.hover import hover

    document = store.put(f"file:///nowhere/{name}", text, 1)
    codes = [str(found.code) for found in shown(store, document, store.findings(document, costly=False))]
    for line in (0, 1):
        hover(store, document, lsp.Position(line, 8))
    format_document(document)
    return codes


@pytest.mark.parametrize(
    "names", [tuple(LIMITS), pytest.param((), marks=pytest.mark.long)], ids=["limits", "all"]
)
def test_limits_are_said_and_other_files_served(names: tuple[str, ...]) -> None:
    store = Store()
    expected = served(store, "good.gsl", GOOD)
    assert expected
    for path, data in corpus().items():
        name = Path(path).name
        if path.startswith("rules/") and (not names or name in names):
            codes = served(store, name, data.decode("utf-8", "replace"))
            assert name not in LIMITS or any(code.startswith(LIMITS[name]) for code in codes), (name, codes)
    assert served(store, "good.gsl", GOOD + "\n")[: len(expected)] == expected
