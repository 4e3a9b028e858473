"""The page's first lines."""

import pytest

from tcpstall import Cause, Handshake, Stall
from tcpstall.report.html.summary import answer
from tests.report.flows import Canned, flow, stall


@pytest.mark.parametrize(
    ("waits", "reasons"),
    [
        # The handshake's 10 ms belong to what was lost.
        ([stall(Cause.PACING, 40)], [("40.0 ms", "80 %")]),
        ([stall(Cause.PACING, 2)], [("2.0 ms", "17 %")]),
        ([stall(Cause.PACING, 30), stall(Cause.ZERO_WINDOW, 20)], [("30.0 ms", "50 %"), ("20.0 ms", "33 %")]),
    ],
)
def test_a_reason_has_its_share_of_what_was_lost(waits: list[Stall], reasons: list[tuple[str, str]]) -> None:
    one = flow(*waits, length_ms=600_000)
    assert [(reason.time, reason.share) for reason in answer(one, Canned([one]), []).reasons] == reasons


def test_three_reasons_are_listed_and_the_largest_first() -> None:
    causes = (Cause.APP_LIMITED, Cause.PACING, Cause.ZERO_WINDOW, Cause.NAGLE)
    one = flow(*(stall(cause, length) for cause, length in zip(causes, (10, 40, 30, 20), strict=True)))
    told = answer(one, Canned([one]), []).reasons
    assert [reason.cause for reason in told] == [Cause.PACING, Cause.ZERO_WINDOW, Cause.NAGLE]


def test_all_flows_are_told_where_there_are_several() -> None:
    one, other = flow(stall(Cause.PACING, 40)), flow(stall(Cause.PACING, 30))
    assert answer(one, Canned([one]), []).all_flows == ""
    assert answer(one, Canned([one, other]), []).all_flows.startswith("All 2 flows together lost ")


def test_a_handshake_that_was_not_captured_is_not_in_what_was_lost() -> None:
    seen, unseen = flow(), flow(handshake=Handshake(complete=False, duration_ns=None))
    assert "the handshake included" in answer(seen, Canned([seen]), []).flow
    assert "handshake" not in answer(unseen, Canned([unseen]), []).flow
