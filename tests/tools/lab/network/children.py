"""Child processes that run one function in a namespace, at real-time priority."""

import contextlib
import gc
import os
import sys
import traceback
from collections.abc import Callable

from tests.tools.lab.network.namespaces import enter


def spawn(namespace: str | None, priority: int, work: Callable[[], None]) -> int:
    """Forks; the child enters the namespace, does the work and exits. Returns its process id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        gc.disable()
        if namespace:
            enter(namespace)
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
