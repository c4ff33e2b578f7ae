"""Certificates as files: written for the rules that are proved, and checked again.

Not here: what stands in them (`prove/certificate`), how they are checked (`recheck`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from gslang.base.atomic_write import write_text
from gslang.base.read_file import read_text
from gslang.check.checked import CheckedRule
from gslang.verify.evidence import Settings
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.certificate import as_certificate
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.recheck.check import Checked, Refused, check
from gslang.verify.verdict import Verdict, in_a_line
from gslang.verify.verdict_key import content_of


def digest_of_rule(rule: CheckedRule) -> str:
    """A text that is the same for equal rules."""
    return sha256(content_of(rule).encode()).hexdigest()


def outputs_of(rule: CheckedRule) -> int | None:
    """The number of outputs of a rule; None if it depends on the match."""
    return None if rule.output_block is not None else len(rule.outputs)


def certified(rule: CheckedRule, verdict: Verdict, settings: Settings, folder: Path) -> Verdict:
    """The verdict, once the certificate of a rule that is proved stands in the folder; it says so where none
    could be written. What stood there for the rule before is taken away. Raises `OSError`.
    """
    path = (
        folder
        / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', rule.name)}-{sha256(rule.name.encode()).hexdigest()[:8]}.json"
    )
    if verdict.verdict == "proved":
        try:
            proof = prove(rule, settings.proof_steps, record=True)
        except NotProved as error:  # all cases of the last round are looked at anew, which may take too much
            verdict = replace(verdict, uncertified=in_a_line(str(error)))
        else:
            write_text(path, as_certificate(rule.name, digest_of_rule(rule), proof))
            return verdict
    path.unlink(missing_ok=True)
    return verdict


def recheck(folder: Path, rules: Mapping[str, CheckedRule]) -> tuple[list[Checked], list[tuple[Path, str]]]:
    """(what was checked, what is refused and why) of all certificates of a folder. Those about `rules` must
    be about them as they are now.

    Raises `OSError`.
    """
    good: list[Checked] = []
    refused: list[tuple[Path, str]] = []
    for path in sorted(folder.glob("*.json")):
        try:
            document = json.loads(read_text(path))
            name = document.get("rule") if isinstance(document, dict) else None
            rule = rules.get(name) if isinstance(name, str) else None
            good.append(
                check(document) if rule is None else check(document, digest_of_rule(rule), outputs_of(rule))
            )
        except (ValueError, RecursionError) as error:
            refused.append((path, f"invalid JSON: {error}"))
        except Refused as error:
            refused.append((path, str(error)))
    return good, refused
