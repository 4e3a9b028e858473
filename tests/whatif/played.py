"""A scene's flow played again, as values that a test compares."""

from dataclasses import dataclass

from tcpstall.whatif import Change, Forecast, Outcome, change, whatif
from tests.scene import Scene
from tests.scene.network import Tap


@dataclass(frozen=True, slots=True)
class Played:
    """The scene's flow with one set of changes; milliseconds."""

    forecast: Forecast

    @property
    def outcome(self) -> Outcome:
        """Of the one set that was asked for."""
        (outcome,) = self.forecast.outcomes
        return outcome

    @property
    def captured_ms(self) -> float:
        assert self.forecast.captured is not None, self.forecast.refused
        return self.forecast.captured.transfer_ns / 1e6

    @property
    def replayed_ms(self) -> float:
        assert self.forecast.replayed is not None, self.forecast.refused
        return self.forecast.replayed.transfer_ns / 1e6

    @property
    def after_ms(self) -> float:
        return self.outcome.transfer.expected_ns / 1e6


def changes(*texts: str) -> list[Change]:
    return [change(text) for text in texts]


def played(scene: Scene, *texts: str, tap: Tap | None = None, drop: tuple[int, ...] = ()) -> Played:
    """Without a change: one that changes nothing."""
    together = changes(*texts) or [Change("think", 10**15)]
    (forecast,) = whatif(scene.capture(tap, drop=drop), changes=[together]).forecasts
    return Played(forecast)
