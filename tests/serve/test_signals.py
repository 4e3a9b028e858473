"""A signal in the midst of a task cancels it, and reaches the process's own handler after the loop."""

import asyncio
import signal

import pytest

from tcpstall.cli.process.signals import Signals
from tcpstall.errors import ExitCode
from tcpstall.serve.signals import Ending


async def interrupted(ending: Ending, number: signal.Signals, steps: list[str]) -> None:
    with ending.cancels():
        signal.raise_signal(number)
        steps.append("the task's step ends")
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, ExitCode.TERMINATED), (signal.SIGHUP, ExitCode.HUNG_UP)], ids=["TERM", "HUP"]
)
def test_a_signal_within_a_task_comes_once_more_after_the_loop(number: signal.Signals, code: ExitCode) -> None:
    ending, steps = Ending(), list[str]()
    with Signals() as signals:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(interrupted(ending, number, steps))
        assert steps == ["the task's step ends"]
        with pytest.raises(KeyboardInterrupt):
            ending.again()
        assert signals.exit_code is code


def test_a_signal_that_the_process_leaves_to_the_system_stays_with_it() -> None:
    async def handler() -> object:
        with Ending().cancels():
            return signal.getsignal(signal.SIGHUP)

    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    assert asyncio.run(handler()) is signal.SIG_DFL
