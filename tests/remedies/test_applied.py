"""Remedies applied: a real sender with the value that was computed no longer waits for what limited it."""

from pathlib import Path

import pytest

from tcpstall import Cause, Flow, analyze
from tcpstall.advice.remedy import Remedy
from tcpstall.advice.treatment import treatments
from tests.tools.lab.network.namespaces import obstacle
from tests.tools.lab.run import run
from tests.tools.lab.scenario import BIG_WINDOW, Host, Scenario, talk


@pytest.fixture(autouse=True)
def ground() -> None:
    """Skips where there is no root, or where namespaces cannot be had."""
    if reason := obstacle():
        pytest.skip(reason)


def transfer(folder: Path, size: int, *, options: str = "", route: str = "", reader: str = "", merged: int = 0) -> Flow:
    """From a sender with these knobs over 20 ms, as it was captured there."""
    scenario = Scenario(
        "applied",
        "a remedy applied",
        (talk(f"write {size} 65536\n", f"read {size}\n", options=f"opt cc cubic\n{options}", reader=reader),),
        10_000,
        sender=Host(route=route, gso_max_segs=merged),
        receiver=Host(sysctl=BIG_WINDOW),
    )
    run(scenario, folder / "applied")
    (flow,) = analyze(folder / "applied" / "sender.pcap")
    return flow


def waits(flow: Flow, cause: Cause) -> int:
    return sum(stall.cause is cause and stall.sender == "server" for stall in flow.stalls)


def remedy(flow: Flow, cause: Cause, place: int = 0) -> Remedy:
    treated = next(one for one in treatments(flow) if one.case.cause is cause)
    return treated.remedies[place]


def test_the_initial_window_that_fits_leaves_no_round_trip(tmp_path: Path) -> None:
    before = transfer(tmp_path, 60_000)
    assert waits(before, Cause.CWND_LIMITED) == 2
    found = remedy(before, Cause.CWND_LIMITED)
    assert "so 2 round trips of " in found.helps_if
    assert waits(transfer(tmp_path, 60_000, route=str(found.whatif).replace("=", " ")), Cause.CWND_LIMITED) == 0


def test_send_buffers_that_are_computed_end_as_no_limit(tmp_path: Path) -> None:
    """Each is no more than the flow came near, so a small one is enlarged in steps."""
    flow = transfer(tmp_path, 300_000, options="opt sndbuf 16384\n", merged=1)
    assert waits(flow, Cause.SNDBUF_LIMITED) > 5
    sizes = [16_384]
    while waits(flow, Cause.SNDBUF_LIMITED):
        sizes.append(int(str(remedy(flow, Cause.SNDBUF_LIMITED, 1).whatif).partition("=")[2]))
        assert sizes[-1] > 1.5 * sizes[-2]
        flow = transfer(tmp_path, 300_000, options=f"opt sndbuf {sizes[-1]}\n", merged=1)
    assert len(sizes) <= 6


def test_a_buffer_that_nobody_sets_is_no_limit(tmp_path: Path) -> None:
    before = transfer(tmp_path, 100_000, reader="opt rcvbuf 8192\n")
    assert waits(before, Cause.RWND_LIMITED) > 5
    assert remedy(before, Cause.RWND_LIMITED).title.startswith("do not set SO_RCVBUF")
    assert waits(transfer(tmp_path, 100_000), Cause.RWND_LIMITED) == 0
