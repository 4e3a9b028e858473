"""Distance of the unchanged replay from captures without a truth: every flow with a handshake and enough segments."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcpstall import _core, analyze
from tcpstall.errors import TcpstallError
from tests.whatif.fidelity import off

LEAST_SEGMENTS = 20


@dataclass(frozen=True, slots=True)
class Replayed:
    """One flow. `refused` may be set although its replay fits: another reason speaks against a prediction."""

    capture: str
    flow: int
    fits: bool
    by_itself: bool
    """It fits without a pace that was fitted to the captured time."""
    refused: str


def replayed(captures: Iterable[Path]) -> Iterator[Replayed]:
    """The flows of all captures; one that cannot be read is named on stderr."""
    for capture in captures:
        try:
            flows = [flow for flow in analyze(capture, bursts=False, strict=False) if flow.handshake.complete]
            ids = [flow.id for flow in flows if flow.segments >= LEAST_SEGMENTS]
            texts = _core.whatif([str(capture)], ids, [[("think", 10**15)]])
        except TcpstallError as error:
            print(f"{capture}: {error}", file=sys.stderr)
            continue
        for flow, text in zip(ids, texts, strict=True):
            if text is None:
                continue
            row = json.loads(text)
            fits = off(row) <= 1
            itself = fits and off(row, "without_pace" if row["without_pace"] else "replayed") <= 1
            yield Replayed(capture.name, flow, fits, itself, row["refused"] or "")


def render(found: Sequence[Replayed]) -> str:
    """A line for each flow that misses, how many fit, and the refusals by reason."""
    lines = [f"{one.capture} flow {one.flow}: {one.refused or 'misses'}" for one in found if not one.fits]
    fitting, alone = sum(one.fits for one in found), sum(one.by_itself for one in found)
    lines.append(
        f"{fitting} of {len(found)} flows with a handshake and {LEAST_SEGMENTS} segments fit: "
        f"{fitting / len(found):.1%}; "
        f"{alone} ({alone / len(found):.1%}) by the model itself, {fitting - alone} at a fitted pace"
    )
    reasons = Counter(one.refused for one in found if one.refused)
    lines += [f"refused {count}: {reason}" for reason, count in reasons.most_common()]
    return "\n".join(lines)
