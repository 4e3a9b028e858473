"""Changes as people write them."""

import pytest

from tcpstall.report.whatif.words import written
from tcpstall.whatif import Change, change


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("initcwnd=40", 40),
        ("sndbuf=256K", 262_144),
        ("rcvbuf=1M", 1_048_576),
        ("sndbuf=16384", 16_384),
        ("sndbuf=256KiB", 262_144),
        ("sndbuf=256kB", 256_000),
        ("sndbuf=auto", None),
        ("slow-start-after-idle=0", 0),
        ("rtt=100ms", 100_000_000),
        ("rtt=1.5s", 1_500_000_000),
        ("rate=100Mbit", 12_500_000),
        ("rate=2.5Gbit/s", 312_500_000),
        ("nodelay=1", 1),
        ("delayed-ack=0", 0),
        ("reuse-connection=1", 1),
        ("loss=0", 0),
        ("loss=1%", 10_000),
        ("loss=0.02%", 200),
        ("loss=0%", 0),
        ("think=0", 0),
        ("queue=64K", 65_536),
        ("queue-packets=100", 100),
        ("cc=reno", 0),
        ("cc=cubic", 1),
    ],
)
def test_a_change_is_read(text: str, value: int | None) -> None:
    assert change(text) == Change(text.partition("=")[0], value)


@pytest.mark.parametrize(
    "text",
    [
        "initcwnd=40",
        "sndbuf=256K",
        "sndbuf=auto",
        "rtt=100ms",
        "think=0",
        "rate=100Mbit",
        "loss=1.5%",
        "loss=0",
        "queue=64K",
        "queue-packets=100",
        "cc=bbr",
        "server.initcwnd=20",
        "client.rcvbuf=auto",
        "server.loss=1%",
    ],
)
def test_what_is_read_is_written_alike(text: str) -> None:
    assert written(change(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "initcwnd",
        "initcwnd=",
        "initcwnd=0",
        "initcwnd=-1",
        "initcwnd=10x",
        "initcwnd=auto",
        "cwnd=10",
        "sndbuf=0",
        "rtt=100",
        "rtt=0",
        "rate=0",
        "nodelay=2",
        "loss=1",
        "loss=0.01",
        "nodelay=0.3",
        "initcwnd=10.5",
        "think=5",
        "loss=100%",
        "loss=0.00001%",
        "queue=0",
        "queue-packets=1.5",
        "cc=vegas",
        "cc=0",
        "server.initcwnd=0",
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(text: str) -> None:
    with pytest.raises(ValueError, match=r"choose among|such as"):
        change(text)


def test_a_change_of_one_end_has_that_end() -> None:
    assert change("server.initcwnd=20") == Change("initcwnd", 20, "server")


@pytest.mark.parametrize("text", ["peer.initcwnd=20", "server.rtt=20ms", "client.reuse-connection=1", ".initcwnd=4"])
def test_what_has_no_such_end_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no end|whole connection"):
        change(text)
