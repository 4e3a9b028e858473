"""Samples of a flow come apart into the series of the end that is drawn."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcpstall.plot import series

UNKNOWN = int(np.iinfo(np.int64).min)
ACK: dict[str, Any] = {"kind": "ack", "bytes": 0, "seq": 1}


@dataclass
class Rows:
    """A stand-in for the native table."""

    rows: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        return [row.get(name) for row in self.rows]

    def int64(self, name: str) -> bytes:
        return np.array([row.get(name, UNKNOWN) for row in self.rows], np.int64).tobytes()


def read(*rows: dict[str, Any]) -> series.Series:
    return series.read(Rows(list(rows)), "server", start_ns=100)  # type: ignore[arg-type]


def data(at: int, seq: int, size: int, **more: Any) -> dict[str, Any]:
    return {"time_ns": at, "sender": "server", "kind": "data", "seq": seq, "bytes": size, **more}


def ack(at: int, number: int, **more: Any) -> dict[str, Any]:
    return {"time_ns": at, "sender": "client", "ack": number, **ACK, **more}


def test_data_and_acks_of_the_other_direction_are_left_out() -> None:
    drawn = read(
        {"time_ns": 100, "sender": "client", "kind": "data", "seq": 1, "bytes": 147, "ack": 1},
        {"time_ns": 110, "sender": "server", "ack": 148, "in_flight_bytes": 999, **ACK},
        data(120, 1, 1000, ack=148, in_flight_bytes=1000),
        ack(150, 1001, in_flight_bytes=0),
    )
    assert list(drawn.data.at_ns) == [20]
    assert (drawn.data.low[0], drawn.data.high[0]) == (1, 1001)
    assert list(drawn.acked.level) == [1, 1001]
    assert list(drawn.in_flight.level) == [1000, 0]


def test_the_window_is_what_its_edge_leaves_beyond_the_last_ack() -> None:
    drawn = read(ack(100, 1, edge=5001), data(110, 1, 1000, edge=5001), ack(120, 1001, edge=5001), ack(130, 1001))
    np.testing.assert_array_equal(drawn.window.level, [5000, 5000, 4000, np.nan])


def test_an_old_ack_does_not_pull_the_line_back() -> None:
    drawn = read(ack(100, 1001), ack(110, 501))
    assert list(drawn.acked.level) == [1001, 1001]


def test_rows_out_of_order_are_sorted_by_time() -> None:
    drawn = read(data(130, 1001, 500), data(110, 1, 1000))
    assert list(drawn.data.at_ns) == [10, 30]
    assert list(drawn.data.low) == [1, 1001]


def test_retransmissions_probes_and_sack_blocks_have_series_of_their_own() -> None:
    drawn = read(
        data(100, 1, 1000, kind="retransmission"),
        data(110, 0, 0, kind="probe"),
        ack(120, 1, sack_left=2001, sack_right=3001),
    )
    assert [len(spans.at_ns) for spans in (drawn.data, drawn.retransmissions, drawn.probes, drawn.sacks)] == [
        0,
        1,
        1,
        1,
    ]
    assert (drawn.sacks.low[0], drawn.sacks.high[0]) == (2001, 3001)


def test_a_round_trip_belongs_to_the_byte_that_its_ack_reached() -> None:
    drawn = read(
        data(100, 1, 1000),
        {"time_ns": 105, "sender": "server", "ack": 148, "rtt_ns": 7, **ACK},  # of the client's data
        ack(110, 1001, rtt_ns=10),
        ack(115, 1001),
        {"time_ns": 120, "sender": "client", "kind": "data", "seq": 1, "bytes": 5, "ack": 2001},
        data(130, 2001, 500, rtt_ns=25),  # what the client's data acknowledged, told at the next row
    )
    assert list(drawn.round_trips.at_ns) == [10, 30]
    assert list(drawn.round_trips.position) == [1001, 2001]
    assert list(drawn.round_trips.rtt_ns) == [10, 25]


def test_a_flow_without_segments_has_empty_series() -> None:
    drawn = read()
    assert not len(drawn.data.at_ns)
    assert not len(drawn.window.level)
    assert not len(drawn.round_trips.rtt_ns)
