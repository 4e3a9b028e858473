"""The kernel's account of the same connections: pasted output of `ss -tinmo`, read, matched to flows, compared."""

from tcpstall.advice.sockets.agreement import Held, Remark, held_against, word_on
from tcpstall.advice.sockets.matching import Matched, matched
from tcpstall.advice.sockets.paste import Paste, Socket, read_paste

__all__ = ["Held", "Matched", "Paste", "Remark", "Socket", "held_against", "matched", "read_paste", "word_on"]
