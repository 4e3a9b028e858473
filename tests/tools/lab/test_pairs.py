"""The pairs: each is whole, its times are those of its captures, and what was asked for was really so."""

import gzip
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tcpstall
from tests.tools.lab.changes import hard_pairs, pairing
from tests.tools.lab.changes.pairing import dice, produce, slug
from tests.tools.lab.changes.pairs import Plan, plans
from tests.tools.lab.changes.situation import KNOBS, Situation, applied, changed
from tests.tools.lab.changes.timing import by_capture
from tests.tools.lab.network.namespaces import obstacle
from tests.tools.lab.scenario import SENDER
from tests.tools.lab.sets.vary import varied_plan

REPOSITORY = Path(__file__).parents[3]
FIXTURES = REPOSITORY / "fixtures" / "pairs"
PLANS = {plan.situation.name: plan for plan in plans()}
PAIRS = [(name, change) for name, plan in PLANS.items() for change in plan.changes]
CAPTURES = [(name, file) for name, plan in PLANS.items() for file in ("before", *map(slug, plan.changes))]

each_pair = pytest.mark.parametrize(("name", "change"), PAIRS)
each_capture = pytest.mark.parametrize(("name", "file"), CAPTURES)


def pair(name: str, change: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FIXTURES / name / f"{slug(change)}.json").read_text(encoding="ascii"))
    return read


def side(name: str, file: str) -> dict[str, Any]:
    """Account of one capture."""
    change = (
        PLANS[name].changes[0] if file == "before" else next(one for one in PLANS[name].changes if slug(one) == file)
    )
    said: dict[str, Any] = pair(name, change)["before" if file == "before" else "after"]
    return said


def situations(name: str) -> Iterator[Situation]:
    plan = PLANS[name]
    yield plan.situation
    for change in plan.changes:
        yield changed(plan.situation, change)


def test_there_are_enough_and_no_two_have_one_name() -> None:
    assert len(PLANS) == len(plans())
    assert len(PAIRS) >= 40
    assert sum(plan.ranked for plan in plans()) >= 10
    assert all(len(plan.changes) >= 3 for plan in plans() if plan.ranked)


def test_every_plan_has_its_files_and_no_other() -> None:
    planned = {f"{name}/{file}.pcap.gz" for name, file in CAPTURES}
    planned |= {f"{name}/{slug(change)}.json" for name, change in PAIRS}
    assert {str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("*/*")} == planned


def test_all_of_them_together_are_small() -> None:
    assert sum(path.stat().st_size for path in FIXTURES.glob("*/*")) <= 15 << 20


@each_pair
def test_a_pair_says_what_was_changed(name: str, change: str) -> None:
    said = pair(name, change)
    assert said["set"] == change.split()
    assert len(said["applied"]) == len(said["set"])
    assert {one.partition("=")[0] for one in said["set"]} <= KNOBS
    assert said["figures"] == json.loads(json.dumps(PLANS[name].situation.figures()))


@pytest.mark.parametrize("name", PLANS)
def test_each_change_changes_something(name: str) -> None:
    before, *after = situations(name)
    assert all(one != before for one in after)


@each_capture
def test_the_times_are_the_captures(name: str, file: str, tmp_path: Path) -> None:
    said = side(name, file)
    family = PLANS[name].situation.family
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(gzip.decompress((FIXTURES / name / said["capture"]).read_bytes()))
    own = socket.inet_pton(socket.AF_INET if family == 4 else socket.AF_INET6, SENDER[family])
    timing = by_capture(plain, own)
    assert timing.transfer_ns == said["transfer_ns"]
    assert list(timing.handshakes_ns) == said["handshakes_ns"]


@each_capture
def test_the_captures_clock_and_the_clients_agree(name: str, file: str) -> None:
    said = side(name, file)
    assert said["client_transfer_ns"] == pytest.approx(said["transfer_ns"], abs=1_500_000)


@each_capture
def test_tcpstall_finds_every_exchange_as_long_as_the_client_did(name: str, file: str) -> None:
    said = side(name, file)
    flows = sorted(tcpstall.analyze(FIXTURES / name / said["capture"]), key=lambda flow: flow.start_ns)
    found = [exchange.latency_ns for flow in flows for exchange in flow.exchanges]
    # A sender's capture does not show how long a response's last bytes stood in a queue on the path.
    share = 0.1 if PLANS[name].situation.rate else 0.02
    assert found == pytest.approx(said["client_exchanges_ns"], rel=share, abs=1_500_000)


