"""Rules as people write them: NAME=LIMIT on the command line, the same in a TOML file."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from tcpstall.causes import Cause
from tcpstall.check import GROWTH, LATENCY, NAMES, RETRANSMITTED, WORST, Limit, Over, Rule, ServedAt, Unit, units_of
from tcpstall.cli.options.quantities import SPAN
from tcpstall.cli.options.selection import PORTS
from tcpstall.errors import BadRules, CannotOpen

__all__ = ["CONFIDENCE", "SERVED_AT", "Written", "read_rules", "together", "written"]

Rules = Mapping[str, Sequence[Rule]]
"""By name, prefix included."""

_DECIMAL = r"\d{1,18}(?:\.\d{0,18})?|\.\d{1,18}"
_SHARE = re.compile(rf"({_DECIMAL})\s*%")
_RATIO = re.compile(_DECIMAL)
_FLOWS = re.compile(r"(\d{1,18})\s*flows?")
_PERCENTILE = re.compile(r"p([1-9]\d?)-(.+)")
_PERCENT = 100
_NEAR = 0.5

_WRITE: Mapping[Unit, str] = {"time": "a time such as 200ms", "share": "a share such as 20%", "flows": "3flows"}

_MOST_BYTES = 1 << 20
"""Of a file of rules."""


@dataclass(frozen=True, slots=True)
class Written:
    """Content of a file of rules; keys that the file lacks are empty."""

    rules: Rules
    services: tuple[ServedAt, ...] = ()
    causes: tuple[Cause, ...] = ()
    confidence: float | None = None


class _ServedAtType(click.ParamType[ServedAt]):
    """A port, at one address or at any."""

    name = "server"

    def convert(self, value: str | ServedAt, param: click.Parameter | None, ctx: click.Context | None) -> ServedAt:
        """`:443`, `:https`, `192.0.2.1:443`, `[2001:db8::1]:443`."""
        from ipaddress import ip_address

        if isinstance(value, ServedAt):
            return value
        host, colon, port = value.strip().rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        try:
            address = str(ip_address(bare)) if host else None
        except ValueError:
            colon = ""
        if not colon or (":" in bare) != host.startswith("["):
            self.fail(f"{value!r} is no service: write :443, 192.0.2.1:443 or [2001:db8::1]:443", param, ctx)
        ports = PORTS.convert(port, param, ctx)
        if len(ports) > 1:
            self.fail(f"{value!r} names several ports: give each by itself", param, ctx)
        return ServedAt(address, ports[0])


class _ConfidenceType(click.ParamType[float]):
    """A confidence from 0 to 1, or as a share."""

    name = "confidence"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """`0.8` or `80%`."""
        if isinstance(value, float):
            return value
        part = _share(value) if "%" in value else Fraction(value) if _RATIO.fullmatch(value.strip()) else None
        if part is None or part > 1:
            self.fail(f"{value!r} is no confidence: write a number from 0 to 1, such as 0.8", param, ctx)
        return float(part)


SERVED_AT = _ServedAtType()
CONFIDENCE = _ConfidenceType()


def written(limits: Iterable[str], forbidden: Iterable[str]) -> Rules:
    """The rules of the command line's options. Raises BadRules."""
    rules = [_limited(text, "--max") for text in limits]
    rules += [_forbidden(name, "--forbid") for names in forbidden for name in names.split(",")]
    return _by_name(rules)


def read_rules(path: Path) -> Written:
    """A file of rules. Raises CannotOpen, and BadRules with the place in it."""
    told = _toml(path)
    if unknown := [key for key in told if key not in _KEYS]:
        raise BadRules(f"{path}: {unknown[0]!r} is no key of a file of rules; {_suggested(unknown[0], _KEYS)}")
    table = told.get("max", {})
    if not isinstance(table, dict):
        raise BadRules(f'{path}: max is no table: write [max], and below it lines such as lost = "20%"')
    limits = [
        _limited(f"{name}={limit}", f"{path}: max")
        for name, several in table.items()
        for limit in _texts(several, f"{path}: max.{name}")
    ]
    names = _texts(told.get("forbid", []), f"{path}: forbid")
    forbidden = [_forbidden(one, f"{path}: forbid") for name in names for one in name.split(",")]
    return Written(
        _by_name(limits + forbidden),
        services=_converted(told, "service", SERVED_AT, path),
        causes=tuple(map(Cause, _converted(told, "cause", _CAUSE, path))),
        confidence=next(iter(_converted(told, "confidence", CONFIDENCE, path)), None),
    )


