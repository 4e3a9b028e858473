"""Files that others have replaced are kept for a while: a reader may have looked up just before which files count."""

import time

__all__ = ["is_spared"]

_GRACE_NS = 60_000_000_000


def is_spared(since_ns: int | None) -> bool:
    """True of a file that was replaced at `since_ns`, ns since 1970, while readers may have it open."""
    return since_ns is not None and 0 <= time.time_ns() - since_ns < _GRACE_NS
