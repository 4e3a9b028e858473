"""Quantiles of distributions that are kept as classes, each with its number and its sum."""

from collections.abc import Sequence
from typing import Any

from tcpstall.archive.asking.session import Session

__all__ = ["of_classes"]

_PARTS = 20
"""The tenths and the 95th percentile are whole twentieths."""


def of_classes(asked: Session, source: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    """`tenths` and `p95` by the columns `keys`, as quantile_disc gives them where a class has one value.

    `source` is SQL with these columns, `class`, `n`, `time_ns` and `most_ns`: several rows may be of one class.
    """
    by = ", ".join(keys)
    *tenths, p95 = (f"min(value) FILTER ({_PARTS} * upto >= {part} * n)" for part in (*range(2, _PARTS, 2), 19))
    # Wide numbers make the sums over so many rows slow: numbers of classes are narrow ones.
    classes = (
        f"SELECT {by}, sum(n)::BIGINT AS n, sum(time_ns)::DOUBLE AS time_ns, max(most_ns) AS most_ns "
        f"FROM ({source}) GROUP BY {by}, class"
    )
    running = (
        f"SELECT {by}, most_ns, round(time_ns / n)::BIGINT AS value, sum(n) OVER (PARTITION BY {by})::BIGINT AS n, "
        f"(sum(n) OVER (PARTITION BY {by} ORDER BY time_ns / n))::BIGINT AS upto FROM ({classes})"
    )
    listed = ", ".join((*tenths, "max(most_ns)"))
    return asked.rows(f"SELECT {by}, [{listed}] AS tenths, {p95} AS p95 FROM ({running}) GROUP BY {by}")
