"""An Analysis, a comparison of two, or what a store shows, as one HTML file that needs nothing else."""

from tcpstall.report.html.archive import archive_page
from tcpstall.report.html.diff import diff_page
from tcpstall.report.html.heat import finely
from tcpstall.report.html.page import MadeBy, Source, page

__all__ = ["MadeBy", "Source", "archive_page", "diff_page", "finely", "page"]
