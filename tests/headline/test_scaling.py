"""Windows that cannot grow because a SYN lacks window scaling: a larger buffer gains nothing."""

from tcpstall import analyze
from tcpstall.findings import Finding, advice, findings
from tests.scene import Reader, Scene


def window(scene: Scene) -> Finding:
    return next(row for row in findings(analyze(scene.capture())) if row.kind == "rwnd-limited")


def test_a_window_of_64_kb_without_scaling_is_no_small_buffer(scene: Scene) -> None:
    scene.handshake(rtt_ms=80, client_scale=None, client_window=65_535)
    scene.download(1_500_000, reader=Reader(buffer=65_535))
    assert "without a scale" in advice(window(scene))


def test_a_smaller_window_without_scaling_is_a_small_buffer(scene: Scene) -> None:
    scene.handshake(rtt_ms=80, client_scale=None, client_window=30_000)
    scene.download(1_500_000, reader=Reader(buffer=30_000))
    assert "raise the receiver's buffer" in advice(window(scene))


def test_a_window_of_64_kb_with_scaling_is_a_small_buffer(scene: Scene) -> None:
    scene.handshake(rtt_ms=80, client_scale=7, client_window=65_535)
    scene.download(1_500_000, reader=Reader(buffer=65_535))
    assert "raise the receiver's buffer" in advice(window(scene))
