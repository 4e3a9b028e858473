"""Signals that end the event loop: they cancel its task, as Ctrl-C does, and come once more after it."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import cast

__all__ = ["Ending"]


class Ending:
    """Signal that ends the process, kept out of the event loop: an exception amid a task is reported as unhandled."""

    def __init__(self) -> None:
        self._came: int | None = None

    @contextmanager
    def cancels(self) -> Iterator[None]:
        """Within the loop: SIGTERM and SIGHUP, where the process handles them itself, cancel the task that runs."""
        loop, task = asyncio.get_running_loop(), cast("asyncio.Task[None]", asyncio.current_task())

        def cancel(number: int, _frame: FrameType | None) -> None:
            self._came = number
            loop.call_soon_threadsafe(task.cancel)

        handled = [number for number in (signal.SIGTERM, signal.SIGHUP) if callable(signal.getsignal(number))]
        before = {number: signal.signal(number, cancel) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def again(self) -> None:
        """After the loop: the signal that came goes to the process's own handler."""
        if self._came is not None:
            signal.raise_signal(self._came)