@each_capture
def test_the_round_trip_was_as_asked_for(name: str, file: str) -> None:
    said = side(name, file)
    middle = sorted(said["handshakes_ns"])[len(said["handshakes_ns"]) // 2]
    assert middle == pytest.approx(said["rtt_asked_ns"], rel=0.05)


@each_capture
def test_the_kept_run_is_the_median_one(name: str, file: str) -> None:
    said = side(name, file)
    spread = said["runs"]["transfer_ns"]
    assert said["runs"]["count"] == PLANS[name].runs
    assert spread["min"] <= said["transfer_ns"] == spread["median"] <= spread["max"]


@pytest.fixture
def whatever_disturbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among other tests no run is clean, and twelve attempts at each would end in the same."""
    monkeypatch.setattr(pairing, "_ATTEMPTS", 1)


@pytest.mark.skipif(obstacle() is not None, reason=str(obstacle()))
@pytest.mark.usefixtures("whatever_disturbs")
def test_a_small_pair_is_made_anew(tmp_path: Path) -> None:
    plan = Plan(Situation("small", "30 KB at 10 ms", 10, response=(28_000,)), ("initcwnd=20",), runs=1)
    produce(plan, tmp_path / "small", tmp_path / "workshop")
    said = json.loads((tmp_path / "small" / "initcwnd-20.json").read_text(encoding="ascii"))
    # Round trips are counted, not timed: a busy machine adds milliseconds to either run, and takes none away.
    for side_of, waits, at_least in (("before", 1, 30e6), ("after", 0, 20e6)):
        (flow,) = tcpstall.analyze(tmp_path / "small" / said[side_of]["capture"])
        assert sum(stall.cause == "cwnd-limited" for stall in flow.stalls) == waits
        assert said[side_of]["transfer_ns"] >= at_least


@pytest.mark.parametrize("name", PLANS)
def test_drawn_anew_it_is_the_same_kind_of_situation(name: str) -> None:
    plan, drawn = PLANS[name], varied_plan(PLANS[name], 7)
    assert drawn == varied_plan(plan, 7)
    assert drawn.situation != plan.situation
    assert drawn.changes == plan.changes
    drawn_anew = {"rtt_ms", "request", "response", "think_ms"}
    assert plan.situation.figures().keys() - drawn_anew == drawn.situation.figures().keys() - drawn_anew


OF_THE_OTHER_END = {"client.initcwnd=40", "server.sndbuf=auto", "client.nodelay=1", "server.rcvbuf=auto"}
"""Changes of an end whose data or windows do not matter where they are made: nothing becomes of them."""


def test_each_hard_pair_changes_something_and_can_be_described() -> None:
    hard = hard_pairs.plans()
    assert len({plan.situation.name for plan in hard}) == len(hard)
    assert not {plan.situation.name for plan in hard} & PLANS.keys()
    for plan in hard:
        for change in plan.changes:
            assert len(applied(plan.situation, change)) == len(change.split())
            useless = (plan.situation.name.startswith("bbr") and change == "loss=0") or change in OF_THE_OTHER_END
            assert (changed(plan.situation, change) != plan.situation) is not useless


def test_situations_do_not_share_their_luck() -> None:
    """With the same seeds for all, nine throws would decide every lossy pair of every draw."""
    throws = {dice(name, number) for name in ("a~1", "a~2", "b~1") for number in range(9)}
    assert len(throws) == 27


@pytest.mark.skipif(obstacle() is not None, reason=str(obstacle()))
@pytest.mark.usefixtures("whatever_disturbs")
def test_a_pair_that_loses_packets_throws_other_dice_each_time(tmp_path: Path) -> None:
    lossy = Situation("lossy", "100 KB at 10 ms", 10, response=(100_000,), loss=0.1)
    produce(Plan(lossy, ("loss=0",), runs=2), tmp_path / "lossy", tmp_path / "workshop")
    said = json.loads((tmp_path / "lossy" / "loss-0.json").read_text(encoding="ascii"))
    assert said["before"]["repeated_bytes"] > 0
    assert said["after"]["repeated_bytes"] == 0
    spread = said["before"]["runs"]["transfer_ns"]
    assert spread["min"] < spread["max"]


@pytest.mark.parametrize("words", [["--pairs", "--list"], ["--pairs", "--hard", "--list"]], ids=" ".join)
def test_the_list_of_pairs_needs_no_root(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.lab", *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "initcwnd=40" in done.stdout
