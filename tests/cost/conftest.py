"""The counter of all these tests."""

from collections.abc import Iterator

import pytest

from tests.archive.conftest import EXHAUSTIVE
from tests.cost.instructions import Counter, counter


@pytest.fixture(scope="session")
def count() -> Iterator[Counter]:
    """Instructions of a command."""
    with counter(warm=EXHAUSTIVE) as count:
        if count is None:
            pytest.skip("nothing here counts instructions: neither the processor's counter nor valgrind")
        yield count
