"""`python -m tests.page CAPTURE PICTURE.png`: the page of a capture as Chromium shows it."""

import argparse
import tempfile
from pathlib import Path

from tcpstall.cli import main as tcpstall
from tests.page.chromium import browser, opened, program


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.page", description=__doc__)
    parser.add_argument("capture")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, help="as much of the page, from the top; all of it unless told")
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args()
    executable = program()
    if executable is None:
        parser.error("no Chromium here: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, browser(executable) as chromium:
        page = Path(folder) / "report.html"
        code = tcpstall(["report", options.capture, "-o", str(page)])
        if not page.exists():
            return code
        size = {"width": options.width, "height": options.height or 1000}
        with opened(chromium, page, viewport=size, color_scheme="dark" if options.dark else "light") as shown:
            shown.page.evaluate("scrollTo(0, 0)")
            shown.page.screenshot(path=options.picture, full_page=options.height is None)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
