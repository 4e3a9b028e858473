"""States of a live capture, from the thread that reads it to the one that shows them."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Self

from tcpstall.live import State

__all__ = ["Arrivals"]


class Arrivals:
    """Iterates over states as they come. `descriptor` can be waited for (select) beside the keyboard."""

    def __init__(self, states: Iterable[State], stop: Callable[[], None]) -> None:
        """Begins to read in a thread of its own, which ends soon after `stop` was called."""
        self._stop = stop
        self._queue: SimpleQueue[State | BaseException | None] = SimpleQueue()
        self.descriptor, self._bell = os.pipe()
        self._last: State | None = None
        self._over = False
        self._thread = threading.Thread(target=self._read, args=(states,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._thread.join()
        os.close(self.descriptor)
        os.close(self._bell)

    def __iter__(self) -> Iterator[State]:
        while (state := self.next()) is not None:
            yield state

    def next(self) -> State | None:
        """The next one, as soon as it is there; None behind the last. Raises what ended the reading."""
        arrived = self._queue.get()
        os.read(self.descriptor, 1)
        self._over = not isinstance(arrived, State)
        if isinstance(arrived, BaseException):
            raise arrived
        self._last = arrived or self._last
        return arrived

    def last(self) -> State | None:
        """The last one of all; waits for it, and lets go of those before. None where the reading failed before any."""
        while not self._over:
            self.next()
        return self._last

    def _read(self, states: Iterable[State]) -> None:
        end: BaseException | None = None
        try:
            for state in states:
                self._tell(state)
        except BaseException as error:
            end = error
        self._tell(end)

    def _tell(self, what: State | BaseException | None) -> None:
        self._queue.put(what)
        os.write(self._bell, b"!")
