"""The page of a store: findings with the flow that shows each best, and strangers' text as text."""

import html
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tcpstall import Cause
from tcpstall.archive.asking.findings import findings
from tcpstall.archive.asking.overview import overview
from tcpstall.archive.asking.questions import top
from tcpstall.archive.asking.session import session
from tcpstall.archive.asking.trend import trend
from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.storing.store import Store
from tcpstall.findings import Finding
from tcpstall.lost_time import Every, Example, Losses, Overview, Shown, Trend
from tcpstall.model import Endpoint
from tcpstall.report.html import MadeBy, archive_page, finely
from tcpstall.report.html.document import template_text
from tcpstall.report.html.heat import heat
from tcpstall.units import duration
from tcpstall.untrusted import in_html
from tests.hostile.test_untrusted import ATTACKS
from tests.page.prose import prose
from tests.questions.conftest import Told
from tests.questions.rows import DAY_NS, HOUR_NS, START_NS, Row, Rows

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Page = Callable[..., str]


@pytest.fixture
def page(told: Told, tmp_path: Path) -> Page:
    def _page(*arguments: object) -> str:
        output = tmp_path / "store.html"
        code, _, err = told("report", "-o", output, *arguments)
        assert code == 0, err
        return prose(output.read_text("utf-8"))

    return _page


def shown(rows: Rows) -> list[Shown]:
    with session(Store.open(str(rows.folder))) as asked:
        return findings(asked, Chosen(), 50)


def parts(rows: Rows, one: Finding) -> list[Row]:
    """Of the flows that have a part in the finding of a single service."""
    key = (one.kind, one.side, one.address, one.port)
    names = ("kind", "side", "server_address", "server_port")
    return [row for row in rows.findings if tuple(row[name] for name in names) == key]


def test_every_finding_is_the_sum_of_its_flows(rows: Rows) -> None:
    found = [one.finding for one in shown(rows) if one.finding.port is not None]
    assert len(found) >= 10
    for one in found:
        own = parts(rows, one)
        assert one.flows == len({(row["scan"], row["flow"]) for row in own})
        for name in ("waits", "time_ns", "recoverable_ns", "bytes", "lasted_ns"):
            assert getattr(one, name) == sum(row[name] for row in own)
        assert (one.first_ns, one.last_ns) == (min(r["start_ns"] for r in own), max(r["end_ns"] for r in own))
        assert sum(span for _, span in one.details) == (one.time_ns if one.detail else 0)
        if one.kind != "server-slow":
            assert one.worst_ns == max(row["time_ns"] for row in own)
            assert sorted(row["time_ns"] for row in own)[(len(own) - 1) // 2] == one.median_ns


def test_what_gives_back_most_leads_and_nobody_is_told_of_pauses(rows: Rows) -> None:
    found = [one.finding for one in shown(rows)]
    assert not {"idle", "messages", "unexplained", "one-sided"} & {one.kind for one in found}
    spans = [one.recoverable_ns or 0 for one in found]
    assert spans == sorted(spans, reverse=True)
    assert max(row["recoverable_ns"] or 0 for row in rows.findings) <= spans[0]


def test_each_is_shown_by_the_flow_that_has_most_of_it(rows: Rows) -> None:
    for one in shown(rows):
        assert one.example is not None
        assert one.finding.example is not None
        own = [row for row in parts(rows, one.finding) or rows.findings if row["kind"] == one.finding.kind]
        by = "longest_ns" if one.finding.kind == "server-slow" else "time_ns"
        flows = [row for row in own if (row["scan"], row["flow"]) == (one.example.scan, one.example.flow)]
        if one.finding.port is not None:
            assert max(row[by] for row in flows) == max(row[by] for row in own)
        assert one.example.stall in {row["stall"] for row in flows}
        assert one.example.captures == (f"day-{flows[0]['start_ns'] // DAY_NS}.pcap",)


def test_the_page_has_it_in_words_with_a_command_and_a_link(rows: Rows, page: Page) -> None:
    text = html.unescape(page())
    [one] = (each.finding for each in shown(rows) if each.finding.kind == "sndbuf-limited")
    assert "send buffer full: 10.0.3.7:443, since 2026-09-25 0" in text
    assert f"{one.flows} flows, worst {duration(one.worst_ns)}" in text
    assert "the server's send buffer was full at 6" in text
    commands = re.findall(r'<code class="filter">(tcpstall report [^<]+)</code>', text)
    assert len(commands) >= 12
    for command in commands:
        words = shlex.split(command)
        assert words[2:5] == ["--store", str(rows.folder), "--flow"]
        assert words[5] in {f"{row['scan']}/{row['flow']}" for row in rows.flows}
        assert words[6] == "-o"
    assert f'<a href="./day-{START_NS // DAY_NS}.pcap">' in text
    assert "Why files" not in text
    assert "1 × not a capture" in text


def test_it_can_be_of_a_part_of_the_time(page: Page) -> None:
    text = page("--since", "2026-09-23", "--until", "2026-09-24")
    assert "send buffer full" not in text
    assert "Lost time by cause and hour" in text
    assert "from 2026-09-23 00:00 to 2026-09-23 23:00" in text


def test_it_can_be_of_a_service(rows: Rows, page: Page) -> None:
    text = page("--service", "10.0.3.7:443")
    others = {f"{row['server_address']}:{row['server_port']}" for row in rows.flows} - {"10.0.3.7:443"}
    assert others
    assert "10.0.3.7:443" in text
    assert not [other for other in others if other in text]


def test_it_can_be_of_some_captures(rows: Rows, page: Page) -> None:
    day = rows.flows[0]["capture"].rpartition("/")[2]
    flows = sum(row["capture"].endswith(day) for row in rows.flows)
    assert 0 < flows < len(rows.flows)
    assert f"{flows:,} flows" in page("--capture", day)


def test_it_can_be_of_one_sensor(rows: Rows, page: Page) -> None:
    flows = sum(row["sensor"] == "berlin-1" for row in rows.flows)
    assert 0 < flows < len(rows.flows)
    assert f"{flows:,} flows" in page("--sensor", "berlin-1")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a.pcap", "--store", "x"], "not both"),
        (["a.pcap", "--service", "192.0.2.1:80"], "--service cannot be used with captures or --flow"),
        (["--flow", "1/2", "--capture", "x"], "--capture cannot be used with captures or --flow"),
        (["a.pcap", "--sensor", "x"], "--sensor cannot be used with captures or --flow"),
        (["--flow", "3", "--detailed", "2"], "--detailed, --flow cannot be used with --store"),
        (["--anonymise"], "--anonymise cannot be used with --store"),
    ],
)
def test_what_cannot_be_meant_is_refused(told: Told, tmp_path: Path, arguments: list[str], says: str) -> None:
    code, _, err = told("report", "-o", tmp_path / "x.html", *arguments)
    assert code == 2
    assert says in err


