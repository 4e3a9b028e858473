"""A pause does not change after it was made: no function of the core borrows its facts to write them."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "tcpstall" / "native" / "core" / "src"

WRITES = re.compile(r"&(?:'\w+ )?mut (?:\w+<|\[)*(?:Facts|Pause)\b|\bDerefMut for Pause\b")
"""A reference by which a pause, or a list of pauses, could be written."""

GIVEN = re.compile(r"-> [^{;]*&(?:'\w+ )?mut (\w+)")
"""What a function gives out to be written."""


def _code(path: Path) -> str:
    return re.sub(r"//[^\n]*", "", path.read_text())


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.rs")), ids=lambda path: str(path.relative_to(CORE)))
def test_pauses_are_read_and_never_written(path: Path) -> None:
    assert WRITES.findall(_code(path)) == []


def test_the_list_of_frozen_pauses_gives_out_later_facts_to_write_and_no_pause() -> None:
    assert set(GIVEN.findall(_code(CORE / "pause" / "kept.rs"))) == {"Later"}
    assert GIVEN.findall(_code(CORE / "pause" / "pauses.rs")) == []
    assert GIVEN.findall(_code(CORE / "vec_chunks.rs")) == []


@pytest.mark.parametrize(
    "line",
    [
        "fn fill(pauses: &mut [Facts]) {}",
        "fn last_mut(&mut self) -> Option<&mut Facts> {}",
        "fn forget(pauses: &mut Vec<Facts>) {}",
        "impl DerefMut for Pause<'_> {",
        "fn shorten(pause: &'a mut Pause) {}",
    ],
)
def test_a_writer_is_found(line: str) -> None:
    assert WRITES.search(line)
