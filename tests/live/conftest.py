"""A capture of several flows, as a pcap file."""

from pathlib import Path

import pytest

from tests.formats.containers import pcap
from tests.rotated.cutting import of_many_flows


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fixtures laid over each other; as tcpdump writes them, in microseconds."""
    path = tmp_path_factory.mktemp("live") / "many.pcap"
    path.write_bytes(pcap(of_many_flows()))
    return path
