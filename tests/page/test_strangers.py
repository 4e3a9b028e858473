"""Text that strangers wrote stays text in the page: labels, names of files, errors."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tcpstall import Cause
from tcpstall.report.html import MadeBy, Source, page
from tcpstall.untrusted import in_html, in_terminal
from tests.hostile.test_untrusted import ATTACKS
from tests.page.conftest import Report
from tests.report.flows import Canned, capture, flow, stall
from tests.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog

REQUEST = (
    b"GET /<script>alert(1)</script>`|=cmd()\x1b[2J HTTP/1.1\r\n"
    b"Host: <img src=x onerror=alert(2)>|`=cmd()\x1b[31m\r\n\r\n"
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_labels_paths_and_errors_are_shown_as_they_are(attack: str) -> None:
    inputs = [capture(path=f"{attack}.pcap", exit_code=5, error=f"{attack}.pcap is damaged")]
    flows = [flow(stall(Cause.PACING, 5), label=attack, tunnel=attack)]
    made = MadeBy(f"tcpstall report {attack}", "1", (Source(f"{attack}.pcap", None, None),))
    text = page(Canned(flows, inputs), flows, {}, {}, made_by=made, library="")
    assert all(line.isprintable() for line in text.split("\n"))
    elements = set(re.findall(r"<(\w+)", text))
    plain = page(
        Canned([flow(stall(Cause.PACING, 5), label="a", tunnel="a")]), flows[:0], {}, {}, made_by=made, library=""
    )
    assert not elements & {"img", "b", "iframe"}
    assert text.count("<script") == 1 == plain.count("<script")  # our own, which the policy names
    shown = in_html(attack).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    assert text.count(shown) >= 4


def _request(scene: Scene) -> Path:
    scene.handshake()
    scene.client_sends(len(REQUEST), content=REQUEST)
    scene.server_acks()
    scene.server_sends(50_000)
    scene.closes()
    return scene.capture()


def test_a_request_that_carries_markup_is_text(report: Report, scene: Scene) -> None:
    made = report(_request(scene))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;`|=cmd()?[2J" in made
    assert "<script>alert" not in made
    assert "<img" not in made
    assert "\x1b" not in made


def test_a_browser_runs_nothing_of_it(report: Report, scene: Scene, tmp_path: Path, chromium: "Browser") -> None:
    from tests.page.chromium import opened

    report(_request(scene))
    with opened(chromium, tmp_path / "report.html") as shown:
        dialogs: list[str] = []

        def noted(dialog: "Dialog") -> None:
            dialogs.append(dialog.message)
            dialog.dismiss()

        shown.page.on("dialog", noted)
        shown.page.reload()
        shown.page.wait_for_timeout(500)
        assert dialogs == []
        assert shown.complaints == []
        assert shown.page.locator("img").count() == 0
        label = shown.page.locator(".flow .label").first.inner_text()
        assert label.startswith("GET /<script>alert(1)</script>`|=cmd()?[2J")
        assert in_terminal(label) == label
