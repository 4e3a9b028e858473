"""The page in a real Chromium: quiet, alone, linked, and whole on a phone, a wide screen and paper."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.crowd.captures import all_kinds
from tests.tools.bench import captures

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.page.chromium import Opened

READ = (ExitCode.COMPLETE, ExitCode.DAMAGED)
CAPTURE = Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.pcap"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page") / "report.html"
    assert main(["report", str(CAPTURE), "-o", str(made)]) == 0
    return made


@pytest.fixture
def shown(chromium: "Browser", path: Path) -> "Iterator[Opened]":
    from tests.page.chromium import opened

    with opened(chromium, path) as page:
        yield page


def test_the_console_is_quiet_and_no_request_leaves_the_page(shown: "Opened") -> None:
    assert shown.plots() == 1
    shown.page.keyboard.press("End")
    shown.page.wait_for_timeout(300)
    assert shown.complaints == []
    assert shown.requests == []


def test_a_request_or_a_script_of_somebody_else_is_refused(shown: "Opened") -> None:
    shown.page.evaluate(
        """() => {
            const image = new Image(); image.src = "https://example.org/x.png"; document.body.append(image);
            const script = document.createElement("script"); script.textContent = "window.owned = true";
            document.body.append(script);
        }"""
    )
    shown.page.wait_for_timeout(200)
    assert shown.page.evaluate("window.owned") is None
    assert len([said for said in shown.complaints if "Content Security Policy" in said]) == 2


def _beside(shown: "Opened", plot: int, share: float) -> tuple[float, float]:
    """A point of a plot, at that share of its width."""
    live = shown.page.locator(".live").nth(plot)
    live.scroll_into_view_if_needed()
    box = live.bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + box["height"] * 0.4


@pytest.mark.parametrize("plot", [0, 1, 2, 3, 4], ids=["waits", "sequence", "in flight", "round trips", "throughput"])
def test_the_pointer_over_a_stall_shows_its_evidence(shown: "Opened", plot: int) -> None:
    share = 0.6 if plot else 0.5  # a rwnd-limited wait; in the lanes the server's stands above
    x, y = _beside(shown, plot, share)
    if plot == 0:
        y -= 10
    shown.page.mouse.move(x, y)
    tip = shown.page.locator(".bk-Tooltip, .bk-tooltip").filter(has_text="in flight:").first
    tip.wait_for(timeout=5_000)
    text = tip.evaluate("one => (one.shadowRoot ?? one).textContent")  # shadow trees have no inner text
    assert "-limited" in text
    assert "the server waited: " in text
    assert "peer window: " in text
    assert "last packet: " in text


def test_zooming_one_plot_moves_the_others(shown: "Opened") -> None:
    before = shown.range_of()
    left, right = _beside(shown, 2, 0.4), _beside(shown, 2, 0.6)
    shown.page.mouse.move(*left)
    shown.page.mouse.down()
    shown.page.mouse.move(*right, steps=6)
    shown.page.mouse.up()
    shown.page.wait_for_timeout(400)
    after = [shown.range_of(plot) for plot in range(5)]
    assert len(set(after)) == 1
    assert after[0][0] > before[0]
    assert after[0][1] < before[1]
    # The vertical axes follow, each to what is left of its own series.
    heights = shown.page.evaluate("Bokeh.documents[0].roots().map(({y_range: {start, end}}) => end - start)")
    assert all(height > 0 for height in heights)


def test_keys_and_buttons_zoom(shown: "Opened") -> None:
    whole = shown.range_of()
    shown.page.get_by_role("group", name="Plots of flow 0").focus()
    shown.page.keyboard.press("+")
    shown.page.wait_for_timeout(100)
    near = shown.range_of()
    assert near[1] - near[0] == pytest.approx((whole[1] - whole[0]) / 2)
    shown.page.keyboard.press("ArrowRight")
    shown.page.wait_for_timeout(100)
    assert shown.range_of()[0] > near[0]
    shown.page.get_by_role("button", name="Whole flow").click()
    shown.page.wait_for_timeout(100)
    assert shown.range_of() == pytest.approx(whole)


def test_a_stall_of_the_table_is_shown_in_the_plots(shown: "Opened") -> None:
    shown.page.get_by_role("button", name="Show the stall at +0.024707").click()
    shown.page.wait_for_timeout(300)
    start, end = shown.range_of()
    assert 20 < start < 24.707
    assert 31.39 < end < 36
    assert shown.page.evaluate("document.activeElement.className") == "drawn"


@pytest.mark.parametrize("width", [360, 768, 1920])
@pytest.mark.parametrize("look", ["light", "dark"])
def test_no_window_is_too_narrow_or_too_wide(chromium: "Browser", path: Path, width: int, look: str) -> None:
    from tests.page.chromium import opened

    with opened(chromium, path, viewport={"width": width, "height": 800}, color_scheme=look) as shown:
        seen = shown.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert seen == [width, width]
        # What is too wide scrolls inside its own box, and plots are as wide as their place.
        beyond = shown.page.evaluate(
            """[...document.querySelectorAll("main *")].filter((one) => !one.closest(".scroll, svg") &&
                one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.tagName + "." + one.className)"""
        )
        assert beyond == []
        assert shown.complaints == []


def test_paper_has_every_plot_and_all_evidence(shown: "Opened") -> None:
    shown.page.emulate_media(media="print")
    shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    shown.page.wait_for_function("() => [...document.querySelectorAll('img.paper')].every((one) => one.complete)")
    pictures = shown.page.evaluate(
        "[...document.querySelectorAll('img.paper')].map((one) => [one.naturalWidth, one.clientWidth])"
    )
    assert len(pictures) == 5
    assert all(natural > 300 and wide > 300 for natural, wide in pictures)
    assert shown.page.locator("details:not([open])").count() == 0
    assert not shown.page.get_by_role("button", name="Zoom in").is_visible()
    assert not shown.page.locator(".live").first.is_visible()
    assert shown.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    shown.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.page.locator("img.paper").count() == 0
    assert shown.page.pdf(format="A4").startswith(b"%PDF")
    assert shown.complaints == []


def test_everything_that_can_be_used_can_be_reached_by_keyboard(shown: "Opened") -> None:
    shown.page.evaluate("scrollTo(0, 0)")
    shown.page.locator("body").click(position={"x": 2, "y": 2})
    reached: list[str] = []
    for _ in range(60):
        shown.page.keyboard.press("Tab")
        reached.append(shown.page.evaluate("(document.activeElement.className || document.activeElement.tagName) + ''"))
    assert reached[0] == "skip"
    for wanted in ("scroll", "drawn", "show", "BUTTON", "A", "SUMMARY"):
        assert wanted in reached


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    made = folder / "report.html"
    assert main(["report", str(all_kinds(folder / "captures")), "--top", "1000", "-o", str(made)]) in READ
    return made


def column(shown: "Opened", heading: str) -> list[str]:
    """Texts in a column of the table of flows, of the visible rows."""
    cells: list[str] = shown.page.evaluate(
        """(heading) => {
            const table = document.querySelector("table.flows");
            const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === heading);
            return [...table.tBodies[0].rows].filter((row) => !row.hidden)
                .map((row) => row.cells[at].dataset.n ?? row.cells[at].textContent.replaceAll(",", ""));
        }""",
        heading,
    )
    return cells


def test_the_table_of_flows_is_sorted_by_what_is_clicked(chromium: "Browser", many: Path) -> None:
    from tests.page.chromium import opened

    with opened(chromium, many) as shown:
        flows = column(shown, "flow")
        for heading in ("lost", "bytes ←"):
            head = shown.page.get_by_role("columnheader", name=heading)
            for order in ("descending", "ascending"):
                head.get_by_role("button").click()
                assert head.get_attribute("aria-sort") == order
                figures = [float(cell) for cell in column(shown, heading)]
                assert figures == sorted(figures, reverse=order == "descending")
                assert len(set(figures)) > 5
        assert sorted(column(shown, "flow")) == sorted(flows)
        shown.page.get_by_role("columnheader", name="mostly").get_by_role("button").click()
        assert column(shown, "mostly") == sorted(column(shown, "mostly"), key=str.casefold)
        assert shown.complaints == []


def test_rows_are_found_by_words(chromium: "Browser", many: Path) -> None:
    from tests.page.chromium import opened

    with opened(chromium, many) as shown:
        causes = column(shown, "mostly")
        wanted = next(cause for cause in causes if 0 < causes.count(cause) < len(causes)).strip()
        shown.page.get_by_role("searchbox").fill(f"10.0 {wanted.upper()}")
        found = column(shown, "mostly")
        assert 0 < len(found) < len(causes)
        assert all(wanted in cause for cause in found)
        assert shown.page.get_by_role("status").first.text_content() == f" {len(found)} of {len(causes)}"
        shown.page.get_by_role("searchbox").fill("")
        assert column(shown, "mostly") == causes


def test_a_command_is_copied_or_selected(chromium: "Browser", path: Path) -> None:
    from tests.page.chromium import opened

    with opened(chromium, path, permissions=["clipboard-read", "clipboard-write"]) as shown:
        button = shown.page.get_by_role("button", name="Copy tcpstall report")
        button.click()
        shown.page.get_by_text("copied").wait_for(timeout=2_000)
        assert shown.page.evaluate("navigator.clipboard.readText()").startswith("tcpstall report")
        shown.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) }")
        shown.page.evaluate("() => { document.execCommand = () => false }")
        shown.page.wait_for_timeout(1_600)
        button.click()
        shown.page.get_by_text("selected", exact=True).wait_for(timeout=2_000)
        assert shown.page.evaluate("String(getSelection())").startswith("tcpstall report")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 600 connections."""
    folder = tmp_path_factory.mktemp("crowded")
    with (folder / "many.pcap").open("wb") as out:
        captures.short().write(out, 600 * 13)
    assert main(["report", str(folder / "many.pcap"), "-o", str(folder / "many.html"), "--top", "600"]) in READ
    return folder / "many.html"


