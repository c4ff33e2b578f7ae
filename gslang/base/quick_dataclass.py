"""`dataclass` of the standard library, but its methods are written when they are first called.

The library compiles up to six methods for each class when its module is imported, and parses each
annotation. A short run imports hundreds of classes and calls the methods of few: this was half of its
start-up. Fields are the library's own objects, so that `fields`, `replace` and `is_dataclass` work.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final, NoReturn

_FIELDS: Final = "__dataclass_fields__"


def _dataclass(
    cls: type | None = None, /, *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    kw_only: bool = False,
) -> Any:
    """The class as a dataclass; the arguments mean what they mean for `dataclasses.dataclass`."""
    if cls is None:
        return partial(_dataclass, frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)
    if not cls.__doc__:
        cls.__doc__ = f"{cls.__name__}({', '.join(cls.__annotations__)})"
    every = _fields(cls, kw_only)
    made: Any = _with_slots(cls, every) if slots else cls
    setattr(made, _FIELDS, every)
    made.__dataclass_params__ = _LIKE.__dataclass_params__
    if "__match_args__" not in made.__dict__:
        places = tuple([name for name, f in every.items() if f.init and not f.kw_only])
        setattr(made, "__match_args__", places)  # noqa: B010 (mypy does not let it be assigned)
    own = made.__dict__
    hashed = own.get("__hash__") is not None or "__hash__" in own and "__eq__" not in own
    if "__init__" not in own:
        _write_when_called(made, "__init__", partial(_init, made, frozen))
    if "__repr__" not in own:
        made.__repr__ = _repr
    if eq:
        if not hashed:
            if frozen:
                _write_when_called(made, "__hash__", partial(_hash, made))
            else:
                made.__hash__ = None
        if "__eq__" not in own:
            _write_when_called(made, "__eq__", partial(_eq, made))
    if frozen:
        made.__setattr__ = _refuse_to_set
        made.__delattr__ = _refuse_to_delete
        if slots and "__getstate__" not in own:
            made.__getstate__ = _state
            made.__setstate__ = _restore
    return made


__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Like:
    field: int


_LIKE: Final[Any] = _Like
_KIND: Final = _LIKE.__dataclass_fields__["field"]._field_type
"""The mark of the library for a field that is no class variable."""


def _fields(cls: Any, kw_only: bool) -> dict[str, Field[object]]:
    """The fields of a class, those of its bases first; it keeps defaults as attributes.

    The library looks at each annotation for class variables of all spellings, and at its own module for the
    names in it; here a field is one whose annotation, a text, does not begin with `ClassVar`.
    """
    found: dict[str, Field[object]] = {}
    for base in cls.__mro__[-1:0:-1]:
        found.update(base.__dict__.get(_FIELDS, {}))
    for name, annotation in cls.__annotations__.items():
        if annotation.startswith("ClassVar"):
            continue
        default = cls.__dict__.get(name, MISSING)
        made: Any = default if isinstance(default, Field) else dataclasses.field(default=default)
        made.name, made.type, made._field_type = name, annotation, _KIND
        if made.kw_only is MISSING:
            made.kw_only = kw_only
        if isinstance(default, Field):
            if made.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, made.default)
        found[name] = made
    return found


def _with_slots(cls: Any, every: Iterable[str]) -> Any:
    """The class made again with slots for its fields, as slots cannot be added."""
    given: set[str] = set()
    for base in cls.__mro__[1:-1]:
        slots = base.__dict__.get("__slots__", ())
        given.update((slots,) if isinstance(slots, str) else slots)
    own = {name: value for name, value in cls.__dict__.items() if name not in every}
    own["__slots__"] = tuple([name for name in every if name not in given])
    for name in ("__dict__", "__weakref__"):
        own.pop(name, None)
    made: Any = type(cls)(cls.__name__, cls.__bases__, own)
    made.__qualname__ = cls.__qualname__
    return made


def _write_when_called(cls: type, name: str, write: Callable[[], Callable[..., Any]]) -> None:
    def method(*args: object, **named: object) -> Any:
        written = write()
        if cls.__dict__[name] is method:
            written.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, written)
        return written(*args, **named)

    method.__name__ = name
    setattr(cls, name, method)


def _compiled(
    name: str, parameters: Iterable[str], body: Iterable[str], given: dict[str, object]
) -> Callable[..., Any]:
    named: dict[str, Any] = given
    lines = "".join([f"\n {line}" for line in body]) or "\n pass"
    exec(f"def {name}({', '.join(parameters)}):{lines}", named)
    written: Callable[..., Any] = named[name]
    return written


def _init(cls: type, frozen: bool) -> Callable[..., Any]:
    parameters: list[str] = []
    named: list[str] = []
    body: list[str] = []
    given: dict[str, object] = {"_absent": MISSING}
    every: dict[str, Field[object]] = getattr(cls, _FIELDS)
    for name, field in every.items():
        value = name
        default = field.default
        if field.default_factory is not MISSING:
            given[f"_make_{name}"], default = field.default_factory, MISSING
            value = f"_make_{name}() if {name} is _absent else {name}" if field.init else f"_make_{name}()"
        elif not field.init and default is MISSING:
            continue
        elif not field.init:
            given[f"_default_{name}"] = default
            value = f"_default_{name}"
        if field.init:
            optional = "" if default is MISSING and value == name else "=_absent"
            if default is not MISSING:
                given[f"_default_{name}"], optional = default, f"=_default_{name}"
            (named if field.kw_only else parameters).append(name + optional)
        slot = getattr(cls, name, None)
        if frozen and isinstance(slot, MemberDescriptorType):
            given[f"_set_{name}"] = slot.__set__
            body.append(f"_set_{name}(_self, {value})")
        elif frozen:
            given["_set"] = object.__setattr__
            body.append(f"_set(_self, {name!r}, {value})")
        else:
            body.append(f"_self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("_self.__post_init__()")
    return _compiled("__init__", ["_self", *parameters, *(["*", *named] if named else [])], body, given)


def _compared(cls: type) -> list[str]:
    every: dict[str, Field[object]] = getattr(cls, _FIELDS)
    return [name for name, field in every.items() if field.compare]


def _hash(cls: type) -> Callable[..., Any]:
    every: dict[str, Field[object]] = getattr(cls, _FIELDS)
    hashed = [name for name, field in every.items() if (field.compare if field.hash is None else field.hash)]
    parts = "".join([f"self.{name}, " for name in hashed])
    return _compiled("__hash__", ["self"], [f"return hash(({parts}))"], {})


def _eq(cls: type) -> Callable[..., Any]:
    names = _compared(cls)
    mine, its = ("".join([f"{of}.{name}, " for name in names]) for of in ("self", "other"))
    body = ["if other.__class__ is self.__class__:", f" return ({mine}) == ({its})", "return NotImplemented"]
    return _compiled("__eq__", ["self", "other"], body, {})


def _repr(self: object) -> str:
    fields: dict[str, Field[object]] = getattr(self, _FIELDS)
    shown = ", ".join([f"{name}={getattr(self, name)!r}" for name, field in fields.items() if field.repr])
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_to_set(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _restore(self: object, state: Sequence[object]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state):
        object.__setattr__(self, name, value)
