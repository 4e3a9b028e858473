"""A paste of `ss` as words, whatever folded its lines: each socket's words are together again afterwards.

A mail folds lines at spaces, a terminal anywhere. `ss` itself breaks lines and pads them as wide as it likes, so line
ends mean nothing; a socket begins where two addresses with ports follow each other.
"""

import re
from collections.abc import Iterator, Sequence
from ipaddress import ip_address

from tcpstall.model import Endpoint

__all__ = ["CONGESTION_CONTROLS", "FLAGS", "endpoint", "groups", "words"]

FLAGS = frozenset({"ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "send", "pacing_rate", "delivery_rate"})
"""Words of iproute2's misc/ss.c that stand alone, or before a rate."""

CONGESTION_CONTROLS = frozenset(
    (
        "bbr", "bbr1", "bbr2", "bbr3", "bic", "brutal", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla",
        "illinois", "lp", "nv", "reno", "scalable", "vegas", "veno", "westwood", "yeah",
    )
)  # fmt: skip

_FOLDED = 60
"""A line shorter than this was not cut by a terminal."""

_LONGEST_ENDPOINT = 100
_LONGEST_WORD = 4_096

_BEGUN_RATE = re.compile(r"[0-9.]+[KMGT]?(?:b|bp)?")
_RATE = re.compile(r"[0-9.]+[KMGT]?bps")
_FIELD = re.compile(r"[a-z][a-z_]*:")
_PORT = re.compile(r"[0-9]{1,5}")
_NAMED_PORT = re.compile(r"[a-z][a-z0-9-]{0,30}")
_STATES = frozenset(
    (
        "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK",
        "LISTEN", "CLOSING", "UNKNOWN",
    )
)  # fmt: skip
_HEADINGS = frozenset({"State", "Netid", "Recv-Q"})
_NETS = frozenset({"tcp", "mptcp"})


def words(text: str) -> list[str]:
    """The words, with those joined again that a line's end cut."""
    found: list[str] = []
    folded = False
    for line in text.splitlines():
        own = line.split()
        if not own:
            folded = False
            continue
        if folded and not line[0].isspace() and len(found[-1]) <= _LONGEST_WORD and _goes_on(found[-1], own[0]):
            found[-1] += own.pop(0)
        found += (word for word in own if len(word) <= _LONGEST_WORD)
        folded = len(line) >= _FOLDED and not line[-1].isspace() and bool(found)
    return found


def _goes_on(before: str, after: str) -> bool:
    """True where a word was cut: `after` is no word of `ss`, and `before` is a word of it or its beginning."""
    if before.count("(") > before.count(")"):
        return True
    if after in FLAGS or after in CONGESTION_CONTROLS or after in _STATES or after in _NETS or _FIELD.match(after):
        # `notsent` cut before its figures is no whole word, and no figures follow it.
        return _is_beginning(before) and bool(_FIELD.match(before + after))
    if _looks_like_end(before) and _looks_like_end(after):
        return False
    if after in _HEADINGS:
        return False
    if _BEGUN_RATE.fullmatch(before):
        return bool(_RATE.fullmatch(before + after))
    return ":" in before or _is_beginning(before)


def _is_beginning(word: str) -> bool:
    """Of a field's name, not of a whole word that stands alone."""
    known = word in FLAGS or word in CONGESTION_CONTROLS or word in _STATES or word.isdigit()
    return bool(re.fullmatch(r"[a-z][a-z_]*", word)) and not known


def groups(
    found: Sequence[str], most: int
) -> Iterator[tuple[str, int, int, Endpoint | None, Endpoint | None, Sequence[str]]]:
    """Each socket, no more than `most`: state, Recv-Q, Send-Q, own end, peer, and the words about it.

    An end is None where its port is a name or it is no address of its own (`*:80`).
    """
    heads = _heads(found, most)
    for place, (start, ends) in enumerate(heads):
        following = heads[place + 1][0] if place + 1 < len(heads) else len(found)
        before = found[start:ends]
        state = next((word for word in before if word in _STATES), "ESTAB")
        queues = [int(word) for word in before if word.isdigit()]
        received, sent = queues if len(queues) == 2 else (0, 0)
        yield state, received, sent, endpoint(found[ends]), endpoint(found[ends + 1]), found[ends + 2 : following]


def _heads(found: Sequence[str], most: int) -> list[tuple[int, int]]:
    """Position of each socket's first word, and of its two ends."""
    heads: list[tuple[int, int]] = []
    index, free = 0, 0
    while index + 1 < len(found) and len(heads) < most:
        if not (_looks_like_end(found[index]) and _looks_like_end(found[index + 1])):
            index += 1
            continue
        start = index
        if start - 2 >= free and _is_queue(found[start - 1]) and _is_queue(found[start - 2]):
            start -= 2
        if start - 1 >= free and found[start - 1] in _STATES:
            start -= 1
        if start - 1 >= free and found[start - 1] in _NETS:
            start -= 1
        heads.append((start, index))
        index += 2
        free = index
    return heads


def _is_queue(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 10


def _looks_like_end(word: str) -> bool:
    if len(word) > _LONGEST_ENDPOINT:
        return False
    address, colon, port = word.rpartition(":")
    if not colon or not (port == "*" or _PORT.fullmatch(port) or _NAMED_PORT.fullmatch(port)):
        return False
    return address.partition("%")[0] == "*" or _address(address) is not None


def endpoint(word: str) -> Endpoint | None:
    """`10.0.0.1:80`, `[::1]:80`, `::1:80` of old versions, `[fe80::1]%eth0:80`; None for names and wildcards."""
    address, _, port = word.rpartition(":")
    plain = _address(address)
    if plain is None or not _PORT.fullmatch(port) or int(port) > 0xFFFF:
        return None
    return Endpoint(plain, int(port))


def _address(text: str) -> str | None:
    """The address without brackets and interface; an IPv4 one as such, however an IPv6 socket writes it."""
    bare = text.partition("%")[0].removeprefix("[").removesuffix("]")
    try:
        parsed = ip_address(bare)
    except ValueError:
        return None
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped or parsed)
