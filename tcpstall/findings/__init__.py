"""Findings: the same cause at the same service over many flows, ranked by the time that a change could give back."""

from typing import TYPE_CHECKING

from tcpstall.lazy import importer

if TYPE_CHECKING:
    from tcpstall.findings.as_json import finding_row, findings_json
    from tcpstall.findings.changes import advice, gain, remedy
    from tcpstall.findings.choice import Telling, first_to_see, led, telling
    from tcpstall.findings.finding import Example, Finding
    from tcpstall.findings.proof import essence, evidence
    from tcpstall.findings.ranking import findings, idle_ns, ranked
    from tcpstall.findings.words import headline, sentence, where

__all__ = [
    "Example",
    "Finding",
    "Telling",
    "advice",
    "essence",
    "evidence",
    "finding_row",
    "findings",
    "findings_json",
    "first_to_see",
    "gain",
    "headline",
    "idle_ns",
    "led",
    "ranked",
    "remedy",
    "sentence",
    "telling",
    "where",
]

__getattr__ = importer(
    __name__,
    {
        **dict.fromkeys(("advice", "gain", "remedy"), "changes"),
        **dict.fromkeys(("finding_row", "findings_json"), "as_json"),
        **dict.fromkeys(("Example", "Finding"), "finding"),
        **dict.fromkeys(("findings", "idle_ns", "ranked"), "ranking"),
        **dict.fromkeys(("Telling", "first_to_see", "led", "telling"), "choice"),
        **dict.fromkeys(("essence", "evidence"), "proof"),
        **dict.fromkeys(("headline", "sentence", "where"), "words"),
    },
)
"""The JSON report needs no flow in full."""
