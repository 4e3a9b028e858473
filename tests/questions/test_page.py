"""What a store shows as a page: findings with the flow that shows each best, and strangers' text as text."""

import html
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tcpstall import Cause
from tcpstall.archive.chosen import Chosen
from tcpstall.archive.courses import trend
from tcpstall.archive.findings import findings
from tcpstall.archive.overview import overview
from tcpstall.archive.questions import top
from tcpstall.archive.session import session
from tcpstall.archive.store import Store
from tcpstall.losses import Every, Example, Losses, Overview, Pattern, Trend
from tcpstall.model import Endpoint
from tcpstall.report.html import MadeBy, archive_page, finely
from tcpstall.report.html.document import template_text
from tcpstall.report.html.heat import heat
from tcpstall.untrusted import in_html
from tests.hostile.test_untrusted import ATTACKS
from tests.questions.conftest import Told
from tests.questions.rows import DAY_NS, HOUR_NS, START_NS, Rows, host, lost

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Page = Callable[..., str]


@pytest.fixture
def page(told: Told, tmp_path: Path) -> Page:
    def _page(*arguments: object) -> str:
        output = tmp_path / "store.html"
        code, _, err = told("report", "-o", output, *arguments)
        assert code == 0, err
        return output.read_text("utf-8")

    return _page


def patterns(rows: Rows) -> list[Pattern]:
    with session(Store.open(str(rows.folder))) as asked:
        return findings(asked, Chosen(), 50)


def test_the_same_cause_on_many_flows_of_a_host_is_one_finding(rows: Rows) -> None:
    (found,) = (one for one in patterns(rows) if one.cause is Cause.SNDBUF_LIMITED)
    waits = [row for row in rows.stalls if row["cause"] == Cause.SNDBUF_LIMITED]

    assert (found.host, found.side, found.detail) == ("10.0.3.7", "server", "plateau")
    assert found.level is not None
    assert (found.level.value, found.level.unit) == (64_000, "bytes")
    assert found.flows == len({(row["scan"], row["flow"]) for row in waits})
    assert found.waits == len(waits)
    assert found.lost_ns == sum(map(lost, waits))
    assert found.first_ns == min(row["start_ns"] for row in waits)
    assert found.last_ns == max(row["end_ns"] for row in waits)


def test_every_finding_is_the_sum_of_its_waits(rows: Rows) -> None:
    found = [one for one in patterns(rows) if one.level is None and one.cause is not Cause.RWND_LIMITED]
    assert len(found) >= 5
    for one in found:
        waits = [
            row
            for row in rows.stalls
            if (row["cause"], row["detail"], host(row)) == (one.cause, one.detail, one.host)
            and (host(row) == row["server_address"]) == (one.side == "server")
        ]
        assert one.lost_ns == sum(map(lost, waits))
        assert one.waits == len(waits)


def test_nobody_is_blamed_for_what_is_not_known_or_for_having_nothing_to_ask(rows: Rows) -> None:
    found = patterns(rows)
    assert not {Cause.UNEXPLAINED, Cause.CAPTURE_GAP} & {one.cause for one in found}
    assert all(one.side == "server" for one in found if one.cause is Cause.APP_LIMITED)


def test_each_is_shown_by_the_flow_that_lost_most_to_it(rows: Rows) -> None:
    for one in patterns(rows):
        assert one.example is not None
        own = [row for row in rows.stalls if (row["scan"], row["flow"]) == (one.example.scan, one.example.flow)]
        meant = [
            row for row in own if (row["cause"], row["detail"]) == (one.cause, one.detail) and host(row) == one.host
        ]
        assert one.example.lost_ns <= sum(map(lost, meant))
        assert one.example.stall in {row["stall"] for row in meant}
        assert one.example.captures == (f"day-{own[0]['start_ns'] // DAY_NS}.pcap",)


def test_the_page_has_it_in_words_with_a_command_and_a_link(rows: Rows, page: Page) -> None:
    text = html.unescape(page())
    flows = next(one.flows for one in patterns(rows) if one.cause is Cause.SNDBUF_LIMITED)
    assert f"{flows} flows to 10.0.3.7 sndbuf-limited at 64.0 kB since 2026-09-25 0" in text
    commands = re.findall(r'<code class="filter">(tcpstall report [^<]+)</code>', text)
    assert len(commands) == 12
    for command in commands:
        words = shlex.split(command)
        assert words[2].startswith("day-")
        assert words[3:7:2] == ["--host", "--port"]
        assert words[7] == "-o"
    assert f'<a href="./day-{START_NS // DAY_NS}.pcap">' in text
    assert "Why files" not in text
    assert "1 × not a capture" in text


def test_it_can_be_of_a_part_of_the_time(page: Page) -> None:
    text = page("--since", "2026-09-23", "--until", "2026-09-24")
    assert "sndbuf-limited" not in text
    assert "Lost time by cause and hour" in text
    assert "from 2026-09-23 00:00 to 2026-09-23 23:00" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a.pcap", "--store", "x"], "not both"),
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
        [replace(one, host=attack, detail=attack, level=None, example=example) for one in found],
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
        nothing, Losses("service", (), 0, 0), Trend("hour", (), {}, (), (), {}), [], made_by=MadeBy("x", "1", ())
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
