"""An Analysis, or a comparison of two, as one HTML file that needs nothing else."""

from tcpstall.report.html.diff import diff_page
from tcpstall.report.html.page import MadeBy, Source, page

__all__ = ["MadeBy", "Source", "diff_page", "page"]
