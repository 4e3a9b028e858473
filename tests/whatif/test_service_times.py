"""A service's requests before and after a change, and its flows without a prediction."""

import html
import json
import re
from pathlib import Path

import pytest

from tcpstall.report.whatif.words import REFUSALS
from tcpstall.service_times import after, not_predicted, requests
from tcpstall.whatif import change, foreseen, together, whatif
from tests.cli.conftest import Run, here
from tests.scene import Scene

__all__ = ["here"]

SERVICE = "10.0.0.2:80"


def many(scene: Scene, sizes: tuple[int, ...], *, cut: bool = False, apart_ms: int = 5_000) -> Path:
    """One connection a size, each beginning `apart_ms` later; `cut`: the capture lacks the SYN of the first."""
    scenes = [
        Scene(scene.folder, client_port=41_000 + at, start_ns=scene.start_ns + at * apart_ms * 1_000_000)
        for at in range(len(sizes))
    ]
    for each, size in zip(scenes, sizes, strict=True):
        each.handshake(rtt_ms=20)
        each.download(size)
        each.closes()
    return scenes[0].capture(drop=(1,) if cut else (), beside=scenes[1:])


SIZES = (3_000,) * 9 + (300_000,)
"""The nearest rank of 95 % of ten requests is the tenth."""


def test_median_and_95th_percentile_before_and_after(scene: Scene) -> None:
    found = whatif(many(scene, SIZES), flows=tuple(range(10)), changes=[[change("initcwnd=200")]])
    before = requests(found.told)
    assert before is not None
    assert (before.count, before.left_out) == (10, 0)
    each = sorted(time for one in found.told if one.replayed for time in one.replayed.exchanges_ns)
    assert (before.replayed.p50_ns, before.replayed.p95_ns) == (each[4], each[9])
    (outcome,) = found.totals
    then = after(outcome)
    assert then is not None
    median, high = then
    assert median.expected_ns == pytest.approx(before.replayed.p50_ns, abs=1e6)
    assert high.expected_ns < before.replayed.p95_ns - 50e6
    assert high.low_ns <= high.expected_ns <= high.high_ns
    assert before.replayed.p95_ns - high.expected_ns <= outcome.owned_ns


def test_text_and_json_show_them_with_the_flows_that_have_no_prediction(here: Run, scene: Scene) -> None:
    capture = many(scene, SIZES, cut=True)
    arguments = ("whatif", capture, "--service", SERVICE, "--set", "initcwnd=200")
    shown = here(*arguments, COLUMNS="1000").stdout
    assert "9 requests: median captured " in shown
    assert "initcwnd=200: median of a request " in shown
    assert "p95 of a request " in shown
    assert f"without a prediction: 1 flow, {REFUSALS['no-handshake']}" in shown
    totals = json.loads(here(*arguments, "--format", "json").stdout)["totals"]
    assert totals["requests"]["count"] == 9
    assert totals["requests"]["replayed"]["p95_ns"] > totals["outcomes"][0]["p95"]["expected_ns"]
    assert totals["not_predicted"] == [{"refused": "no-handshake", "reason": REFUSALS["no-handshake"], "flows": 1}]


def test_flows_that_a_change_is_refused_for_are_counted_by_that_reason(scene: Scene) -> None:
    found = whatif(many(scene, SIZES[:2]), flows=(0, 1), changes=[[change("queue=64K")]])
    assert not_predicted(found.forecasts) == {"no-bottleneck": 2}
    assert requests(found.told) is None


def test_the_page_shows_them_for_flows_of_one_server(here: Run, scene: Scene, tmp_path: Path) -> None:
    capture = many(scene, (300_000, 200_000, 100_000), cut=True)
    page = tmp_path / "page.html"
    done = here("report", capture, "-o", page)
    assert done.returncode == 0, done.stderr
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))))
    assert "What a change would buy the requests of a service" in text
    assert f"{SERVICE}, 2 of 3 flows of this page" in text
    assert "2 requests: median captured " in text
    assert re.search(r"initcwnd=\d+: median of a request [\d.]+ ms → [\d.]+ ms", text)
    assert f"without a prediction: 1 flow, {REFUSALS['no-handshake']}" in text
    assert "reuse-connection=1: median" not in text


def test_remedies_of_one_server_are_tried_for_all_of_its_flows(scene: Scene) -> None:
    capture = many(scene, (300_000, 3_000))
    flows = [one.flow for one in whatif(capture, flows=(0, 1), changes=[[change("initcwnd=20")]]).forecasts]
    (forecasts,) = together([str(capture)], foreseen([str(capture)], flows)).values()
    assert [len(one.outcomes) for one in forecasts] == [1, 1]
    assert {change.name for one in forecasts for made in one.outcomes for change in made.changes} == {"initcwnd"}
    assert forecasts[0].outcomes[0].changes == forecasts[1].outcomes[0].changes
    assert forecasts[1].outcomes[0].saved_ns == 0


def test_a_server_of_one_flow_has_no_sums(scene: Scene) -> None:
    capture = many(scene, (300_000,))
    flows = [one.flow for one in whatif(capture).forecasts]
    assert together([str(capture)], foreseen([str(capture)], flows)) == {}


def test_where_no_change_would_save_time_a_sentence_says_so(here: Run, scene: Scene) -> None:
    shown = here("whatif", many(scene, (1_000, 1_000), apart_ms=5), "--service", SERVICE, COLUMNS="1000").stdout
    assert "nothing that they waited for calls for a change that would save time" in shown
    assert "between" not in shown, "the heading of a table"
