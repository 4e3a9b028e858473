"""The accuracy table is made from counts that can be wrong."""

from collections import Counter
from pathlib import Path

import pytest

from tests.documents import README
from tests.tools.accuracy.__main__ import FIXTURES, PAGE
from tests.tools.accuracy.count import SIDES, Counts, count
from tests.tools.accuracy.table import MARK, render


@pytest.mark.parametrize("side", SIDES)
def test_the_founding_experiments_are_told_apart(side: str) -> None:
    counts = count([FIXTURES], side)
    assert counts.called.total() > 100
    assert counts.share() > 0.98
    assert counts.false == 0
    assert counts.sure_and_wrong * 100 <= counts.sure


def test_a_wait_under_another_name_is_shown_with_that_name() -> None:
    counts = Counts(called=Counter({("cwnd", "cwnd"): 3, ("cwnd", "sndbuf-limited"): 1}), reported=4, sure=2)
    text = render({"a set": {"sender": counts}})
    assert "| cwnd | 75.0 % of 4 |" in text
    assert "| a set | sender | cwnd | 3 | sndbuf-limited 1 |" in text


def test_an_empty_folder_has_no_waits(tmp_path: Path) -> None:
    assert count([tmp_path], "sender").called.total() == 0


def test_the_readme_has_the_first_table_of_the_page() -> None:
    def between_marks(text: str) -> str:
        return text[text.index(MARK[0]) + len(MARK[0]) : text.index(MARK[1])].strip()

    assert between_marks(README.read_text()) == between_marks(PAGE.read_text()).partition("\n\n")[0]
