"""Rules as they are written on the command line and in a file; what is wrong with one is told in one line."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from tcpstall.check import Limit, Rule
from tcpstall.cli.options.rules import read_rules, together, written
from tcpstall.errors import ExitCode
from tests.check.flows import Told, played, thinking
from tests.documents import DOCS

MS = 1_000_000


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("lost=20%", Rule("max lost=20%", "lost", Limit("share", Fraction(1, 5)))),
        ("lost = .5 %", Rule("max lost=.5 %", "lost", Limit("share", Fraction(1, 200)))),
        ("nagle=1.5ms", Rule("max nagle=1.5ms", "nagle", Limit("time", Fraction(1_500_000)))),
        ("gone=1flow", Rule("max gone=1flow", "gone", Limit("flows", Fraction(1)))),
        ("total-pacing=2s", Rule("max total-pacing=2s", "pacing", Limit("time", Fraction(2_000 * MS)), "total")),
        ("p5-latency=0", Rule("max p5-latency=0", "latency", Limit("time", Fraction(0)), "each", 5)),
        ("growth=150%", Rule("max growth=150%", "growth", Limit("share", Fraction(3, 2)), "growth")),
        ("growth-nagle=1ms", Rule("max growth-nagle=1ms", "nagle", Limit("time", Fraction(MS)), "growth")),
        ("retransmitted=150%", Rule("max retransmitted=150%", "retransmitted", Limit("share", Fraction(3, 2)))),
    ],
)
def test_a_limit_is_read_with_its_unit(text: str, rule: Rule) -> None:
    assert together({}, written([text], [])) == [rule]


def test_names_are_forbidden_together_and_each_is_a_rule() -> None:
    rules = together({}, written([], ["zero-window, gone", "growth-nagle"]))
    assert [rule.text for rule in rules] == ["forbid zero-window", "forbid gone", "forbid growth-nagle"]
    assert [rule.limit.unit for rule in rules] == ["flows", "flows", "time"]


@pytest.mark.parametrize(
    ("option", "text", "hint"),
    [
        ("--max", "lots=1s", "did you mean lost?"),
        ("--max", "p95-cwnd=1s", "did you mean cwnd-limited"),
        ("--max", "=1s", "there are handshake, "),
        ("--max", "", "write NAME=LIMIT"),
        ("--max", "lost", "write NAME=LIMIT"),
        ("--max", "lost=", "write a time such as 200ms or a share such as 20% or 3flows"),
        ("--max", "lost=20", "write a time such as 200ms or"),
        ("--max", "lost=-1ms", "'-1ms' is no limit of lost"),
        ("--max", "lost=101%", "a share never exceeds 100%"),
        ("--max", "latency=20%", "write a time such as 200ms"),
        ("--max", "refused=1s", "write a share such as 20% or 3flows"),
        ("--max", "p95-lost=3flows", "write a time such as 200ms"),
        ("--max", "p95-gone=1flow", "p95-gone cannot be limited"),
        ("--max", "p100-lost=1s", "nothing called 'p100-lost'"),
        ("--max", "total-latency=1s", "cannot be limited"),
        ("--max", "growth-lost=1s", "cannot be limited"),
        ("--max", "growth=3flows", "write a time such as 200ms or a share such as 20%"),
        ("--max", f"lost={'9' * 5_000}%", "is no limit of lost"),
        ("--forbid", "latency", "limit it: --max latency=200ms"),
        ("--forbid", "total-lost", "limit it: --max total-lost=200ms"),
        ("--forbid", "gone,nagel", "did you mean nagle?"),
        ("--forbid", "gone,", "there is nothing called ''"),
        ("--forbid", "\x1b[31m", "there is nothing called"),
    ],
)
def test_what_is_no_rule_is_told_in_a_line_with_what_to_write(told: Told, option: str, text: str, hint: str) -> None:
    code, shown = told.run("nowhere.pcap", f"{option}={text}")
    assert (code, shown) == (ExitCode.USAGE, "")
    (line,) = told.error.splitlines()
    assert line.startswith(f"tcpstall: {option} ")
    assert hint in line
    assert "\x1b" not in line


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[max", "Expected ']'"),
        ("max = 1\nmax = 2", "Cannot overwrite a value"),
        ("forbid = [" + "[" * 5_000, "is no TOML: "),
        ("x = " + "9" * 5_000, "is no TOML: "),
        ("limit = 1", "'limit' is no key of a file of rules; "),
        ("forbidden = 'gone'", "did you mean forbid or"),
        ("max = 'lost=20%'", "max is no table: write [max]"),
        ("[max]\nlots = '1s'", "max 'lots': there is nothing called 'lots'; did you mean lost?"),
        ("[max]\nlost = 20", "max.lost holds what is no text: write it in quotes"),
        ("[max]\nlost = ['20%', 1]", "max.lost holds what is no text"),
        ("[max.total]\nlost = '20%'", "max.total holds what is no text"),
        ("forbid = 'latency'", "forbid 'latency' cannot be forbidden"),
        ("confidence = 2", "confidence: '2' is no confidence"),
        ("confidence = nan", "confidence: 'nan' is no confidence"),
        ("service = 'example'", "service: 'example' is no service: write :443"),
        ("service = ':0-9'", "names several ports"),
        ("cause = 'lost'", "cause: 'lost' is not one of"),
        ("#" * (1 << 20) + "#", "longer than a megabyte"),
    ],
)
def test_a_broken_file_of_rules_is_told_in_a_line_with_the_place(
    told: Told, tmp_path: Path, text: str, place: str
) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    code, shown = told.run("nowhere.pcap", "--rules", file)
    assert (code, shown) == (ExitCode.USAGE, "")
    (line,) = told.error.splitlines()
    assert line.startswith(f"tcpstall: {file}")
    assert place in line


def test_a_file_of_rules_that_is_no_text_or_not_there_is_told_in_a_line(told: Told, tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_bytes(b"\xff\xfe")
    for path, code in ((file, ExitCode.USAGE), (tmp_path / "gone", ExitCode.CANNOT_OPEN), (tmp_path, 3)):
        assert told.run("nowhere.pcap", "--rules", path) == (code, "")
        assert len(told.error.splitlines()) == 1


def test_a_file_holds_what_the_command_line_says(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(
        'service = [":443", "[2001:db8::1]:https"]\ncause = "nagle"\nconfidence = 1\n'
        'forbid = ["gone", "refused,zero-window"]\n'
        '[max]\nlost = ["20%", "2s"]\np95-latency = "250ms"\n'
    )
    found = read_rules(file)
    assert [(server.address, server.port) for server in found.services] == [(None, 443), ("2001:db8::1", 443)]
    assert (found.causes, found.confidence) == (("nagle",), 1.0)
    assert together(found.rules, {}) == together(
        {}, written(["lost=20%", "lost=2s", "p95-latency=250ms"], ["gone,refused,zero-window"])
    )


def test_the_documented_file_of_rules_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```", (DOCS / "check.md").read_text(), re.MULTILINE | re.DOTALL)
    file = tmp_path / "rules.toml"
    file.write_text(text)
    found = read_rules(file)
    assert [server.port for server in found.services] == [443]
    assert {"lost", "p95-latency", "zero-window", "refused"} <= set(found.rules)


def test_the_command_line_replaces_rules_of_the_same_name_and_keeps_all_others(told: Told, tmp_path: Path) -> None:
    path = played(tmp_path, thinking(300))
    file = tmp_path / "rules.toml"
    file.write_text('forbid = "app-limited"\nservice = ":443"\n[max]\nlost = ["1%", "1ms"]\ntotal-lost = "1ms"\n')
    assert told.run(path, "--rules", file)[0] == ExitCode.NOTHING_FITS
    rules = told.report(path, "--rules", file, "--service", ":80", "--max", "lost=1h", "--max", "app-limited=1h")[
        "rules"
    ]
    assert [(rule["rule"], rule["state"]) for rule in rules] == [
        ("max lost=1h", "holds"),
        ("max total-lost=1ms", "broken"),
        ("max app-limited=1h", "holds"),
    ]


def test_a_file_alone_is_enough_and_no_rule_at_all_is_none(told: Told, tmp_path: Path) -> None:
    path = played(tmp_path, thinking(300))
    file = tmp_path / "rules.toml"
    file.write_text("")
    assert told.run(path, "--rules", file)[0] == told.run(path)[0] == ExitCode.USAGE
    assert "no rule to check: give --max, --forbid, --rules or --baseline" in told.error
    file.write_text('max.lost = "1h"')
    assert told.run(path, "--rules", file)[0] == ExitCode.COMPLETE
