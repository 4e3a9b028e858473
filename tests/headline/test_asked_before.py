"""An answer that comes sooner than the path takes is not to what the client has just sent."""

from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.findings import findings

CLIENT, SERVER = "10.0.0.1.40000", "10.0.0.2.80"
RTT_MS = 30


def kinds(folder: Path, *, after_ms: float) -> set[str]:
    """Findings of two uploads 650 ms apart, seen at the client; an answer comes `after_ms` after the second."""
    crossed = after_ms < RTT_MS
    said = [
        (0, CLIENT, "[S]", "seq 0, win 64240, options [mss 1460,nop,wscale 7]", 0),
        (RTT_MS, SERVER, "[S.]", "seq 0, ack 1, win 65160, options [mss 1460,nop,wscale 7]", 0),
        (RTT_MS + 0.1, CLIENT, "[.]", "ack 1, win 502", 0),
        (31, CLIENT, "[.]", "seq 1:1461, ack 1, win 502", 1_460),
        (31.1, CLIENT, "[P.]", "seq 1461:2001, ack 1, win 502", 540),
        (61.1, SERVER, "[.]", "ack 2001, win 502", 0),
        (681, CLIENT, "[.]", "seq 2001:3461, ack 1, win 502", 1_460),
        (681.1, CLIENT, "[P.]", "seq 3461:4001, ack 1, win 502", 540),
        (681.1 + after_ms, SERVER, "[P.]", f"seq 1:100, ack {2_001 if crossed else 4_001}, win 502", 99),
        (681.2 + after_ms, CLIENT, "[.]", "ack 100, win 502", 0),
        (718, SERVER, "[.]", "ack 4001, win 502", 0),
    ]
    path = folder / "uploads.txt"
    path.write_text(
        "".join(
            f"10:00:00.{round(at_ms * 1_000):06} IP {one} > {SERVER if one == CLIENT else CLIENT}: "
            f"Flags {flags}, {rest}, length {length}\n"
            for at_ms, one, flags, rest, length in said
        )
    )
    return {row.kind for row in findings(analyze(path)) if row.side == "client"}


@pytest.mark.parametrize(("after_ms", "pieces"), [(3, False), (32, True)], ids=["to-the-first", "to-both"])
def test_a_client_whose_first_request_was_whole_did_not_pause_within_it(
    tmp_path: Path, after_ms: float, pieces: bool
) -> None:
    """Two requests over one connection of HTTP/2: the answer to the first crosses the second on its way."""
    assert ("sent-in-pieces" in kinds(tmp_path, after_ms=after_ms)) == pieces
