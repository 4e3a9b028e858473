"""A remedy: who changes what, with which command on which platform, when that helps and what it risks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tcpstall.model import Side

__all__ = ["Check", "Platform", "Remedy", "Step", "bsd", "linux", "unknown", "windows"]


class Platform(StrEnum):
    """Whose commands; `bsd` is FreeBSD and macOS, and says where they differ."""

    LINUX = "linux"
    WINDOWS = "windows"
    BSD = "bsd"


@dataclass(frozen=True, slots=True)
class Step:
    """The change on one platform.

    `commands` are for a shell (PowerShell on Windows), `program` is what the application's source says instead or as
    well. Where both are empty `note` says why: nothing to do there, or no documented way.
    """

    commands: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    note: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change. `at` is the end that changes; `whatif` what `tcpstall whatif --set` calls it, None without."""

    title: str
    at: Side
    steps: Mapping[Platform, Step]
    helps_if: str
    risk: str
    source: str
    whatif: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Confirms a finding on a host before anything is changed: a command there, and what it would show."""

    at: Side
    platform: Platform
    command: str
    shows: str
    source: str


def linux(*commands: str, program: tuple[str, ...] = (), note: str = "", source: str = "") -> dict[Platform, Step]:
    """On Linux."""
    return {Platform.LINUX: Step(commands, program, note, source)}


def windows(*commands: str, program: tuple[str, ...] = (), note: str = "", source: str = "") -> dict[Platform, Step]:
    """On Windows."""
    return {Platform.WINDOWS: Step(commands, program, note, source)}


def bsd(*commands: str, program: tuple[str, ...] = (), note: str = "", source: str = "") -> dict[Platform, Step]:
    """On FreeBSD and macOS."""
    return {Platform.BSD: Step(commands, program, note, source)}


def unknown(platform: Platform, what: str) -> dict[Platform, Step]:
    """A step for a platform whose documentation names no way: nobody guesses."""
    return {platform: Step(note=f"unknown: {what}")}
