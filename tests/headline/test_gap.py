"""The answer begins with the share of the data that the capture lacks, where that makes the first finding doubtful."""

from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.scene import Scene


def transfer(scene: Scene, *, unseen: int) -> None:
    """A download with a loss; the capture lacks some data before it."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    if unseen:
        scene.server_sends(unseen, unseen=True)
        scene.client_acks()
    scene.download(60_000, lose=(20_000,))
    scene.closes()


def first_line(here: Run, scene: Scene) -> str:
    return here("analyze", scene.capture("client"), COLUMNS="300").stdout.splitlines()[0]


def test_a_loss_in_a_capture_that_lacks_most_of_the_data_is_told_after_the_gap(here: Run, scene: Scene) -> None:
    transfer(scene, unseen=144_800)
    told = first_line(here, scene)
    assert told.startswith("The capture lacks 71 % of the data: packets that it lacks look like loss. Loss at ")


def test_a_finding_that_is_no_loss_is_told_after_the_gap_without_a_word_about_loss(here: Run, scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(14_480, unseen=True)
    scene.client_acks()
    for _ in range(3):
        scene.download(5_000, think_ms=700)
    scene.closes()
    told = first_line(here, scene)
    assert told.startswith("The capture lacks 48 % of the data. ")
    assert "look like loss" not in told


def test_a_segment_missing_among_hundreds_leaves_the_first_line_to_the_finding(here: Run, scene: Scene) -> None:
    transfer(scene, unseen=1_448)
    assert "lacks" not in first_line(here, scene)


def test_a_loss_on_the_path_is_no_gap_of_the_capture(here: Run, scene: Scene) -> None:
    transfer(scene, unseen=0)
    assert "lacks" not in first_line(here, scene)


def test_a_capture_that_lacks_most_of_the_data_says_so_first_whichever_flow_waited(here: Run, scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(144_800, unseen=True)
    scene.client_acks()
    scene.closes()
    slow = Scene(scene.folder, client_port=scene.client.endpoint.port + 1)
    slow.handshake(rtt_ms=20)
    for _ in range(3):
        slow.download(5_000, think_ms=700)
    slow.closes()
    told = here("analyze", scene.capture("client", beside=[slow]), COLUMNS="300").stdout.splitlines()[0]
    assert told.startswith("The capture lacks 90 % of the data. ")


def test_a_loss_in_a_capture_that_holds_hardly_any_data_comes_after_all_else(here: Run, scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    for _ in range(8):
        scene.server_sends(1_448_000, unseen=True)
        scene.client_acks()
    scene.download(60_000, lose=(20_000,))
    scene.download(5_000, think_ms=700)
    scene.closes()
    told = first_line(here, scene)
    assert told.startswith("The capture lacks >99 % of the data. ")
    assert "Loss" not in told
