"""Packets of an interface, diagnosed while they come: tcpdump captures, the core reads on, an interval at a time."""

from tcpstall.live.following import Following
from tcpstall.live.ring import Ring
from tcpstall.live.state import Interval, Served, State
from tcpstall.live.tcpdump import Counts, Tcpdump

__all__ = ["Counts", "Following", "Interval", "Ring", "Served", "State", "Tcpdump"]
