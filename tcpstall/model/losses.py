"""The path at the losses of one end's data."""

from tcpstall.records import record

__all__ = ["Losses"]

_LOSSES = 3
"""Fewer losses show no pattern."""


@record(frozen=True, slots=True)
class Losses:
    """The path at losses: at how many a queue stood, and at how many none did; of the others it is unknown.

    `queue_ns` is the median delay in the queue, `limit_bytes` the flight at which nearly all lost segments were sent,
    and `rate_bytes_per_s` the rate at which data passed from loss to loss; None is unknown, or no such
    flight or rate.
    """

    counted: int
    queued: int
    unqueued: int
    queue_ns: int | None
    limit_bytes: int | None
    rate_bytes_per_s: int | None = None

    @property
    def at_a_limit(self) -> bool:
        """True where the path let no larger burst through, or no more than a rate."""
        return self.limit_bytes is not None or self.rate_bytes_per_s is not None

    @property
    def met_a_queue(self) -> bool:
        """True where a queue stood at nearly all losses."""
        return self._are_nearly_all(self.queued)

    @property
    def met_none(self) -> bool:
        """True where nearly all losses met no queue; or a third, hardly any a queue, and one rate passed between."""
        some = self.unqueued >= _LOSSES and 3 * self.unqueued >= self.counted and 5 * self.queued <= self.counted
        return self._are_nearly_all(self.unqueued) or (self.rate_bytes_per_s is not None and some)

    def _are_nearly_all(self, some: int) -> bool:
        return some >= _LOSSES and 5 * some >= 4 * self.counted
