"""Records behave like frozen dataclasses with slots."""

import copy
import dataclasses
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tcpstall.records import record


@dataclass(frozen=True, slots=True)
class Usual:
    name: str
    size: int = 0
    more: Mapping[str, int] = field(default_factory=dict)


@record(frozen=True, slots=True)
class Record:
    name: str
    size: int = 0
    more: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


BOTH: tuple[Any, ...] = (Usual, Record)
WRONG: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    (("a", 1, {}, 3), {}),
    (("a",), {"name": "a"}),
    (("a",), {"other": 1}),
)


@pytest.mark.parametrize("kind", BOTH)
def test_defaults_are_filled_in_and_each_has_its_own(kind: Any) -> None:
    one, other = kind("a"), kind(name="a")
    assert (one.name, one.size, one.more) == ("a", 0, {})
    assert one.more is not other.more


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(("values", "named"), WRONG, ids=("none", "more", "twice", "unknown"))
def test_wrong_values_are_refused(kind: Any, values: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        kind(*values, **named)


@pytest.mark.parametrize("kind", BOTH)
def test_nothing_can_be_changed_added_or_deleted(kind: Any) -> None:
    one = kind("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.name
    assert not hasattr(one, "__dict__")


@pytest.mark.parametrize("kind", BOTH)
def test_equality_hash_and_text_are_those_of_the_values(kind: Any) -> None:
    more = (("a", 1),)
    assert kind("a", 2, more) == kind(name="a", size=2, more=more)
    assert hash(kind("a", 2, more)) == hash(("a", 2, more))
    assert kind("a") != kind("b")
    assert kind("a") != ("a", 0, {})
    assert repr(kind("a")) == f"{kind.__name__}(name='a', size=0, more={{}})"


@pytest.mark.parametrize("kind", BOTH)
def test_records_are_copied_pickled_and_taken_by_dataclasses(kind: Any) -> None:
    one = kind("a", 2, {"b": 1})
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    assert dataclasses.asdict(one) == {"name": "a", "size": 2, "more": {"b": 1}}
    assert dataclasses.replace(one, size=3) == kind("a", 3, {"b": 1})
    assert [each.name for each in dataclasses.fields(kind)] == ["name", "size", "more"]


def test_a_record_keeps_its_own_methods() -> None:
    assert str(Record("a")) == "a"
