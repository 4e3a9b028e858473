"""Services: their connections are those that were drawn, and both ends run the same exchanges."""

import re

import pytest

from tests.tools.lab.changes.services import COUNT, LEAST, MOST, Service, plans
from tests.tools.lab.changes.situation import changed


def transferred(script: str, verb: str) -> int:
    return sum(int(size) for size in re.findall(rf"^{verb} (\d+)", script, re.MULTILINE))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_seed_draws_twenty_services_of_5_to_50_connections(seed: int) -> None:
    drawn = plans(seed)
    assert len({plan.situation.name for plan in drawn}) == COUNT
    for plan in drawn:
        assert isinstance(plan.situation, Service)
        assert LEAST <= len(plan.situation.flows) <= MOST
        (connection,) = plan.situation.scenario().connections
        assert connection.sender.count("connect ") + connection.receiver.count("connect ") == len(plan.situation.flows)


def test_what_one_end_writes_the_other_reads() -> None:
    for plan in plans(3):
        for situation in (plan.situation, *(changed(plan.situation, change) for change in plan.changes)):
            (connection,) = situation.scenario().connections
            ends = connection.sender, connection.receiver
            for writer, reader in (ends, ends[::-1]):
                assert transferred(writer, "write") == transferred(reader, "read")


def test_a_connection_that_is_reused_carries_all_of_them() -> None:
    (pages, *_) = plans(4)
    (connection,) = changed(pages.situation, "reuse-connection=1").scenario().connections
    assert connection.receiver.count("connect ") == connection.sender.count("listen ") == 1


def test_each_change_changes_the_service() -> None:
    for plan in plans(5):
        assert all(changed(plan.situation, change) != plan.situation for change in plan.changes)


def test_another_seed_draws_others() -> None:
    assert plans(1) == plans(1)
    assert not {plan.situation.why for plan in plans(1)} & {plan.situation.why for plan in plans(2)}
