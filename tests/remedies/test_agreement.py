"""Evidence of pasted sockets for flows: a limited sender, a small window, a slow reader; as they ran, and edited."""

import dataclasses
from pathlib import Path

import pytest

from tcpstall import Analysis, Cause, Endpoint, Flow, analyze
from tcpstall.advice.sockets import Matched, Paste, Socket, held_against, matched, read_paste
from tcpstall.advice.treatment import Treatment, treatments
from tcpstall.model import Side
from tests.report.flows import flow, stall

RUNS = Path(__file__).parents[2] / "fixtures" / "ss"
LAB = Path(__file__).parents[2] / "fixtures" / "lab"


def seen(name: str, *ends: str) -> tuple[Analysis, Flow, Matched]:
    analysis = analyze(RUNS / name / "sender.pcap")
    sockets = tuple(one for end in ends for one in read_paste((RUNS / name / f"{end}.ss").read_bytes()).sockets)
    return analysis, analysis[0], matched(analysis, Paste(sockets))


def said(name: str, cause: Cause, *ends: str) -> set[tuple[str, str]]:
    _, one, found = seen(name, *ends)
    treated = next(it for it in treatments(one, sockets=found) if it.case.cause is cause)
    return {(remark.word, remark.text.partition(" ")[0].rstrip(":,")) for remark in treated.kernel}


def words(flow: Flow, side: Side, socket: Socket) -> dict[str, str]:
    return {held.name: held.word for held in held_against(flow, side, socket)}


@pytest.mark.parametrize("name", ["sndbuf-16k", "rcvbuf-8k", "slow-reader-v6"])
def test_sockets_of_both_ends_find_their_flow(name: str) -> None:
    _, one, found = seen(name, "sender", "receiver")
    assert found.strangers == 0
    ends = found.of(one)
    assert ends["server"].local == one.server
    assert ends["client"].local == one.client


@pytest.mark.parametrize("name", ["sndbuf-16k", "rcvbuf-8k", "slow-reader-v6"])
def test_nothing_in_a_true_paste_disagrees(name: str) -> None:
    _, one, found = seen(name, "sender", "receiver")
    for side, socket in found.of(one).items():
        assert "disagrees" not in words(one, side, socket).values(), held_against(one, side, socket)
    worst = treatments(one, sockets=found)[0]
    assert "agrees" in {remark.word for remark in worst.kernel}
    assert "disagrees" not in {remark.word for remark in worst.kernel}


def test_a_send_buffer_is_told_by_tb() -> None:
    assert ("agrees", "tb") in said("sndbuf-16k", Cause.SNDBUF_LIMITED, "sender")
    _, one, found = seen("sndbuf-16k", "sender")
    told = words(one, "server", found.of(one)["server"])
    assert told["skmem tb"] == "agrees"
    assert told["sndbuf_limited of busy"] == "says nothing"  # the kernel saw a tenth of it
    assert told["rwnd_limited of busy"] == "agrees"


def test_a_receive_buffer_is_told_from_either_end() -> None:
    assert said("rcvbuf-8k", Cause.RWND_LIMITED, "sender") == {("agrees", "rwnd_limited")}
    assert said("rcvbuf-8k", Cause.RWND_LIMITED, "receiver") == {("agrees", "the")}
    _, one, found = seen("rcvbuf-8k", "receiver")
    assert words(one, "client", found.of(one)["client"])["skmem rb"] == "agrees"


def test_a_slow_reader_is_told_by_what_it_has_not_read() -> None:
    assert ("agrees", "Recv-Q") in said("slow-reader-v6", Cause.RWND_LIMITED, "receiver")


def test_the_latest_snapshot_counts() -> None:
    analysis, one, _ = seen("sndbuf-16k", "sender")
    sockets = read_paste((RUNS / "sndbuf-16k" / "sender.ss").read_bytes()).sockets
    latest = max(sockets, key=lambda socket: socket.busy_ns or 0)
    for order in (sockets, sockets[::-1]):
        found = matched(analysis, Paste(tuple(order)))
        assert found.of(one)["server"].busy_ns == latest.busy_ns
        assert found.snapshots[0, "server"] == len(sockets)


def test_sockets_of_other_flows_are_strangers() -> None:
    analysis, one, found = seen("sndbuf-16k", "sender")
    other = dataclasses.replace(found.of(one)["server"], peer=Endpoint("10.77.0.2", 1))
    assert matched(analysis, Paste((other,))) == Matched({}, {}, 1)


