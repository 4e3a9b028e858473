"""The page's first paragraph."""

import pytest

from tcpstall import Cause, Handshake, Stall
from tcpstall.report.html.summary import sentences
from tests.report.flows import Canned, flow, stall


@pytest.mark.parametrize(
    ("waits", "share"),
    [
        # The handshake's 10 ms belong to what was lost.
        ([stall(Cause.PACING, 40)], "Most of it, 40.0 ms, was lost because"),
        ([stall(Cause.PACING, 2)], "The largest part, 2.0 ms, was lost because"),
        ([stall(Cause.PACING, 30), stall(Cause.ZERO_WINDOW, 20)], "Most of it, 30.0 ms, was lost because"),
        ([stall(Cause.PACING, 300_000)], "All of it, 5 min 00 s, was lost because"),
    ],
)
def test_all_of_it_is_what_was_lost(waits: list[Stall], share: str) -> None:
    one = flow(*waits, length_ms=600_000)
    assert share in " ".join(sentences(one, Canned([one]), []))


def test_a_handshake_that_was_not_captured_is_not_in_what_was_lost() -> None:
    seen, unseen = flow(), flow(handshake=Handshake(complete=False, duration_ns=None))
    assert "the handshake included" in " ".join(sentences(seen, Canned([seen]), []))
    assert "handshake" not in " ".join(sentences(unseen, Canned([unseen]), []))
