"""Output about many flows is the same, byte for byte, whether all flows are held or only those that are shown."""

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median, variance
from typing import Any, get_args

import pytest

import tcpstall
from tcpstall import Analysis, Cause, _core
from tcpstall.diff import Facts, compare
from tcpstall.model import Sort
from tcpstall.report.html import MadeBy, page
from tcpstall.report.page import render
from tcpstall.report.ticket import FORMS, Detail, content
from tests.crowd.captures import all_kinds, syns
from tests.page.prose import prose
from tests.report.flows import text

TOPS = (1, 10, 100)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return all_kinds(tmp_path_factory.mktemp("crowd") / "all")


@pytest.fixture(scope="module")
def whole(crowd: Path) -> Analysis:
    return tcpstall.analyze(crowd, bursts=False)


def held(crowd: Path, top: int, sort: Sort) -> Analysis:
    return tcpstall.analyze(crowd, bursts=False, top=top, sort=sort)


def shown(analysis: Analysis, top: int, sort: Sort) -> dict[str, str]:
    """Every output that shows `top` flows."""
    detail = Detail(listed=top, explained=top, sort=sort)
    flows = [analysis[row] for row in analysis.ranked(sort)[:top]]
    made_by = MadeBy("tcpstall report", "0", ())
    return {
        "table": text(*render(analysis, width=160, sort=sort, top=top)),
        "page": prose(page(analysis, flows, {}, {}, made_by=made_by, library="", sort=sort, detailed=2)),
        **{form: write(list(content(analysis, detail, "tcpstall", "0"))) for form, write in FORMS.items()},
    }


def test_the_crowd_has_many_flows_of_many_causes_and_some_alike(whole: Analysis) -> None:
    assert len(whole) > 20
    assert sum(whole.time_ns()[cause] > 0 for cause in Cause) >= 8
    assert len({flow.lost_ns for flow in whole}) < len(whole)


def test_sizes_are_in_kb_of_a_thousand_and_rates_in_bits(whole: Analysis) -> None:
    for name, output in shown(whole, 100, "lost").items():
        assert re.search(r"\d [kM]B\b", output), name
        assert not re.search(r"\d\s?(KB|KiB|[kKMG]?B/s|bytes/s|[kMG]bps)\b", output), name


@pytest.mark.parametrize("sort", get_args(Sort))
@pytest.mark.parametrize("top", TOPS)
def test_outputs_are_the_same_whether_all_flows_are_held_or_the_first(
    crowd: Path, whole: Analysis, top: int, sort: Sort
) -> None:
    assert shown(held(crowd, top, sort), top, sort) == shown(whole, top, sort)


@pytest.mark.parametrize("sort", get_args(Sort))
def test_the_first_flows_and_the_sums_of_all_are_there(crowd: Path, whole: Analysis, sort: Sort) -> None:
    few = held(crowd, 3, sort)
    for order in {sort, "lost"}:
        assert [few[row] for row in few.ranked(order)] == [whole[row] for row in whole.ranked(order)[:3]]
    assert 3 <= len(few) <= 6
    assert (few.total, few.time_ns(), few.services) == (whole.total, whole.time_ns(), whole.services)
    assert few.total == len(whole)
    assert few.captures == whole.captures


def test_an_order_whose_first_flows_are_not_held_is_refused(crowd: Path) -> None:
    with pytest.raises(ValueError, match="held that come first by start"):
        held(crowd, 3, "start").ranked("bytes")


def test_flows_are_handed_over_or_held(crowd: Path) -> None:
    with pytest.raises(ValueError, match="give each or top"):
        _core.analyze([str(crowd)], top=3, each=lambda _: None)


@pytest.mark.parametrize("sort", get_args(Sort))
def test_the_first_flows_of_the_json_report_are_those_of_all(crowd: Path, tmp_path: Path, sort: Sort) -> None:
    def lines(top: int | None) -> list[str]:
        out = tmp_path / "out.json"
        with out.open("wb") as file:
            _core.write([str(crowd)], file.fileno(), format="ndjson", sort=sort, top=top)
        return [line for line in out.read_text().splitlines() if line.startswith('{"id"')]

    assert lines(5) == lines(None)[:5]


