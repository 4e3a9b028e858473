"""The table of `tcpstall whatif` where the terminal is narrow."""

import pytest

from tcpstall.report.whatif.tables import HEADINGS, render_whatif
from tcpstall.whatif import change, whatif
from tests.report.flows import text
from tests.scene import Scene


@pytest.mark.parametrize(("width", "shown"), [(80, HEADINGS), (54, HEADINGS[:-1])])
def test_the_exchange_is_left_out_where_there_is_no_room(scene: Scene, width: int, shown: tuple[str, ...]) -> None:
    scene.handshake(rtt_ms=10)
    scene.download(200_000)
    scene.closes()
    found = whatif(scene.capture(), changes=[[change("initcwnd=100")]])
    lines = text(*render_whatif(found, width=width), width=width).splitlines()
    (table,) = [place for place, line in enumerate(lines) if line.startswith("change ")]
    assert tuple(lines[table].split()) == shown
    assert max(map(len, lines[table : table + 3])) <= width
