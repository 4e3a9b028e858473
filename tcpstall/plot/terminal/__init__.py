"""Pictures made of characters, for a session over ssh: Braille dots where the terminal has them, ASCII elsewhere."""

from tcpstall.plot.terminal.charts import over_time
from tcpstall.plot.terminal.rows import exchanges, timeline
from tcpstall.plot.terminal.screen import Screen

__all__ = ["Screen", "exchanges", "over_time", "timeline"]
