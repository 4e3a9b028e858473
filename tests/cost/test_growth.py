"""No capture makes a command's cost grow faster than the capture does."""

from itertools import product
from pathlib import Path

import pytest

from tests.cost.captures import KINDS, capture
from tests.cost.growth import COMMANDS, KNOWN, MOST, growth
from tests.cost.instructions import by_processor, by_valgrind

UNCOUNTED = "nothing here counts instructions: neither the processor's counter nor valgrind"

SAMPLE = [("json", "hole-split-from-its-top")]
"""One, because valgrind is slow; it was quadratic once. `python -m tests.cost` measures all of them with it."""


def _expected(command: str, kind: str) -> pytest.MarkDecorator | tuple[()]:
    known = (command, kind) in KNOWN
    return pytest.mark.xfail(reason="grows faster than its capture, as KNOWN says", strict=False) if known else ()


@pytest.mark.skipif(by_processor() is None, reason="this machine's processor does not count instructions for programs")
@pytest.mark.parametrize(
    ("command", "kind"),
    [pytest.param(*pair, marks=_expected(*pair)) for pair in product(COMMANDS, KINDS)],
)
def test_a_doubling_of_packets_hardly_more_than_doubles_the_cost(command: str, kind: str, tmp_path: Path) -> None:
    count = by_processor()
    assert count
    assert max(growth(count, command, kind, 8_000, tmp_path)) <= MOST


@pytest.mark.skipif(by_processor() is not None or by_valgrind() is None, reason=UNCOUNTED)
@pytest.mark.parametrize(("command", "kind"), SAMPLE)
def test_a_doubling_hardly_more_than_doubles_the_cost_by_valgrind(command: str, kind: str, tmp_path: Path) -> None:
    count = by_valgrind()
    assert count
    assert max(growth(count, command, kind, 1_500, tmp_path)) <= MOST


@pytest.mark.parametrize("kind", KINDS)
def test_a_longer_capture_begins_with_the_shorter_one(kind: str) -> None:
    short, long = capture(kind, 50), capture(kind, 100)
    assert long.startswith(short)
    assert len(long) > len(short) > 24
