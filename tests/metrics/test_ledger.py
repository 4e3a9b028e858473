"""Counters never step back, and add up to what the store gains, whatever happens to the store and to the ranking."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall.archive.storing.ledger import Key, Ledger, counted, read_ledger
from tcpstall.errors import CannotOpen
from tcpstall.metrics.families import OTHER

SERVICES = ("a:1", "b:2", "c:3", "d:4")

store = st.fixed_dictionaries({service: st.integers(0, 1_000) for service in SERVICES})
shown = st.lists(st.sampled_from(SERVICES), unique=True, max_size=3).map(tuple)


def key(service: str) -> Key:
    return ("waits", service, "nagle")


def looked(before: Ledger | None, holds: Mapping[str, int], services: tuple[str, ...]) -> Ledger:
    """The ledger after a look at a store that holds so much of each service."""
    now = Ledger(3, services=services, totals={key(service): value for service, value in holds.items()})
    return counted(before, now)


def shows(ledger: Ledger, service: str) -> int:
    return ledger.totals.get(key(service), 0)


def test_without_a_ledger_counters_are_what_the_store_holds() -> None:
    ledger = looked(None, {"a:1": 5, "b:2": 3, "c:3": 1}, ("a:1",))
    assert {service: shows(ledger, service) for service in ("a:1", OTHER)} == {"a:1": 5, OTHER: 4}


def test_what_is_forgotten_takes_nothing_back_and_what_comes_then_counts() -> None:
    ledger = looked(looked(looked(None, {"a:1": 100}, ("a:1",)), {"a:1": 20}, ("a:1",)), {"a:1": 27}, ("a:1",))
    assert shows(ledger, "a:1") == 107


def test_a_service_that_rises_begins_at_zero_and_its_past_stays_in_other() -> None:
    ledger = looked(None, {"a:1": 100, "b:2": 50}, ("a:1",))
    ledger = looked(ledger, {"a:1": 100, "b:2": 170}, ("a:1", "b:2"))
    assert (shows(ledger, "b:2"), shows(ledger, OTHER)) == (0, 170)
    ledger = looked(ledger, {"a:1": 100, "b:2": 180}, ("a:1", "b:2"))
    assert (shows(ledger, "b:2"), shows(ledger, OTHER)) == (10, 170)


def test_a_service_that_falls_out_adds_to_other_only_what_it_gains_from_then_on() -> None:
    ledger = looked(None, {"a:1": 100, "b:2": 50}, ("a:1", "b:2"))
    ledger = looked(ledger, {"a:1": 100, "b:2": 53}, ("a:1",))
    assert (ledger.services, shows(ledger, "b:2"), shows(ledger, OTHER)) == (("a:1",), 0, 3)


@given(looks=st.lists(st.tuples(store, shown), min_size=2, max_size=8))
def test_no_counter_that_stays_steps_back(looks: list[tuple[dict[str, int], tuple[str, ...]]]) -> None:
    ledger: Ledger | None = None
    for holds, services in looks:
        before, ledger = ledger, looked(ledger, holds, services)
        if before is not None:
            for service in (*(set(before.services) & set(services)), OTHER):
                assert shows(ledger, service) >= shows(before, service)


@given(gains=st.lists(st.tuples(store, shown), min_size=2, max_size=8))
def test_what_all_counters_gain_is_what_the_store_gains(gains: list[tuple[dict[str, int], tuple[str, ...]]]) -> None:
    ledger: Ledger | None = None
    holds = dict.fromkeys(SERVICES, 0)
    for gain, services in gains:
        holds = {service: holds[service] + gain[service] for service in SERVICES}
        before, ledger = ledger, looked(ledger, holds, services)
        if before is not None:
            stay = (*(set(before.services) & set(services)), OTHER)
            gained = sum(shows(ledger, service) - shows(before, service) for service in stay)
            assert gained == sum(gain.values())


@given(holds=store, services=shown)
def test_it_is_read_as_it_was_written(holds: dict[str, int], services: tuple[str, ...]) -> None:
    ledger = looked(None, holds, services)
    read = read_ledger(ledger.encoded(), "store")
    assert read is not None
    assert (read.services, {**read.totals}, {**read.seen}) == (services, {**ledger.totals}, {**ledger.seen})


@pytest.mark.parametrize("damage", ["", "{}", "[]", "null", '{"schema": "tcpstall.metrics/9"}', "{:", "\xff"])
def test_a_damaged_one_says_what_to_do(damage: str) -> None:
    with pytest.raises(CannotOpen, match=r"^there: metrics\.json is damaged, .*remove it"):
        read_ledger(damage.encode("latin-1"), "there")


def test_a_number_that_was_changed_is_seen() -> None:
    content = looked(None, {"a:1": 12345}, ("a:1",)).encoded().replace(b"12345", b"12346", 1)
    with pytest.raises(CannotOpen):
        read_ledger(content, "there")
