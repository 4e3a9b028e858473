"""Standard input as lines, so that a signal ends the wait for the next one."""

import os
from collections.abc import AsyncIterator
from contextlib import suppress

import anyio

from tcpstall.errors import CannotOpen

__all__ = ["Lines"]

_PIECE = 1 << 16


class Lines:
    """The lines of a descriptor; the MCP package's own reader waits in a thread that nothing but input can end.

    Raises CannotOpen where it cannot be read.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        held = b""
        while piece := await self._piece():
            *lines, held = (held + piece).split(b"\n")
            for line in lines:
                yield line.decode("utf-8", "replace")

    async def _piece(self) -> bytes:
        with suppress(PermissionError):  # epoll(7) takes no regular files: these never wait
            await anyio.wait_readable(self._descriptor)
        try:
            return os.read(self._descriptor, _PIECE)
        except OSError as error:
            raise CannotOpen(f"cannot read standard input: {error.strerror}") from error