def test_labels_are_read_of_the_flows_that_are_held(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.pcap"
    assert [flow.label for flow in tcpstall.analyze([path, path], top=1)] == [tcpstall.analyze(path)[0].label]


# diff


def by_hand(analysis: Analysis, ports: Sequence[int]) -> dict[str, Any]:
    """The facts of these services, from every flow."""
    flows = [flow for port in ports for flow in analysis if flow.server.port == port]
    directions = [direction for flow in flows for direction in flow.directions.values()]
    trips = [flow.base_rtt_ns for flow in flows if flow.base_rtt_ns is not None]
    windows = []
    spans: dict[str, dict[int, int]] = {}
    for flow in flows:
        sender = max(flow.directions["client"], flow.directions["server"], key=lambda direction: direction.bytes)
        if sender.initial_window_bytes and sender.mss_bytes:
            windows.append(math.ceil(sender.initial_window_bytes / sender.mss_bytes))
        for stall in flow.stalls:
            name = "peer_window_bytes" if stall.cause is Cause.RWND_LIMITED else "in_flight_bytes"
            if (level := stall.evidence[name]) is not None:
                of_cause = spans.setdefault(stall.cause.value, {})
                of_cause[level] = of_cause.get(level, 0) + stall.duration_ns
    owners = _core.owners()
    times = {owner: [flow.time_ns.get(owner, 0) for flow in flows] for owner in owners}
    return {
        "flows": len(flows),
        "bytes": sum(direction.bytes for direction in directions),
        "retransmitted": sum(direction.retransmitted_bytes for direction in directions),
        "repairs": sum(one.timeouts + one.fast_retransmits + one.tail_probes for one in directions),
        "mean_duration_ns": round(fmean(flow.duration_ns for flow in flows)),
        "means": {owner: fmean(values) for owner, values in times.items()},
        "owners": [owner for owner, values in times.items() if any(values)],
        "variances": {owner: variance(values) / len(values) for owner, values in times.items()},
        "base_rtt_ns": round(median(trips)),
        "window": round(median(windows)),
        "levels": [(cause, middle(found)) for cause, found in spans.items()],
    }


def middle(spans: dict[int, int]) -> int:
    passed = 0
    for level in sorted(spans):
        passed += spans[level]
        if 2 * passed >= sum(spans.values()):
            return level
    raise AssertionError


def added_up(facts: Facts) -> dict[str, Any]:
    owners = _core.owners()
    return {
        "flows": facts.flows,
        "bytes": facts.bytes,
        "retransmitted": facts.retransmitted_bytes,
        "repairs": facts.repairs,
        "mean_duration_ns": facts.mean_duration_ns,
        "means": {owner: facts.of_flow(owner) for owner in owners},
        "owners": list(facts.time_ns),
        "variances": {owner: facts.variance_of_mean(owner) for owner in owners},
        "base_rtt_ns": facts.base_rtt_ns,
        "window": facts.initial_window_segments,
        "levels": list(facts.levels.items()),
    }


def test_what_a_comparison_adds_up_is_what_all_flows_come_to(crowd: Path, whole: Analysis, tmp_path: Path) -> None:
    other = all_kinds(tmp_path / "other", turns=3, first_port=81)
    found = compare(crowd, other)
    views = {"good": whole, "bad": tcpstall.analyze(other)}
    assert {service.good_service.port for service in found.services if service.good_service} == {81, 82}
    for service in found.services:
        assert service.good_service
        port = service.good_service.port
        assert service.good_service == service.bad_service
        for name, view in views.items():
            assert added_up(getattr(service, name)) == by_hand(view, [port])
    for name, view in views.items():
        assert added_up(getattr(found.overall, name)) == by_hand(view, [81, 82])
    (alone,), (also_alone,) = found.only_good, found.only_bad
    assert added_up(alone[1]) == by_hand(whole, [80])
    assert added_up(also_alone[1]) == by_hand(views["bad"], [83])


def test_a_comparison_keeps_the_services_of_the_other_capture_beyond_its_limit(tmp_path: Path) -> None:
    limit, further = 65_536, 100
    crowd = syns(tmp_path / "crowd.pcap", limit + further)
    # The last service of the crowd is the only one of the other.
    last = tmp_path / "last.pcap"
    last.write_bytes(crowd.read_bytes()[:24] + crowd.read_bytes()[-56:])
    found = compare(last, crowd)
    assert [service.bad.flows for service in found.services] == [1]
    assert len(found.only_bad) == limit
    assert found.dropped_flows == (0, further - 1)
    turned = compare(crowd, last)
    assert not turned.services
    assert turned.dropped_flows == (further, 0)


def test_flows_that_are_not_compared_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tcpstall.report.diff.as_json import diff_json
    from tcpstall.report.diff.tables import render_diff
    from tcpstall.report.html import diff_page

    path = Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.pcap"
    found = compare(path, path)
    assert "dropped" not in diff_json(found)
    found = dataclasses.replace(found, dropped_flows=(0, 1_234))
    assert '"dropped_flows": 1234' in diff_json(found)
    for told in (
        text(*render_diff(found, width=160)),
        prose(diff_page(found, made_by=MadeBy("tcpstall diff", "0", ()))),
    ):
        assert told.count("1,234 flows go to services beyond the first 65,536, which are not compared") == 1
