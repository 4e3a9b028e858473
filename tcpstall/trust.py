"""Trust in results: the gaps of a capture in one flow, and in all of its flows together."""

import dataclasses
from collections.abc import Mapping

from tcpstall.records import record

__all__ = ["SURE", "CaptureTrust", "Trust"]

SURE = 0.8
"""Confidence from which a label is stated flatly: what is less sure is a guess, and is said to be probable."""


@record(frozen=True, slots=True)
class Trust:
    """Gaps of the capture in a flow, and the trust in the flow's labels that is left.

    `level` is `high`, `medium` (some waits cannot be judged, or by less than there could be) or `low` (most waits
    cannot be judged, or rest on guesses): the worst that any of the `reasons` makes it. `tcpstall help capture` lists
    the reasons with their levels and what the labels lose; their names are the core's
    (`_core.vocabulary()["trust_reasons"]`).
    """

    level: str = "high"
    reasons: tuple[str, ...] = ()
    vantage: str = "not known where"
    """`at the client`, `at the server`, `between the ends`, `not known where`."""
    handshake: str = "complete"
    """`complete`; `partial`, `missing` where the capture lacks it; `unfinished` where no connection came about."""
    window_scale: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """By end: `known`, `inferred` or `unknown`; the other end's data is judged by it."""
    offloaded_frames: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """By end that sent them: frames larger than a segment, not yet split (TSO) or merged again (GRO)."""
    duplicates_removed: int = 0
    unseen_bytes: int = 0
    """Data that was acknowledged and is not in the capture."""
    unseen_share: float | None = None
    """Its share of all data, 0 to 1; None without data."""
    clock_steps: int = 0
    options_cut: int = 0
    """Segments that the snap length cut inside their options."""
    one_sided: bool = False


@record(frozen=True, slots=True)
class CaptureTrust:
    """Gaps of a capture in the flows reported of it; `dropped_packets` is None where the capture does not say."""

    flows: int = 0
    flows_low: int = 0
    flows_medium: int = 0
    flows_without_handshake: int = 0
    flows_partial_handshake: int = 0
    flows_one_sided: int = 0
    flows_scale_unknown: int = 0
    flows_left_out: int = 0
    flows_clock_stepped: int = 0
    flows_options_cut: int = 0
    vantage: str | None = None
    """`at the client`, `at the server`, `between the ends`, where the flows with nearly all of the data agree."""
    duplicates_removed: int = 0
    unseen_bytes: int = 0
    unseen_share: float | None = None
    offloaded_frames: int = 0
    clock_steps: int = 0
    options_cut: int = 0
    dropped_packets: int | None = None
