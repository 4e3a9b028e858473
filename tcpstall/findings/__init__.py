"""Findings: the same cause at the same service over many flows, ranked by the time that a change could give back."""

from tcpstall.findings.advice import advice, gain, remedy
from tcpstall.findings.as_json import finding_row, findings_json
from tcpstall.findings.finding import Example, Finding
from tcpstall.findings.ranking import findings, ranked
from tcpstall.findings.telling import Telling, first_to_see, led, telling
from tcpstall.findings.words import evidence, headline, sentence, where

__all__ = [
    "Example",
    "Finding",
    "Telling",
    "advice",
    "evidence",
    "finding_row",
    "findings",
    "findings_json",
    "first_to_see",
    "gain",
    "headline",
    "led",
    "ranked",
    "remedy",
    "sentence",
    "telling",
    "where",
]
