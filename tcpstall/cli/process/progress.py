"""A progress bar for inputs that take more than a second."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Bar", "drawn"]

_PATIENCE_S = 1.0


class Bar:
    """Called by the core with (bytes read, bytes in all); draws on standard error once a second has gone by.

    It is passed where nothing is drawn too: each call lets the interpreter notice Ctrl-C.
    """

    def __init__(self) -> None:
        self._wanted = sys.stderr.isatty()
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, read_bytes: int, all_bytes: int | None) -> None:
        """Draws once a second has passed."""
        if not self._wanted:
            return
        if self._progress is None:
            if time.monotonic() - self._started < _PATIENCE_S:
                return
            self._progress = drawn()
            self._task = self._progress.add_task("reading", total=all_bytes)
        if self._task is not None:
            self._progress.update(self._task, completed=read_bytes, total=all_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()


def drawn() -> "Progress":
    """A bar on standard error that goes on until it is stopped, with rate and time left."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from tcpstall.cli.process.terminal import colours

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, color_system=colours(sys.stderr)),
        transient=True,
    )
    progress.start()
    return progress
