"""A headless Chromium that opens a page from a file and keeps account of what goes wrong in it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def program() -> str | None:
    """The browser of this machine; `apt-get install chromium` brings one to Debian."""
    return os.environ.get("TCPSTALL_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser(executable: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Containers have no user namespaces for the sandbox, and only our own page is opened.
        opened = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


@dataclass
class Opened:
    """A page with all its plots drawn; `complaints` of its console, `requests` beyond the file itself."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def plots(self) -> int:
        return self.page.locator(".plots").count()

    def range_of(self, plot: int = 0, flow: int = 0) -> tuple[float, float]:
        """The time that a plot shows."""
        start, end = self.page.evaluate(
            "([flow, plot]) => (({start, end}) => [start, end])(Bokeh.documents[flow].roots()[plot].x_range)",
            [flow, plot],
        )
        return float(start), float(end)


@contextmanager
def opened(browser: Browser, path: Path, **how: Any) -> Iterator[Opened]:
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 1000}} | how))
    try:
        page = context.new_page()
        found = Opened(page)
        page.on(
            "console", lambda said: found.complaints.append(said.text) if said.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        page.on("request", lambda request: _note(found, request, path))
        page.goto(path.as_uri())
        page.evaluate("for (const flow of document.querySelectorAll('details.flow')) flow.open = true")
        for number in range(found.plots()):
            box = page.locator(".plots").nth(number)
            box.scroll_into_view_if_needed()
            page.wait_for_function("number => document.querySelectorAll('.plots')[number].dataset.drawn", arg=number)
        page.wait_for_timeout(300)
        yield found
    finally:
        context.close()


def _note(found: Opened, request: Request, path: Path) -> None:
    if request.url.partition("#")[0] != path.as_uri():
        found.requests.append(request.url)
