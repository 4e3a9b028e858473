"""Crowds: flows that share a link are drawn by their seed, and a change is made where it says."""

import re

import pytest

from tests.tools.lab.crowds import LEAST, MOST, Made, drawn


@pytest.mark.parametrize("number", range(4))
def test_a_seed_draws_flows_whose_ends_agree(number: int) -> None:
    crowd, changes = drawn(1, number)
    assert (crowd, changes) == drawn(1, number)
    assert LEAST <= len(crowd.flows) <= MOST
    assert len({made.change for made in changes}) == len(changes)
    for connection in crowd.scenario().connections:
        written, read = (
            [sum(map(int, re.findall(rf"^{verb} (\d+)", text, re.MULTILINE))) for text in ends]
            for verb, ends in (
                ("write", (connection.sender, connection.receiver)),
                ("read", (connection.receiver, connection.sender)),
            )
        )
        assert written == read


def test_a_change_of_one_flow_leaves_the_others() -> None:
    crowd, _ = drawn(1, 0)
    other = "reno" if crowd.flows[1].control != "reno" else "cubic"
    after = Made(f"cc={other}", (1,)).of(crowd)
    assert after.flows[1].control == other
    assert (after.flows[0], *after.flows[2:]) == (crowd.flows[0], *crowd.flows[2:])
    assert Made("rcvbuf=auto", (0,)).of(crowd).flows[0].rcvbuf is None


def test_a_change_of_the_path_is_of_all() -> None:
    crowd, _ = drawn(1, 0)
    faster = Made("rate=90Mbit", (0,)).of(crowd).scenario()
    assert (faster.rate_a, faster.queue_a) == (90e6, crowd.queue)
    assert Made("queue=64K", (0,)).of(crowd).scenario().queue_a == 65_536
