"""An Analysis for reading in a terminal: the answer, the flows, their stalls."""

from tcpstall.report.page import render

__all__ = ["render"]
