"""The form of a capture does not change its meaning: wrapped numbers, shifted clocks, other formats, cut packets."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given

from tests.properties.reading import TEXT_NS, read, read_from_pipe
from tests.scene import Scene
from tests.scene.files import Format
from tests.scene.gallery import EVERYTHING, LOSSLESS, slow_start
from tests.scene.network import Tap
from tests.scene.packet import Link
from tests.scene.strategies import acts

SERVER_ISN = 9_000_000
CLIENT_ISN = 1_000_000
DAY_NS = 86_400_000_000_000

everywhere = pytest.mark.parametrize("name", EVERYTHING)


def played(name: str, scene: Scene) -> Scene:
    EVERYTHING[name](scene)
    return scene


@everywhere
@pytest.mark.parametrize("wraps_after", [0, 1, 20_000, 100_000])
def test_sequence_numbers_may_wrap_anywhere(name: str, wraps_after: int, scene: Scene, tap: Tap) -> None:
    played(name, scene)
    isn = CLIENT_ISN if name == "upload" else SERVER_ISN
    wrapped = scene.capture(tap, seq_offset=2**32 - isn - wraps_after)
    assert read(wrapped) == read(scene.capture(tap))


@everywhere
@pytest.mark.parametrize("later_ns", [1_000, 999_999_000, 400 * DAY_NS, -19_000 * DAY_NS])
def test_the_clock_may_stand_anywhere(name: str, later_ns: int, scene: Scene, tap: Tap) -> None:
    played(name, scene)
    assert read(scene.capture(tap, later_ns=later_ns)) == read(scene.capture(tap))


@everywhere
def test_ipv6_is_read_as_ipv4_is_at_the_sender(name: str, scene: Scene) -> None:
    tap: Tap = "client" if name == "upload" else "server"
    played(name, scene)
    assert read(scene.capture(tap, ipv6=True)) == read(scene.capture(tap))


@pytest.mark.parametrize("name", LOSSLESS)
def test_ipv6_is_read_as_ipv4_is_at_the_receiver_where_no_loss_asks_for_an_ip_id(name: str, scene: Scene) -> None:
    tap: Tap = "server" if name == "upload" else "client"
    played(name, scene)
    assert read(scene.capture(tap, ipv6=True)) == read(scene.capture(tap))


@everywhere
@pytest.mark.parametrize("snap", [96, 128, 1_500])
def test_payload_may_be_cut(name: str, snap: int, scene: Scene, tap: Tap) -> None:
    played(name, scene)
    assert read(scene.capture(tap, snap=snap)) == read(scene.capture(tap))


@everywhere
@pytest.mark.parametrize("kind", [kind for kind in get_args(Format) if kind != "pcap"])
def test_every_format_says_the_same(name: str, kind: Any, scene: Scene, tap: Tap) -> None:
    if kind == "text" and name not in LOSSLESS and tap == "client":
        pytest.skip("tcpdump's text without -v has no IP-ID, on which repair seen at the receiver rests")
    played(name, scene)
    assert read(scene.capture(tap, kind=kind)).agrees(read(scene.capture(tap)), TEXT_NS)


@pytest.mark.parametrize("link", [link for link in get_args(Link) if link != "ethernet"])
@pytest.mark.parametrize("ipv6", [False, True])
def test_every_link_layer_says_the_same(link: Any, ipv6: bool, scene: Scene, tap: Tap) -> None:
    slow_start(scene)
    assert read(scene.capture(tap, link=link, ipv6=ipv6)) == read(scene.capture(tap))


def test_an_ip_length_of_zero_on_a_tso_frame_is_taken_from_the_frame(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, tso=20)
    assert read(scene.capture(zero_ip_length=True)) == read(scene.capture())


@everywhere
def test_another_flow_in_between_changes_nothing(name: str, scene: Scene, tmp_path: Path, tap: Tap) -> None:
    played(name, scene)
    other = Scene(tmp_path, client_port=50_000, start_ns=scene.start_ns + 3_000)
    EVERYTHING["closed_window"](other)
    assert read(scene.capture(tap, beside=[other])) == read(scene.capture(tap))


@pytest.mark.parametrize("chunk", [17, 4_096, 1 << 20])
@pytest.mark.parametrize("kind", ["pcap", "pcapng", "text"])
def test_standard_input_in_any_pieces_says_what_the_file_says(chunk: int, kind: Any, scene: Scene) -> None:
    slow_start(scene)
    path = scene.capture(kind=kind, snap=96)
    assert read_from_pipe(path, chunk=chunk) == read(path)


@given(act=acts(lossy=True))
def test_random_scenes_keep_their_labels_in_every_form(act: Callable[[Scene], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        act(scene)
        plain = read(scene.capture())
        assert read(scene.capture(seq_offset=2**32 - SERVER_ISN - 5_000)) == plain
        assert read(scene.capture(later_ns=DAY_NS)) == plain
        assert read(scene.capture(snap=96)) == plain
        assert read(scene.capture(kind="pcapng")).agrees(plain, TEXT_NS)
