"""The way in which the texts of drafts are checked: with which values of parameters, and whether Python
functions are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check.check import check_module
from gslang.check.checked import CheckedProgram
from gslang.check.imports import Importer
from gslang.engine.externs import with_externs
from gslang.engine.meaning import with_meanings


@dataclass(frozen=True, slots=True, eq=False)
class Checking:
    """`defines`: values for parameters; `allow_extern`: Python functions are imported, else their values are
    unknown.

    Imports and functions are read once.
    """

    defines: Mapping[str, object] = MappingProxyType({})
    allow_extern: bool = False
    importers: dict[str, Importer] = field(default_factory=dict)  # by file
    functions: dict[str, Callable[..., object]] = field(default_factory=dict)

    def program(self, file: str, text: str) -> CheckedProgram:
        """A checked program. Raises `InputError` for a function that cannot be imported."""
        if file not in self.importers:
            self.importers[file] = Importer(check_module, None, self.defines)
        program = with_meanings(check_module(Source(file, text), self.importers[file]).program)
        return with_externs(program, True, self.functions) if self.allow_extern else program


PLAIN: Final = Checking()
