"""Functions in Python that rules call: importing what `@extern` names, where somebody has asked for that, and
calling it.

A rule that comes from the checker has functions that are not imported: their values are unknown. Whoever is
going to run rules says with `with_externs` whether Python may be imported; without that, a rule that needs it
is an error, not one that never matches.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from gslang.base.cache import digest
from gslang.base.diagnostics import InputError
from gslang.check.checked import CheckedProgram, Extern
from gslang.check.limits import RuleFailed, bounded
from gslang.dialect.tensor_type import UNKNOWN, Symbol, UnknownValue

ALLOW = "`gslc … --allow-extern` imports it, in Python `load(…, allow_extern=True)`"


class ExternFailed(RuleFailed):
    """A Python function that a rule calls raised something, gave a value of another type, or may not be
    imported.
    """


def caller(extern: Extern) -> Callable[..., object]:
    """The function that computes a call from the values of its arguments."""
    return extern.function or partial(_unknown, extern.reference)


def with_externs(
    program: CheckedProgram, allow: bool, known: dict[str, Callable[..., Any]] | None = None
) -> CheckedProgram:
    """The program with its Python functions imported or, without `allow`, with ones that raise `ExternFailed`
    when they are called. `known`: keeps those imported, for programs to come.

    Raises `InputError` for a function that cannot be imported or takes another number of arguments.
    """
    known = {} if known is None else known
    rules = dict(program.rules)
    for name, rule in program.rules.items():
        if rule.externs:
            rules[name] = _bound(rule, allow, known)
    return replace(program, rules=rules) if known else program


def _bound(item: object, allow: bool, known: dict[str, Callable[..., object]]) -> Any:
    """A part of a rule with functions in all calls in it."""
    if isinstance(item, tuple):
        parts = tuple(_bound(part, allow, known) for part in item)
        return item if all(a is b for a, b in zip(item, parts)) else parts
    if not is_dataclass(item) or isinstance(item, type):
        return item
    changed = {}
    for field in fields(item):
        if field.name not in ("span", "spans", "where_spans", "dialect"):
            before = getattr(item, field.name)
            after = _bound(before, allow, known)
            if after is not before:
                changed[field.name] = after
    if isinstance(item, Extern):
        where = f"{item.folder}|{item.reference}"
        if where not in known:
            known[where] = _imported(item) if allow else _unknown
        changed["function"] = partial(_call, known[where], item) if allow else partial(_refuse, item)
    return replace(item, **changed) if changed else item


# ── importing ───────────────────────────────────────────────────────────────────────────────────────────────


def _imported(extern: Extern) -> Callable[..., object]:
    module, _, path = extern.reference.partition(":")
    found: Any = _module(module, extern)
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"`{module}` has no `{path}`", path=str(extern.span), help=_near(found, part))
        found = getattr(found, part)
    if not callable(found):
        raise InputError(
            f"`{extern.reference}` is not a function but a {type(found).__name__}", path=str(extern.span),
            help="name a function",
        )
    try:
        inspect.signature(found).bind(*extern.arguments)
    except TypeError:
        count = len(extern.arguments)
        message = (
            f"`{extern.reference}` does not take {count} argument{'s' * (count != 1)}: it is "
            f"`{path}{inspect.signature(found)}`"
        )
        raise InputError(
            message, path=str(extern.span), help="the declaration and the function have the same parameters"
        ) from None
    except ValueError:
        pass  # no signature is known, as of functions in C
    return found  # type: ignore[no-any-return]


def _near(module: object, name: str) -> str:
    from gslang.base.suggest import did_you_mean

    guess = (
        did_you_mean(name, [known for known in vars(module) if not known.startswith("_")])
        if hasattr(module, "__dict__")
        else None
    )
    return f"did you mean `{guess}`?" if guess else "the text after the colon names a function of the module"


def _module(name: str, extern: Extern) -> ModuleType:
    """A module beside the rule file, else one that is installed."""
    inner = Path(*name.split("."))
    file = next(
        (
            f
            for f in (
                Path(extern.folder, inner).with_suffix(".py"), Path(extern.folder, inner, "__init__.py"),
            )
            if f.is_file()
        ),
        None,
    )
    sys.path.append(extern.folder)
    try:
        return importlib.import_module(name) if file is None else _of_file(name, file.resolve())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the module does while it is imported
        if isinstance(error, ModuleNotFoundError) and error.name is not None and name.startswith(error.name):
            help = f"a module next to the rule file ({inner.name}.py), or an installed one"
            raise InputError(
                f"no Python module `{name}`", path=str(extern.span), help=help
            ) from None
        raise InputError(
            f"the Python module `{name}` cannot be imported: {_told(error)}", path=str(extern.span)
        ) from None
    finally:
        sys.path.remove(extern.folder)


def _of_file(name: str, file: Path) -> ModuleType:
    """The module in a file, under a name of its own: files of other folders may be called the same."""
    unique = f"_gslang_extern_{digest([str(file)])[:16]}_{name.replace('.', '_')}"
    spec = importlib.util.spec_from_file_location(unique, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    spec.loader.exec_module(module)
    return module


# ── calling ─────────────────────────────────────────────────────────────────────────────────────────────────


def _unknown(reference: str, *arguments: object) -> object:
    raise UnknownValue(f"`{reference}` is not imported")


def _refuse(extern: Extern, *arguments: object) -> object:
    raise ExternFailed(
        f"it depends on the Python function `{extern.reference}`, which was not imported", help=ALLOW,
        path=str(extern.span),
    )


def _call(function: Callable[..., Any], extern: Extern, *arguments: object) -> object:
    """The value of a call.

    Arguments with unknown dimensions make it unknown, and so does a function that returns None.
    """
    if not all(map(_is_known, arguments)):
        raise UnknownValue(f"an argument of `{extern.name}` is not known")
    arguments = tuple(map(_given, extern.parameters, arguments))
    for kind, argument in zip(extern.parameters, arguments):
        if not _fits(kind, argument):
            raise ExternFailed(
                f"`{extern.name}` got {_shown(argument)}, but declares a {kind}",
                path=str(extern.span),
                help="declare the parameter as `any`, or test the value first: `x != none and …`",
            )
    try:
        result = function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        given = ", ".join(map(_shown, arguments))
        message = f"the Python function `{extern.reference}` failed for ({given}): {_told(error)}"
        raise ExternFailed(
            message, path=str(extern.span), help="return None if the answer is unknown"
        ) from None
    if extern.result != "array":  # a 0-d array is one, not a number
        result = _plain(result)
    if result is None:
        raise UnknownValue(f"`{extern.name}` returned None: unknown")
    if not _fits(extern.result, result):
        message = (
            f"the Python function `{extern.reference}` returned {_shown(result)}, the rule file declares `-> "
            f"{extern.result}`"
        )
        raise ExternFailed(
            message, path=str(extern.span),
            help="return a value of the declared type, or None if the answer is unknown",
        )
    return bounded(result)


def _is_known(value: object) -> bool:
    return (
        all(map(_is_known, value)) if isinstance(value, tuple)
        else value is not UNKNOWN and not isinstance(value, Symbol)
    )


def _plain(value: object) -> object:
    """Lists as tuples, NumPy's numbers as Python's."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def _given(kind: str, value: object) -> object:
    """The number in a constant without axes as an array, where one is declared."""
    if kind != "array" or not isinstance(value, int | float):
        return value
    import numpy

    return numpy.asarray(value)


def _fits(kind: str, value: object) -> bool:
    match kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "str" | "dtype":
            return isinstance(value, str)
        case "tuple":
            return isinstance(value, tuple)
        case "array":
            return hasattr(value, "ndim")
    return True


def _shown(value: Any) -> str:
    text = (
        "none" if value is None
        else repr(value) if not hasattr(value, "ndim")
        else f"an array {value.dtype}{list(value.shape)}"
    )
    return text if len(text) <= 80 else text[:77] + "…"


def _told(error: BaseException) -> str:
    """An exception in one line, with the place in the Python file that raised it."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame
        for frame in frames if Path(frame.filename) != Path(__file__) and "importlib" not in frame.filename
    ]
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' + text if text else ''}{place}"
