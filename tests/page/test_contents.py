"""Contents of the page: the answer, the filters, their origin; the same bytes for the same capture."""

import hashlib
import re
from pathlib import Path

import pytest

from tests.page.conftest import Report
from tests.scene import Scene

CAPTURE = Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.pcap"


def visible(page: str) -> str:
    """The text between the tags, scripts and styles aside."""
    without = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", without).split())


def test_the_page_says_what_the_terminal_says(report: Report) -> None:
    text = visible(report(CAPTURE))
    for told in (
        "It lost 49.4 ms of that (78 %): data could have moved and did not",
        "slow start from 10 segments, 4 round trips",
        "What to change first: start with a larger initial window",
        "enlarge the receiver&#39;s buffer",
        "1.1 handshake, 1 base, 1.1 response beyond the initial window",
        "10 → 11 → 12",
        "Nothing that the diagnosis needs is missing from it.",
    ):
        assert told in text, told


def test_the_change_is_that_of_a_finding_that_knows_more_than_the_cause(scene: Scene, report: Report) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(300)
    for after in (250, 250, 500, 1_000):
        scene.wait_ms(after)
        scene.client_repeats(0, 300)
    scene.server_sends(5_000)
    scene.client_acks()
    scene.closes()
    assert "What to change first: look at its accept queue" in visible(report(scene.capture("server")))


def test_where_nothing_is_to_repair_the_page_asks_for_no_change(scene: Scene, report: Report) -> None:
    scene.handshake(rtt_ms=0.2)
    for _ in range(3):
        scene.download(3_000, think_ms=2)
        scene.wait_ms(9_000)
    scene.closes()
    text = visible(report(scene.capture("client")))
    assert "Nothing to repair" in text
    assert "What to change first" not in text


def test_no_figure_of_its_prose_can_part_from_its_unit(tmp_path: Path, report: Report) -> None:
    report(CAPTURE)
    page = re.sub(
        r"<(script|style|code|table|title|dt)\b.*?</\1>", "", (tmp_path / "report.html").read_text(), flags=re.S
    )
    text = re.sub(r"<span class=\"right\">.*?</span>|<[^>]+>", " ", page)  # flows' lengths stand at the end of a line
    assert len(re.findall(r"\d&nbsp;(?:ms|kB|%)", text)) > 20
    assert re.findall(r"\d (?:[mµn]?s|[kM]?B|[kMG]?bit/s|%|RTT)(?!\w)", text) == []


def test_the_order_is_the_answer_first_and_the_making_last(report: Report) -> None:
    page = report(CAPTURE)
    places = [
        page.index(f'id="{name}"') for name in ("answer", "ledger", "flows", "flow-0", "plots-0", "trust", "made")
    ]
    assert places == sorted(places)


def test_a_stall_has_the_filter_that_finds_it(report: Report) -> None:
    text = visible(report(CAPTURE))
    both = "ip.addr == 192.168.247.130 &amp;&amp; ip.addr == 192.168.247.129"
    ports = "tcp.port == 44612 &amp;&amp; tcp.port == 80"
    assert f"{both} &amp;&amp; {ports} &amp;&amp; frame.number &gt;= 10 &amp;&amp; frame.number &lt;= 12" in text


def test_the_page_names_the_command_and_the_hash_of_the_capture(report: Report, tmp_path: Path) -> None:
    text = visible(report(CAPTURE, "--min-stall", "5ms"))
    assert f"tcpstall report {CAPTURE} --min-stall 5ms -o {tmp_path / 'report.html'}" in text
    assert hashlib.sha256(CAPTURE.read_bytes()).hexdigest() in text


def test_the_same_capture_gives_the_same_bytes(report: Report) -> None:
    assert report(CAPTURE) == report(CAPTURE)


def test_a_typical_page_stays_below_two_megabytes(report: Report) -> None:
    assert len(report(CAPTURE).encode()) < 2_000_000


def test_the_page_names_no_host_of_the_network(report: Report) -> None:
    page = re.sub(r"<script>.*?</script>", "", report(CAPTURE), flags=re.DOTALL)
    assert "://" not in page
    assert "src=" not in page
    assert "default-src &#39;none&#39;" in page


def test_only_the_first_flows_are_drawn(report: Report, scene: Scene) -> None:
    scene.handshake()
    scene.download(100_000)
    scene.closes()
    one = report(scene.capture(), "--detailed", 0)
    assert 'class="plots"' not in one
    assert one.count("<script>") == 1  # what a hand does needs no picture
    assert "<td" in one


def test_a_flow_that_only_shook_hands_has_no_plots(report: Report, scene: Scene) -> None:
    scene.handshake()
    page = report(scene.capture())
    assert 'class="plots"' not in page
    assert "handshake" in visible(page)


def test_unreadable_inputs_do_not_spoil_the_others(report: Report, tmp_path: Path) -> None:
    bad = tmp_path / "cat.jpeg"
    bad.write_bytes(b"\xff\xd8\xff\xe0 no capture")
    page = report(CAPTURE, bad, tmp_path / "nowhere.pcap", code=4)
    assert 'class="plots"' in page
    assert visible(report(CAPTURE)) != visible(page)


def test_a_capture_without_tcp_gives_a_page_that_says_so(report: Report, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(CAPTURE.read_bytes()[:24])
    assert "no packets in it" in visible(report(empty))


@pytest.mark.parametrize("capture", ["slowstart-rtt7ms-512k.txt"])
def test_a_paste_has_plots_too(report: Report, capture: str) -> None:
    assert 'class="plots"' in report(CAPTURE.with_name(capture))


def test_the_page_tells_what_changes_would_buy_and_how_far_the_model_is_off(report: Report) -> None:
    text = visible(report(CAPTURE))
    assert "What a change would buy" in text
    assert "initcwnd=44" in text
    assert "Predicted by playing the flow again: captured 56.1 ms, replayed unchanged" in text


def test_where_nothing_can_be_predicted_the_page_says_why(report: Report, tmp_path: Path) -> None:
    """Without the three packets of the handshake."""
    whole = CAPTURE.read_bytes()
    at = 24
    for _ in range(3):
        at += 16 + int.from_bytes(whole[at + 8 : at + 12], "little")
    begun = tmp_path / "begun.pcap"
    begun.write_bytes(whole[:24] + whole[at:])
    text = visible(report(begun))
    assert "No prediction: the handshake was not captured whole" in text
