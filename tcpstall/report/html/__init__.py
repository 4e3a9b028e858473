"""An Analysis as one HTML file that needs nothing else."""

from tcpstall.report.html.page import MadeBy, Source, page

__all__ = ["MadeBy", "Source", "page"]
