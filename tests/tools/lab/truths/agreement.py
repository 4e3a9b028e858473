"""Agreement of tcpstall's stalls with the kernel's spans: time that both give to the same limit."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tcpstall
from tcpstall import Cause, Flow, Stall

CAUSES = {
    "handshake": {Cause.HANDSHAKE},
    "rto": {Cause.RETRANSMISSION},
    "fast": {Cause.RETRANSMISSION},
    "tail": {Cause.RETRANSMISSION},
    "app": {Cause.APP_LIMITED},
    "zero-window": {Cause.ZERO_WINDOW},
    "rwnd": {Cause.RWND_LIMITED},
    "cwnd": {Cause.CWND_LIMITED},
    "idle-restart": {Cause.IDLE_RESTART},
    "nagle": {Cause.NAGLE, Cause.DELAYED_ACK},
    "delayed-ack": {Cause.NAGLE, Cause.DELAYED_ACK},
    "pacing": {Cause.PACING},
    "sndbuf": {Cause.SNDBUF_LIMITED},
    "bandwidth": {Cause.BANDWIDTH_LIMITED},
}
"""Causes in tcpstall of each label of the lab; some are told beside others alone."""


@dataclass(frozen=True, slots=True)
class Span:
    """One wait in the kernel's words, in the clock of a capture; times in seconds."""

    begin: float
    end: float
    label: str
    accepted: frozenset[Cause]

    @property
    def seconds(self) -> float:
        """Length of the wait."""
        return self.end - self.begin

    def agreed(self, stalls: list[Stall]) -> float:
        """Seconds of it that stalls with an accepted cause cover."""
        return sum(
            max(0.0, min(self.end, stall.end_ns / 1e9) - max(self.begin, stall.start_ns / 1e9))
            for stall in stalls
            if stall.cause in self.accepted
        )


@dataclass(frozen=True, slots=True)
class Fixture:
    """One experiment on disk."""

    folder: Path

    @property
    def truth(self) -> dict[str, Any]:
        """The kernel's record."""
        record: dict[str, Any] = json.loads((self.folder / "truth.json").read_text(encoding="ascii"))
        return record

    def flow(self, side: str) -> Flow:
        """The connection as tcpstall reads it in the capture of `sender` or `receiver`."""
        (flow,) = tcpstall.analyze(self.folder / f"{side}.pcap")
        return flow

    def waits(self, side: str) -> list[Stall]:
        """The stalls of the host that sends the data, and the handshake."""
        role = self.truth["connections"][0]["halves"][0]["role"]
        return [stall for stall in self.flow(side).stalls if stall.sender == role or stall.cause is Cause.HANDSHAKE]

    def spans(self, side: str) -> Iterator[Span]:
        """The sender's waits while there was data to send; travel of the last flight is nobody's stall."""
        truth = self.truth
        (connection,) = truth["connections"]
        half = connection["halves"][0]
        # A handshake is as long at either end, but the server's begins later than the client's.
        met = side == "receiver" and any(stall.cause is Cause.HANDSHAKE for stall in self.waits(side))
        shift = truth["params"]["one_way_us"] / 1e6 if side == "receiver" else 0.0
        for span in half["spans"]:
            endless = span["label"] in {"zero-window", "rto", "tail"}
            within = span["t_end"] <= half["t_last_data"] + 1e-6 or endless
            if span["label"] == "ambiguous" or not within or (met and span["label"] == "handshake"):
                continue
            labels = [span["label"]] if span["label"] == "idle-restart" else [span["label"], *span["alt"]]
            accepted = frozenset(cause for label in labels for cause in CAUSES[label])
            yield Span(span["t_start"] + shift, span["t_end"] + shift, span["label"], accepted)
