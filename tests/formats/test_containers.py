"""One fixture in every kind of file, compressed and not, says the same, to the clock's resolution."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tcpstall import _core, analyze
from tcpstall.errors import ExitCode
from tests.cli.conftest import Run, run
from tests.formats.containers import COMPRESSIONS, CONTAINERS, in_two_members, pcap, pcapng, zstd_of_zeros
from tests.formats.encapsulation import LINKS
from tests.formats.fixture import CHOSEN, datagrams, plain, told, wrapped
from tests.properties.frames import Frame
from tests.scene.verdict import flows_of

__all__ = ["run"]

fixtures = pytest.mark.parametrize("name", CHOSEN)
compressions = pytest.mark.parametrize("compression", COMPRESSIONS)


def frames_of(name: str) -> list[Frame]:
    return wrapped(datagrams(name), LINKS["Ethernet"])


def flow_in(path: Path, content: bytes) -> dict[str, Any]:
    path.write_bytes(content)
    (flow,) = flows_of(path)
    return flow


@fixtures
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_kind_of_file_gives_the_same_stalls(name: str, container: str, tmp_path: Path) -> None:
    flow = flow_in(tmp_path / "anything", CONTAINERS[container](frames_of(name)))
    assert told(flow) == told(plain(name, tmp_path))


@fixtures
def test_a_binary_clock_gives_the_same_stalls_to_its_resolution(name: str, tmp_path: Path) -> None:
    tick_ns = 10**9 // 2**20 + 1
    flow = flow_in(tmp_path / "binary.pcapng", pcapng(frames_of(name), resolution=0x80 | 20))
    assert told(flow).agrees(told(plain(name, tmp_path)), 2 * tick_ns)


@fixtures
@compressions
@pytest.mark.parametrize("container", ["pcap, nanoseconds", "pcapng, big-endian"])
def test_every_compression_gives_the_same_stalls_whatever_the_name(
    name: str, compression: str, container: str, tmp_path: Path
) -> None:
    packed = COMPRESSIONS[compression](CONTAINERS[container](frames_of(name)))
    path = tmp_path / "misnamed.pcap"
    path.write_bytes(packed)
    (capture,) = analyze(path).captures
    assert (capture.compression, capture.error) == (compression, None)
    (flow,) = flows_of(path)
    assert told(flow) == told(plain(name, tmp_path))


@compressions
def test_several_members_are_one_capture(compression: str, tmp_path: Path) -> None:
    flow = flow_in(tmp_path / "members", in_two_members(COMPRESSIONS[compression], pcap(frames_of(CHOSEN[0]))))
    assert told(flow) == told(plain(CHOSEN[0], tmp_path))


@compressions
def test_tcpdumps_text_may_be_compressed_too(compression: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.txt").read_bytes()
    flow = flow_in(tmp_path / "paste", COMPRESSIONS[compression](text))
    assert len(flow["stalls"]) == len(plain(CHOSEN[0], tmp_path)["stalls"])


@compressions
def test_a_compressed_capture_that_is_cut_exits_5_and_reports_what_was_whole(
    run: Run, compression: str, tmp_path: Path
) -> None:
    packed = COMPRESSIONS[compression](pcap(frames_of(CHOSEN[0])))
    cut = tmp_path / "cut"
    cut.write_bytes(packed[: len(packed) * 9 // 10])
    done = run("analyze", cut, "--format", "json")
    assert done.returncode == ExitCode.DAMAGED
    (line,) = done.stderr.splitlines()
    assert f"the {compression} data ends early, after byte" in line
    (capture,) = _core.analyze([str(cut)]).captures
    assert '"code":"truncated-file"' in capture.json


def test_a_capture_that_grows_too_far_is_cut_off_and_the_option_raises_the_limit(run: Run, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.pcapng.zst"
    bomb.write_bytes(zstd_of_zeros(pcapng(frames_of(CHOSEN[0])), size=1_150_000_000))
    assert bomb.stat().st_size < 100_000
    done = run("analyze", bomb)
    assert done.returncode == ExitCode.DAMAGED
    assert "over 1000 times as many; if that is right, raise --max-expansion" in done.stderr
    assert "524,583 bytes" in done.stdout, "what came before the limit is reported"
    assert run("analyze", bomb, "--max-expansion", "100000").returncode == ExitCode.COMPLETE


def test_standard_input_may_be_compressed(run: Run, tmp_path: Path) -> None:
    packed = COMPRESSIONS["gzip"](pcapng(frames_of(CHOSEN[0])))
    done = run("analyze", "-")
    assert done.returncode == ExitCode.NOT_A_CAPTURE
    path = tmp_path / "packed"
    path.write_bytes(packed)
    read = run("analyze", "/dev/stdin", stdin=packed)
    assert read.returncode == ExitCode.COMPLETE
    assert run("analyze", "-", stdin=packed).stdout == read.stdout.replace("/dev/stdin", "-")


def test_ctrl_c_ends_the_wait_for_compressed_input() -> None:
    packed = COMPRESSIONS["gzip"](pcap(frames_of(CHOSEN[0])))
    command = [sys.executable, "-m", "tcpstall", "analyze", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(packed[: len(packed) // 2])
        process.stdin.flush()
        time.sleep(1.0)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)  # to read what the pipe still holds
        time.sleep(1.0)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=20) == ExitCode.INTERRUPTED
        finally:
            process.kill()
