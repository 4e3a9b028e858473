"""`python -m tests.formats CAPTURE …`: packet and TCP counts beside tshark's; folders give their files."""

import sys
from pathlib import Path

from tests.formats.tshark import TSHARK, Comparison, compare

_SHOWN = 6


def _files(arguments: list[str]) -> list[Path]:
    given = [Path(argument) for argument in arguments]
    return [path for each in given for path in (sorted(each.rglob("*")) if each.is_dir() else [each]) if path.is_file()]


def _line(found: Comparison) -> str:
    counts = [
        f"{side.packets} packets, {len(side.tcp)} TCP" if side else "unread" for side in (found.ours, found.theirs)
    ]
    verdict = "agrees" if found.agrees else "DIFFERS"
    parts = [f"{verdict:8}{found.path.name}: exit {found.exit_code}; tcpstall {counts[0]}; tshark {counts[1]}"]
    parts += [f"    only tcpstall: {_some(found.only_ours)}"] if found.only_ours else []
    parts += [f"    only tshark: {_some(found.only_theirs)}"] if found.only_theirs else []
    parts += [f"    tcpstall says: {found.error}"] if found.error else []
    parts += [f"    tshark says: {found.their_error}"] if found.their_error else []
    return "\n".join(parts)


def _some(numbers: list[int]) -> str:
    more = f" … {len(numbers)} in all" if len(numbers) > _SHOWN else ""
    return " ".join(map(str, numbers[:_SHOWN])) + more


def main() -> int:
    """1 where a count differs."""
    if TSHARK is None:
        print("tests.formats: tshark is not installed")
        return 2
    compared = [compare(path) for path in _files(sys.argv[1:])]
    for found in compared:
        print(_line(found))
    print(f"{sum(found.agrees for found in compared)} of {len(compared)} agree")
    return 0 if all(found.agrees for found in compared) else 1


if __name__ == "__main__":
    sys.exit(main())
