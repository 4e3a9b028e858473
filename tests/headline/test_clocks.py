"""The answer begins with the clocks of a capture, where the times that the answer rests on are not real."""

from collections.abc import Callable, Iterator

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.scene import Scene
from tests.scene.files import write
from tests.scene.packet import Packet
from tests.scene.verdict import flows_of

Packets = list[tuple[int, Packet]]
Change = Callable[[Packets], Packets]

MS = 1_000_000
SECOND = 1_000_000_000


def told(here: Run, scene: Scene, packets: Packets) -> str:
    """The first line of the answer to a capture with these packets."""
    path = scene.folder / "stamped.pcap"
    write(path, packets)
    return here("analyze", path, COLUMNS="300").stdout.splitlines()[0]


def rounds(scene: Scene) -> Packets:
    """A server that writes five segments now and then."""
    scene.handshake(rtt_ms=2)
    scene.client_sends(147)
    for _ in range(30):
        scene.wait_ms(6)
        scene.server_sends(7_240)
        scene.client_acks()
    scene.closes()
    return scene.packets("client")


def by_two_clocks(packets: Packets) -> Packets:
    return [(time - 20 * MS * (packet.source.port == 80), packet) for time, packet in packets]


def set_back(packets: Packets) -> Packets:
    half = len(packets) // 2
    return packets[:half] + [(time - 30 * MS, packet) for time, packet in packets[half:]]


def with_copies(packets: Packets, late_ms: int) -> Iterator[tuple[int, Packet]]:
    """Each data packet twice; another clock stamps the copy that ends a write later than the next ACK."""
    for (time, packet), (_, follower) in zip(packets, [*packets[1:], packets[-1]], strict=True):
        yield time, packet
        if packet.payload and packet.source.port == 80:
            last = not follower.payload
            yield time + late_ms * MS * last, packet


def test_two_clocks_come_first(here: Run, scene: Scene) -> None:
    line = told(here, scene, by_two_clocks(rounds(scene)))
    assert line.startswith("The packets come from two clocks: short waits cannot be measured. ")


@pytest.mark.parametrize("change", [set_back, list])
def test_a_clock_that_was_set_back_once_is_one_clock(here: Run, scene: Scene, change: Change) -> None:
    assert "two clocks" not in told(here, scene, change(rounds(scene)))


def test_copies_do_not_hide_two_clocks(scene: Scene) -> None:
    packets = rounds(scene)

    def short_waits(late_ms: int) -> set[str]:
        path = scene.folder / f"copied-{late_ms}.pcap"
        write(path, list(with_copies(packets, late_ms)))
        (flow,) = flows_of(path)
        assert flow["trust"]["duplicates_removed"] > 100
        return {stall["cause"] for stall in flow["stalls"][5:-3]}

    assert short_waits(5) == {"unexplained"}
    assert short_waits(0) == {"pacing"}


def test_a_wait_across_a_jump_of_the_clock_has_no_length(here: Run, scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    scene.closes()
    first, *others = scene.packets("client")
    jumped = [(first[0], first[1]), (others[0][0] + 86_400_000 * MS, others[0][1]), *others[1:]]
    line = told(here, scene, jumped)
    assert line.startswith(
        "The capture's clock jumped by up to 1 d 0 h at 10.0.0.2:80, 1 flow: the wait there is not known"
    )


def test_a_wait_that_the_capture_does_not_explain_is_no_jump(here: Run, scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    scene.closes()
    assert "clock" not in told(here, scene, scene.packets("client"))


@pytest.mark.parametrize("whole", [True, False])
def test_stamps_without_fractions_of_a_second_come_first(here: Run, scene: Scene, whole: bool) -> None:
    """A program that wrote the capture left the fractions out, or wrote the same one each time."""
    scene.handshake(rtt_ms=20)
    for _ in range(6):
        scene.download(5_000, think_ms=2_300)
    scene.closes()
    packets = [(time // SECOND * SECOND + 7 if whole else time, packet) for time, packet in scene.packets("client")]
    line = told(here, scene, packets)
    said = "The packets are stamped a whole number of seconds apart: shorter waits cannot be measured. "
    assert line.startswith(said) == whole


@pytest.mark.parametrize("same", [True, False])
def test_a_capture_without_times_does_not_say_that_nothing_waited(here: Run, scene: Scene, same: bool) -> None:
    """Some programs write each packet with the time zero."""
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.closes()
    packets = [(0 if same else time, packet) for time, packet in scene.packets("client")]
    line = told(here, scene, packets)
    said = "All packets are stamped with the same time: no wait can be measured"
    assert (line == said) == same
    assert ("no flow waited" in line or "no wait longer" in line) == (not same)


def test_a_failure_is_told_without_times(here: Run, scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.client_sends(300)
    scene.server_acks()
    scene.server_resets()
    line = told(here, scene, [(0, packet) for _, packet in scene.packets("client")])
    assert line == (
        "All packets are stamped with the same time: no wait can be measured. "
        "The server reset 1 connection to 10.0.0.2:80 before the answer came"
    )
