"""Restarts of the congestion window after an idle period, as the laboratory recognises them."""

import pytest

from tests.tools.lab.hosts.series import Series
from tests.tools.lab.truths.moments import OPEN
from tests.tools.lab.truths.restarts import idle_restarts
from tests.tools.lab.truths.wire import Wire

Sample = tuple[float, int, int]


def windows(samples: list[Sample]) -> list[tuple[int, int]]:
    """Of samples of time, window and segments in flight: the windows before and after each restart."""
    columns: dict[str, list[float]] = {"t": [], "cwnd": [], "unacked": []}
    for sample in samples:
        for column, value in zip(columns.values(), sample, strict=True):
            column.append(value)
    same = dict.fromkeys(("total_retrans", "backoff"), [0] * len(samples)) | {"ca_state": [OPEN] * len(samples)}
    return [(one["cwnd_before"], one["cwnd_after"]) for one in idle_restarts(Series(columns | same), Wire())]


@pytest.mark.parametrize(
    "samples",
    [
        [(0.1, 425, 59), (0.2, 425, 0), (1.7, 10, 10)],
        [(0.1, 425, 59), (0.2, 425, 0), (1.7, 425, 10), (1.7001, 10, 10)],
    ],
)
def test_a_window_that_falls_after_an_idle_is_one_even_if_a_sample_saw_the_segments_first(
    samples: list[Sample],
) -> None:
    assert windows(samples) == [(425, 10)]


@pytest.mark.parametrize(
    "samples", [[(0.1, 425, 59), (0.2, 420, 50), (0.3, 300, 40)], [(0.1, 425, 59), (0.2, 425, 58), (0.3, 10, 10)]]
)
def test_a_window_that_falls_in_mid_flight_is_none(samples: list[Sample]) -> None:
    assert windows(samples) == []
