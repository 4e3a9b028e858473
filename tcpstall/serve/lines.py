"""Standard input as lines, so that a signal ends the wait for the next one."""

import os
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel

__all__ = ["Lines"]

_PIECE = 1 << 16


class Lines:
    """The lines of a descriptor; the MCP package's own reader waits in a thread that nothing but input can end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        held = b""
        while piece := await self._piece():
            *lines, held = (held + piece).split(b"\n")
            for line in lines:
                yield line.decode("utf-8", "replace")

    async def _piece(self) -> bytes:
        try:
            await anyio.wait_readable(self._descriptor)
        except PermissionError:
            await anyio.lowlevel.checkpoint()  # epoll(7) takes no regular files: these never wait
        return os.read(self._descriptor, _PIECE)
