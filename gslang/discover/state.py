"""The progress of a discovery in a file, so that an interrupted one goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gslang.base.atomic_write import write_text
from gslang.base.cache import digest
from gslang.base.diagnostics import InputError
from gslang.base.open_types import JsonDict
from gslang.base.read_file import read_text
from gslang.discover.equations import Candidate, turned_round
from gslang.discover.judge import Judged
from gslang.discover.plan import Question
from gslang.discover.terms import Tree
from gslang.verify.verdict_key import own_code


class State:
    """The results of an earlier run with the same question. A file of another question is an error: it would
    be overwritten."""

    def __init__(self, path: str | None, question: Question) -> None:
        self.path = path
        texts = [
            Path(file).read_text(encoding="utf-8", errors="replace") if Path(file).is_file() else ""
            for file in question.files
        ]
        key = digest([repr(question), own_code(), *texts])
        self.data: JsonDict = {"question": key, "judged": {}}
        if path is None or not Path(path).exists():
            return
        try:
            data = json.loads(read_text(path))
            fits = data["question"] == key and isinstance(data["judged"], dict)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise InputError(
                "not a state of `gslc discover`",
                path=path,
                help="give another file, or remove this one",
            ) from None
        if not fits:
            raise InputError(
                "this state was saved with other options, or by another version of gslang",
                path=path,
                help="give another file, or remove this one",
            )
        self.data = data

    def save(self) -> None:
        if self.path is not None:
            write_text(self.path, json.dumps(self.data) + "\n")

    def knows(self, candidate: Candidate) -> bool:
        return _key(candidate) in self.data["judged"]

    def note(self, candidate: Candidate, answer: Judged | None) -> None:
        self.data["judged"][_key(candidate)] = (
            None if answer is None else {**asdict(answer), "candidate": None}
        )
        self.save()

    def answer(self, candidate: Candidate) -> Judged | None:
        """The answer that was noted. Raises `InputError` where the file says nothing that could be one."""
        data = self.data["judged"][_key(candidate)]
        try:
            if data is None:
                return None
            turned = turned_round(candidate) if data["turned"] else candidate
            return Judged(**{**data, "candidate": turned, "conditions": tuple(data["conditions"])})
        except (KeyError, TypeError, ValueError):
            message = "not a state of `gslc discover`"
            raise InputError(
                message, path=str(self.path), help="give another file, or remove this one"
            ) from None


def _key(candidate: Candidate) -> str:
    return digest([repr((candidate.sources, candidate.targets, candidate.types))])


def tree_of(data: Any) -> Tree:
    return data if isinstance(data, int) else (data[0], *[tree_of(item) for item in data[1:]])
