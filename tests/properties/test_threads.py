"""However many threads follow the flows, the results are the same, in the same order."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall import _core
from tests.crowd.captures import all_kinds, syns
from tests.rotated.cutting import flows as texts
from tests.rotated.cutting import of_many_flows, write
from tests.tools.bench import captures as bench

THREADS = [2, 3, 5, 8]
LONG = 4 << 20
"""Bytes from which each of two threads reads a file by itself."""
MANY = of_many_flows()


def told(path: Path | str, threads: int, flows: Sequence[int] = ()) -> tuple[list[str], list[str]]:
    report = _core.analyze([str(path)], threads=threads, flows=flows)
    return texts(report), [status.json for status in report.captures]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return all_kinds(tmp_path_factory.mktemp("crowd") / "all")


@pytest.mark.parametrize("threads", THREADS)
def test_flows_of_all_kinds(crowd: Path, threads: int) -> None:
    assert told(crowd, threads) == told(crowd, 1)


@pytest.mark.parametrize("threads", THREADS)
def test_more_flows_than_are_followed(tmp_path: Path, threads: int) -> None:
    path = syns(tmp_path / "flood.pcap", 70_000)

    assert told(path, threads) == told(path, 1)


@pytest.mark.parametrize("threads", THREADS)
def test_selected_flows_keep_their_numbers(crowd: Path, threads: int) -> None:
    everything, _ = told(crowd, 1)
    chosen = [7, 3, 12]
    selected, _ = told(crowd, threads, flows=chosen)

    assert sorted(json.loads(flow)["id"] for flow in selected) == sorted(chosen)
    assert set(selected) < set(everything)


@pytest.mark.parametrize("kind", [bench.long, bench.short])
def test_a_long_file_of_short_records_which_two_threads_read(tmp_path: Path, kind: Callable[[], bench.Capture]) -> None:
    path = tmp_path / "long.pcap"
    with path.open("wb") as out:
        kind().write(out, 50_000)
    assert path.stat().st_size > LONG

    assert told(path, 2) == told(path, 1)


@given(st.integers(1, 400), st.integers(0, 2**32), st.sampled_from(THREADS))
def test_flows_that_end_long_after_each_other(stretch: int, seed: int, threads: int) -> None:
    """Connections that are over stay for two minutes, half-open ones for four."""
    start, luck = MANY[0].time_ns, random.Random(seed)
    frames = [
        replace(frame, time_ns=start + (frame.time_ns - start) * stretch) for frame in MANY if luck.random() < 0.95
    ]
    with TemporaryDirectory() as name:
        path = write(Path(name) / "long", frames)

        assert told(path, threads) == told(path, 1)