@pytest.fixture
def untouched(chromium: "Browser", crowded: Path) -> "Iterator[Page]":
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(crowded.as_uri())
    yield page
    context.close()


def test_a_page_of_many_flows_is_short_until_something_is_opened(untouched: "Page") -> None:
    assert untouched.locator(".flows tbody tr").count() == 600
    assert untouched.evaluate("document.documentElement.scrollHeight") < 3_000
    assert untouched.locator("details.flow").count() == 8
    assert untouched.locator("details.flow[open]").count() == 0


def test_a_link_to_a_flow_opens_it(untouched: "Page") -> None:
    link = untouched.locator('nav a[href^="#flow-"]').nth(2)
    target = untouched.locator(f"details.flow:has({link.get_attribute('href')})")
    assert target.get_attribute("open") is None
    link.click()
    untouched.wait_for_function("() => document.querySelector('details.flow[open]')")
    assert target.get_attribute("open") is not None
    assert target.locator("h3").first.is_visible()
    assert untouched.locator("details.flow[open]").count() == 1


def test_plots_of_closed_flows_are_there_for_paper(untouched: "Page") -> None:
    untouched.wait_for_function("() => [...document.querySelectorAll('.plots')].every((plot) => plot.dataset.drawn)")
    untouched.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = untouched.evaluate("[...document.querySelectorAll('img.paper')].map((picture) => picture.naturalWidth)")
    assert len(widths) == 8 * untouched.locator(".plots").first.locator(".live").count()
    assert min(widths) > 500
    untouched.evaluate("dispatchEvent(new Event('afterprint'))")
    assert untouched.locator("details.flow[open]").count() == 0