def together(file: Rules, line: Rules) -> list[Rule]:
    """All rules: a name on the command line replaces the file's rules of that name."""
    return [rule for rules in (dict(file) | dict(line)).values() for rule in rules]


_CAUSE = click.Choice([cause.value for cause in Cause])
_KEYS = ("max", "forbid", "service", "cause", "confidence")


def _by_name(rules: Iterable[Rule]) -> Rules:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        known = found.setdefault(_full_name(rule), [])
        if rule not in known:
            known.append(rule)
    return found


def _full_name(rule: Rule) -> str:
    return rule.text.partition(" ")[2].partition("=")[0]


def _limited(text: str, where: str) -> Rule:
    """The rule NAME=LIMIT; `where` names its place for errors."""
    full, equals, limit = (part.strip() for part in text.partition("="))
    if not equals:
        raise BadRules(f"{where} {text!r}: no limit; write NAME=LIMIT, such as cwnd-limited=200ms")
    name, over, percentile = _named(full, where)
    units = units_of(name, over, percentile)
    if not units:
        raise BadRules(f"{where} {text!r}: {full} cannot be limited; `tcpstall check --help` lists what can")
    found = _limit(limit)
    if found is None or found.unit not in units:
        raise BadRules(f"{where} {text!r}: {limit!r} is no limit of {full}; write {_or(units)}")
    if found.unit == "share" and found.value > 1 and over != "growth" and name != RETRANSMITTED:
        raise BadRules(f"{where} {text!r}: a share never exceeds 100%, so the rule would always hold")
    return Rule(f"max {full}={limit}", name, found, over, percentile)


def _forbidden(full: str, where: str) -> Rule:
    """The rule of --forbid: no flow may have the cause, or no cause may have grown."""
    name, over, percentile = _named(full.strip(), where)
    if over == "growth":
        return Rule(f"forbid {full.strip()}", name, Limit("time", Fraction(0)), over)
    if "flows" not in units_of(name, over, percentile):
        hint = f"; limit it: --max {full.strip()}=200ms" if name == LATENCY or over == "total" else ""
        raise BadRules(f"{where} {full!r} cannot be forbidden{hint}")
    return Rule(f"forbid {full.strip()}", name, Limit("flows", Fraction(0)))


def _named(full: str, where: str) -> tuple[str, Over, int]:
    """The name without its prefix, the measure that the prefix means, and the percentile."""
    name, percentile = full, WORST
    over: Over = "each"
    if found := _PERCENTILE.fullmatch(full):
        percentile, name = int(found[1]), found[2]
    elif full.startswith("total-"):
        over, name = "total", full.removeprefix("total-")
    elif full == GROWTH or full.startswith("growth-"):
        over, name = "growth", full.removeprefix("growth-")
    if name not in NAMES:
        raise BadRules(f"{where} {full!r}: there is nothing called {name!r}; {_suggested(name, NAMES)}")
    return name, over, percentile


def _limit(text: str) -> Limit | None:
    if flows := _FLOWS.fullmatch(text):
        return Limit("flows", Fraction(int(flows[1])))
    if (part := _share(text)) is not None:
        return Limit("share", part)
    try:
        return Limit("time", Fraction(SPAN.convert(text, None, None)))
    except click.BadParameter:
        return None


def _share(text: str) -> Fraction | None:
    found = _SHARE.fullmatch(text.strip())
    return Fraction(found[1]) / _PERCENT if found else None


def _or(units: Iterable[Unit]) -> str:
    return " or ".join(_WRITE[unit] for unit in units)


def _suggested(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=2, cutoff=_NEAR)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"


def _toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise CannotOpen(f"cannot open {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(text) > _MOST_BYTES:
        raise BadRules(f"{path} is no file of rules: it is longer than a megabyte")
    try:
        return tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise BadRules(f"{path} is no TOML: {error}") from error


def _texts(value: object, where: str) -> list[str]:
    """A string, or a list of them."""
    several: list[object] = value if isinstance(value, list) else [value]
    texts = [one for one in several if isinstance(one, str)]
    if len(texts) < len(several):
        raise BadRules(f'{where} holds what is no text: write it in quotes, such as "200ms"')
    return texts


def _converted(told: Mapping[str, Any], key: str, kind: click.ParamType[Any], path: Path) -> tuple[Any, ...]:
    """The values of a key, converted by the type of its option."""
    if key not in told:
        return ()
    value = str(told[key]) if isinstance(told[key], int | float) else told[key]
    try:
        return tuple(kind.convert(text, None, None) for text in _texts(value, f"{path}: {key}"))
    except click.BadParameter as error:
        raise BadRules(f"{path}: {key}: {error.message}") from error
