"""Write the table of TensorRight's rules into docs/verify.md: `python docs/tensorright_page.py`. Seconds are
of the processor, for proofs alone.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import gslang.api as api
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "verify.md"
BEGIN, END = "<!-- tensorright: written by docs/tensorright_page.py -->", "<!-- end -->"
WORDS = {
    "elementwise": "element-wise, order, truth values",
    "slices": "slices, paddings",
    "structure": "reversals, broadcasts, joins, sums, products",
    "onnx": "the same in ONNX",
    "fixed": "second versions",
}


def row(path: Path) -> tuple[str, int, int, int, float, float]:
    """(what, rules, proved, proved for every rank, seconds of all, most seconds of one)."""
    rules = list(api.load(path).own.values())
    proofs, seconds = [], []
    for rule in rules:
        began = process_time()
        try:
            proofs.append(prove(rule))
        except NotProved:
            pass
        seconds.append(process_time() - began)
    return (
        WORDS[path.stem], len(rules), len(proofs), sum(proof.ranks is None for proof in proofs), sum(seconds),
        max(seconds),
    )


def table() -> str:
    """The table in Markdown."""
    rows = [row(path) for path in sorted((ROOT / "tests" / "verify" / "tensorright").glob("*.gsl"))]
    total = ("altogether", *(sum(r[k] for r in rows) for k in (1, 2, 3, 4)), max(r[5] for r in rows))
    lines = [
        "| rules | written | proved | for every rank | seconds | the slowest |", "|---|---|---|---|---|---|",
    ]
    for what, count, proved, every, seconds, most in [*rows, total]:
        lines.append(f"| {what} | {count} | {proved} | {every} | {seconds:.1f} | {most:.1f} |")
    return "\n".join(lines)


def main() -> None:
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
