"""Rules about growth: what `tcpstall diff` finds, and nothing else."""

from pathlib import Path

import pytest

from tcpstall.diff import compare
from tcpstall.errors import ExitCode
from tests.check.flows import Told, large, lossy, played, thinking
from tests.scene import Scene

LAB = Path(__file__).parents[2] / "fixtures" / "lab"
GOOD, BAD = (LAB / name / "sender.pcap" for name in ("initcwnd-100", "slowstart-512k"))


def test_a_cause_that_grew_breaks_the_rule_in_the_words_of_diff(told: Told) -> None:
    code, text = told.run(BAD, "--baseline", GOOD)
    assert code == ExitCode.BROKEN
    assert "broken   forbid growth: cwnd-limited grew from 13.5 ms to 33.9 ms a flow: slow start from 10" in text
    assert "stall 1: the server waited" in text
    assert "tcpstall explain " in text


def test_what_fell_and_what_did_not_change_breaks_no_rule(told: Told) -> None:
    assert told.state(GOOD, "--baseline", BAD) == "holds"
    assert told.state(BAD, "--baseline", BAD) == "holds"


def test_growth_is_limited_in_time_and_as_a_share_of_the_baseline(told: Told) -> None:
    (change,) = [one for one in compare(GOOD, BAD).services[0].proven if one.own_ns > 0]
    own, share = change.own_ns, 100 * change.own_ns / change.good_ns
    for name in ("growth", "growth-cwnd-limited"):
        assert told.state(BAD, "--baseline", GOOD, "--max", f"{name}={own}ns") == "holds"
        assert told.state(BAD, "--baseline", GOOD, "--max", f"{name}={own - 1}ns") == "broken"
        assert told.state(BAD, "--baseline", GOOD, "--max", f"{name}={share + 1:.3f}%") == "holds"
        assert told.state(BAD, "--baseline", GOOD, "--max", f"{name}={share - 1:.3f}%") == "broken"
    assert told.state(BAD, "--baseline", GOOD, "--max", "growth-retransmission=1ns") == "holds"


def test_noise_is_no_growth_however_small_the_limit(tmp_path: Path, told: Told) -> None:
    good, bad = played(tmp_path / "good", thinking(100)), played(tmp_path / "bad", thinking(104))
    (change,) = [one for one in compare(good, bad).services[0].changes if one.cause == "app-limited"]
    assert change.grew_ns > 3_000_000
    assert not change.proven
    assert told.state(bad, "--baseline", good, "--max", "growth=0") == "holds"


def test_a_new_cause_exceeds_every_share(tmp_path: Path, told: Told) -> None:
    good, bad = played(tmp_path / "good", large), played(tmp_path / "bad", lossy)
    (rule,) = told.report(bad, "--baseline", good, "--max", "growth-retransmission=100000%")["rules"]
    assert (rule["state"], rule["value"]) == ("broken", None)
    assert "retransmission is new" in rule["sentence"]


def test_cause_and_service_narrow_what_may_not_grow(tmp_path: Path, told: Told) -> None:
    good = played(tmp_path / "good", thinking(100), large)
    bad = played(tmp_path / "bad", thinking(600), large)
    assert told.state(bad, "--baseline", good) == "broken"
    assert told.state(bad, "--baseline", good, "--cause", "cwnd-limited") == "holds"
    assert told.state(bad, "--baseline", good, "--service", "10.0.0.2:80") == "broken"
    assert told.run(bad, "--baseline", good, "--service", ":81")[0] == ExitCode.NOTHING_FITS


def test_other_rules_are_checked_beside_the_growth(told: Told) -> None:
    rules = told.report(BAD, "--baseline", GOOD, "--max", "lost=100%", "--max", "growth-nagle=1ms")["rules"]
    assert [(rule["rule"], rule["state"]) for rule in rules] == [
        ("max lost=100%", "holds"),
        ("max growth-nagle=1ms", "holds"),
    ]


def test_growth_by_unsure_labels_alone_holds_with_a_word(tmp_path: Path, told: Told) -> None:
    def pause(folder: str, pause_ms: float) -> Path:
        (tmp_path / folder).mkdir()
        scene = Scene(tmp_path / folder)
        scene.handshake(rtt_ms=20)
        scene.request()
        scene.wait_ms(pause_ms)
        scene.server_sends(1_000)
        return scene.capture("server", drop=range(1, 4))

    good, bad = pause("good", 10), pause("bad", 3_000)
    assert told.state(bad, "--baseline", good) == "unsure"
    assert told.state(bad, "--baseline", good, "--confidence", "0") == "broken"


def test_captures_without_a_common_service_are_no_pass(tmp_path: Path, told: Told) -> None:
    good, bad = played(tmp_path / "good", large), played(tmp_path / "bad", large, port=81)
    code, text = told.run(bad, "--baseline", good)
    assert code == ExitCode.NOTHING_FITS
    assert "nothing  forbid growth: nothing to measure: the captures have no such service in common" in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((BAD, "--max", "growth=1ms"), "`max growth=1ms` needs a capture to compare with: give --baseline GOOD"),
        ((BAD, BAD, "--baseline", GOOD), "give one CAPTURE, and no standard input"),
        (("-", "--baseline", GOOD), "give one CAPTURE, and no standard input"),
        ((BAD, "--baseline", "-"), "give one CAPTURE, and no standard input"),
        ((BAD, "--baseline", GOOD, "--port", "80"), "choose them with --service"),
        ((BAD, "--baseline", GOOD, "--since", "+1s"), "choose them with --service"),
    ],
)
def test_what_a_baseline_cannot_do_is_a_plain_error(told: Told, arguments: tuple[object, ...], hint: str) -> None:
    code, text = told.run(*arguments)
    assert (code, text) == (ExitCode.USAGE, "")
    assert hint in told.error


def test_a_baseline_that_is_missing_or_damaged_has_its_code(tmp_path: Path, told: Told) -> None:
    assert told.run(BAD, "--baseline", tmp_path / "nowhere.pcap") == (ExitCode.CANNOT_OPEN, "")
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(BAD.read_bytes()[:-20])
    assert told.run(BAD, "--baseline", cut)[0] == ExitCode.DAMAGED
    assert len(told.error.splitlines()) == 1
