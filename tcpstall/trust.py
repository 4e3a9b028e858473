"""How far results can be trusted: what a capture lacks of a flow, and of all its flows together."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["CaptureTrust", "Trust"]


@dataclass(frozen=True, slots=True)
class Trust:
    """What the capture lacks of a flow, and what its labels lose by that.

    `level` is `high`, `medium` (some waits cannot be judged, or by less than there could be) or `low` (most waits
    cannot be judged, or rest on guesses): the worst that any of the `reasons` makes it.

    | reason | level | what the labels lose |
    | --- | --- | --- |
    | `one-sided` | low | only one end's packets are there: neither round trips nor windows are known |
    | `handshake-missing`, `handshake-partial` | medium | the congestion window is not known, nor MSS and options |
    | `scale-unknown` | low | more than ten segments were in flight against a window of unknown scale |
    | `scale-inferred` | medium | the window scale rests on how flights filled the window |
    | `options-cut` | medium | the snap length cut TCP options: no SACK, no timestamps |
    | `data-unseen` | medium, low | acknowledged data is missing, in at least 1 %, or half, of rounds of ten segments |
    | `acks-unseen` | medium | data was never acknowledged nor sent again: the ACKs that came are not in the capture |
    | `packets-left-out` | medium | whoever pasted the capture left packets out |
    | `clock-stepped` | medium | packets are stamped earlier than those before them: waits around look too short |
    | `vantage-unknown` | medium | no round trip tells which ACK reached the sender before which data |
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


@dataclass(frozen=True, slots=True)
class CaptureTrust:
    """What a capture lacks, over the flows reported of it; `dropped_packets` is None where the capture does not say."""

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