def test_an_earlier_flow_with_the_same_ends_is_not_taken() -> None:
    analysis = analyze([LAB / "rpc-30k" / "sender.pcap", LAB / "rpc-30k" / "sender.pcap"])
    first, second = analysis
    assert first.client == second.client
    found = matched(analysis, Paste((Socket("ESTAB", first.client, first.server, 0, 0),)))
    assert set(found.sockets) == {second.id}
    assert found.ambiguous == (second.id,)


def edited(one: Flow, **values: int | str | bool | None) -> Matched:
    """A socket of the server with these fields."""
    fields: dict[str, object] = {"state": "ESTAB", "local": one.server, "peer": one.client, "recv_q": 0, "send_q": 0}
    socket = Socket(**(fields | values))  # type: ignore[arg-type]
    return Matched({one.id: {"server": socket}}, {(one.id, "server"): 1}, 0)


def first(one: Flow, found: Matched) -> Treatment:
    return treatments(one, sockets=found)[0]


def test_a_kernel_that_blames_the_window_disagrees_about_a_send_buffer() -> None:
    one = flow(stall(Cause.SNDBUF_LIMITED, 40))
    found = first(one, edited(one, busy_ns=100, rwnd_limited_ns=80, sndbuf_limited_ns=0))
    assert [(remark.word, remark.text) for remark in found.kernel] == [
        ("disagrees", "sndbuf_limited 0 % of busy, but rwnd_limited 80 %")
    ]


def test_a_buffer_that_is_far_larger_disagrees() -> None:
    evidence = {"buffer_low_bytes": 5_000, "buffer_high_bytes": 21_720}
    one = flow(stall(Cause.SNDBUF_LIMITED, 40, evidence=evidence))
    assert {remark.word for remark in first(one, edited(one, send_buffer_bytes=4_194_304)).kernel} == {"disagrees"}
    assert {remark.word for remark in first(one, edited(one, send_buffer_bytes=32_768)).kernel} == {"agrees"}


def test_a_full_buffer_is_seen_in_w() -> None:
    one = flow(stall(Cause.SNDBUF_LIMITED, 40))
    found = first(one, edited(one, send_buffer_bytes=32_768, send_memory_bytes=32_000))
    assert any("the buffer was full when ss ran" in remark.text for remark in found.kernel)


def test_a_window_that_the_kernel_never_saw_full_disagrees() -> None:
    one = flow(stall(Cause.RWND_LIMITED, 40, detail="small-buffer"))
    found = first(one, edited(one, busy_ns=100, rwnd_limited_ns=0))
    assert [remark.word for remark in found.kernel] == ["disagrees"]


def test_data_that_waits_in_the_buffer_contradicts_an_idle_application() -> None:
    one = flow(stall(Cause.APP_LIMITED, 40, detail="idle"))
    assert [remark.word for remark in first(one, edited(one, notsent_bytes=9_000)).kernel] == ["disagrees"]
    assert [remark.word for remark in first(one, edited(one, app_limited=True)).kernel] == ["agrees"]


def test_the_kernel_names_what_the_capture_lacks() -> None:
    one = flow(stall(Cause.UNEXPLAINED, 40, missing=("window scale: no SYN",)))
    found = first(one, edited(one, snd_wscale=7, busy_ns=100, rwnd_limited_ns=60, cwnd_segments=40))
    told = [remark.text for remark in found.kernel if remark.word == "adds"]
    assert told[0] == "the peer's window scale is 7: its window field counts 128 bytes"
    assert told[1:] == ["rwnd_limited 60 % of busy", "cwnd 40 when ss ran"]


def test_scales_that_differ_disagree() -> None:
    one = flow()
    client = dataclasses.replace(one.directions["client"], window_scale=7)
    one = dataclasses.replace(one, directions={**one.directions, "client": client})
    (socket,) = edited(one, snd_wscale=8, rcv_wscale=5).of(one).values()
    told = words(one, "server", socket)
    assert told["wscale of its peer's window"] == "disagrees"
    assert told["wscale of its own window"] == "adds"


def test_a_socket_that_says_nothing_is_no_evidence() -> None:
    for cause in Cause:
        one = flow(stall(cause, 40))
        assert not [remark for found in treatments(one, sockets=edited(one)) for remark in found.kernel]
        assert not held_against(one, "server", edited(one).of(one)["server"])
