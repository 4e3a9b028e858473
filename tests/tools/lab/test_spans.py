"""Waits whose truth is more than one label."""

from collections.abc import Mapping

import pytest

from tests.tools.lab.truths.moments import DISORDER, OPEN, Moment, Socket, judge

PLAIN = Socket(nodelay=False, paced=False, restarts=True, congestion_control="cubic")
BEHIND_A_LINK = Socket(False, False, True, "cubic", bare_rtt_us=20_000)
FULL = {
    "ca_state": OPEN, "snd_mss": 1448, "notsent": 100_000, "snd_wnd": 2_000_000, "unacked": 10, "unacked_bytes": 14_480,
    "pif": 10, "cwnd": 10, "rtt": 40_000, "wmem_queued": 0, "sndbuf": 100_000,
}  # fmt: skip


@pytest.mark.parametrize(
    ("state", "of", "alt"),
    [
        (FULL, PLAIN, ()),
        (FULL, BEHIND_A_LINK, ("bandwidth",)),
        (FULL | {"rtt": 22_000}, BEHIND_A_LINK, ()),
        (FULL | {"ca_state": DISORDER}, BEHIND_A_LINK, ("bandwidth",)),
    ],
)
def test_a_full_window_behind_a_queue_is_the_links_too(
    state: Mapping[str, int], of: Socket, alt: tuple[str, ...]
) -> None:
    assert judge(state, "write", of, repairing=False) == Moment("cwnd", "", alt)