def test_neither_captures_nor_a_store_is_refused(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCPSTALL_STORE")
    code, _, err = told("report", "-o", tmp_path / "x.html")
    assert code == 2
    assert "missing argument 'CAPTURE...', or --store" in err


def test_an_empty_store_has_a_page_too(told: Told, tmp_path: Path) -> None:
    with Store.writing(str(tmp_path / "empty")):
        pass
    output = tmp_path / "empty.html"
    assert told("report", "--store", tmp_path / "empty", "-o", output)[0] == 0
    assert "The store holds no flow." in output.read_text()


@pytest.mark.parametrize("attack", ATTACKS)
def test_strangers_text_stays_text(attack: str, rows: Rows) -> None:
    example = Example("scan", 1, Endpoint("192.0.2.1", 1), Endpoint("192.0.2.2", 2), (f"/captures/{attack}",), 0, 5, 0)
    with session(Store.open(str(rows.folder))) as asked:
        about, worst = overview(asked, Chosen()), top(asked, "service", Chosen(), 3)
        course, found = trend(asked, "hour", Chosen(), 3), findings(asked, Chosen(), 3)
    text = archive_page(
        replace(about, reasons=((attack, 1, attack),)),
        replace(worst, rows=tuple(replace(row, key=attack, worst=example) for row in worst.rows)),
        course,
        [Shown(replace(one.finding, kind=attack, address=attack, details=((attack, 1),)), example) for one in found],
        store=attack,
        made_by=MadeBy(f"tcpstall report {attack}", "1", ()),
    )
    assert all(line.isprintable() for line in text.split("\n"))
    elements = re.findall(r"<(\w+)", text.replace(template_text("hand.js"), ""))
    assert not {"img", "b", "iframe"} & set(elements)
    assert elements.count("script") == 1  # our own, which the policy names
    assert in_html(attack).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in text
    for link in re.findall(r'href="([^"]*)"', text):
        assert re.fullmatch(r"#[a-z-]+|(file:///|\./)[A-Za-z0-9%/._~-]*", link)


def _course(count: int, every: Every) -> Trend:
    width = HOUR_NS if every == "hour" else DAY_NS
    starts = tuple(START_NS + number * width for number in range(count))
    lost = tuple(1 + number % 7 for number in range(count))
    return Trend(every, starts, {Cause.PACING: lost}, (1,) * count, (), {Cause.PACING: sum(lost)})


@pytest.mark.parametrize("every", ["hour", "day"])
@pytest.mark.parametrize("count", [1, 48, 192, 10_000])
def test_a_cell_is_an_hour_or_a_day(count: int, every: Every) -> None:
    drawn = heat(_course(count, every))
    cells = drawn.rows[0].cells
    assert drawn.every == every
    assert len(cells) == count == round(drawn.width / drawn.cell)
    assert all(0 < cell.opacity <= 1 and 0 <= cell.x < drawn.width for cell in cells)
    assert max(cell.opacity for cell in cells) == 1
    assert all(0 <= left <= 88 for left, _ in drawn.marks)


@pytest.mark.parametrize(("hours", "every"), [(1, "hour"), (192, "hour"), (193, "day"), (24 * 400, "day")])
def test_hours_are_drawn_for_days_and_days_for_longer(hours: int, every: Every) -> None:
    assert finely(Overview(1, 1, 1, 1, 0, 1, START_NS, START_NS + hours * HOUR_NS, 1)) == every


def test_nothing_is_drawn_where_nothing_was_lost() -> None:
    nothing = Overview(0, 0, 0, 0, 0, 0, None, None, 0)
    text = archive_page(
        nothing,
        Losses("service", (), 0, 0),
        Trend("hour", (), {}, (), (), {}),
        [],
        store="store",
        made_by=MadeBy("x", "1", ()),
    )
    assert "<h2" in text
    assert 'id="heat"' not in text


@pytest.mark.parametrize("width", [360, 768, 1920])
@pytest.mark.parametrize("look", ["light", "dark"])
def test_no_window_is_too_narrow_and_no_request_leaves_it(
    chromium: "Browser", page: Page, tmp_path: Path, width: int, look: str
) -> None:
    from tests.page.chromium import opened

    page()
    with opened(
        chromium, tmp_path / "store.html", viewport={"width": width, "height": 800}, color_scheme=look
    ) as shown:
        assert shown.page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]
        assert shown.complaints == []
        assert shown.requests == []
        assert shown.page.locator(".heat svg").count() >= 5
        shown.page.emulate_media(media="print")
        assert shown.page.pdf(format="A4").startswith(b"%PDF")
