"""Immutable records: dataclasses whose methods are shared, because each generated method costs every start time."""

from dataclasses import MISSING, FrozenInstanceError, dataclass
from typing import TYPE_CHECKING, Any

__all__ = ["record"]

_ABSENT = object()


def _values(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in one.__match_args__)


def _init(self: Any, /, *values: Any, **named: Any) -> None:
    names, fields, put = self.__match_args__, self.__dataclass_fields__, object.__setattr__
    if len(values) > len(names):
        raise TypeError(f"{type(self).__name__} takes {len(names)} values, not {len(values)}")
    for name, value in zip(names, values, strict=False):
        if name in named:
            raise TypeError(f"{type(self).__name__} got {name} twice")
        named[name] = value
    for name in names:
        value = named.pop(name, _ABSENT)
        if value is _ABSENT:
            field = fields[name]
            value = field.default if field.default_factory is MISSING else field.default_factory()
            if value is MISSING:
                raise TypeError(f"{type(self).__name__} lacks {name}")
        put(self, name, value)
    if named:
        raise TypeError(f"{type(self).__name__} has no {', '.join(named)}")


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({shown})"


def _reduce(self: Any) -> tuple[Any, ...]:
    return type(self), _values(self)


_SHARED = {
    "__init__": _init,
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__reduce__": _reduce,
}

_fields_alone = dataclass(init=False, repr=False, eq=False, slots=True)
"""Generates no method."""

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen, slots):
        """`dataclass(frozen=True, slots=True)`, which compiles six methods a class where this compiles none.

        `dataclasses.fields`, `replace` and `asdict` take such records.
        """
        if not (frozen and slots):
            raise TypeError("a record is frozen and has slots")

        def made(kind):
            kind = _fields_alone(kind)
            for name, method in _SHARED.items():
                setattr(kind, name, method)
            return kind

        return made
