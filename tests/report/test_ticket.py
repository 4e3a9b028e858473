"""Text for tickets: what it says, and that each form stays inside its own rules."""

import re
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcpstall import Cause
from tcpstall.model import IdleClose, Service
from tcpstall.report.ticket import FORMS, Detail, Picture, content
from tcpstall.report.ticket.blocks import Block, Foreign, Heading, Items, Paragraph, Strong, Table
from tests.report.flows import Canned, capture, flow, stall

WAITED = flow(
    stall(Cause.RWND_LIMITED, 30, evidence={"last_packet": 5, "freed_by_packet": 7, "next_packet": 8}),
    stall(Cause.APP_LIMITED, 5, at_ms=60),
    label="GET /report host.example",
)
OTHER = flow(stall(Cause.PACING, 2), id=1)


def ticket(form: str, *flows: object, detail: Detail | None = None, **of_capture: object) -> str:
    analysis = Canned(list(flows), [capture(**of_capture)])  # type: ignore[arg-type]
    return FORMS[form](content(analysis, detail or Detail(), "tcpstall analyze a.pcap", "1.2.3"))


def unwrapped(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("form", FORMS)
def test_it_holds_verdict_ledger_stalls_advice_trust_and_what_made_it(form: str) -> None:
    text = unwrapped(ticket(form, WAITED))
    for told in (
        "lost 45.0 ms (45 %), 2 stalls",
        "rwnd-limited (30 %)" if form == "text" else "30.0 ms rwnd-limited",
        "hange what makes it rwnd-limited (30.0 ms rwnd-limited)",
        "5->7->8" if form == "text" else "5→7→8",
        "sending",
        "How far to trust this",
        "20 packets",
        "1.2.3",
        "tcpstall analyze",
    ):
        assert told in text


def test_the_ledger_sums_to_the_flow() -> None:
    lines = ticket("text", WAITED).split("Where the time went")[1].split("Stalls\n")[0].splitlines()
    spans = [float(found[1]) for line in lines if (found := re.search(r"([\d.]+) ms", line))]
    assert sum(spans[:-1]) == pytest.approx(spans[-1])


def test_shorter_stalls_are_counted_where_they_are_left_out() -> None:
    text = unwrapped(ticket("text", WAITED, detail=Detail(min_stall_ns=10_000_000)))
    assert "and 1 shorter stall: 5.0 ms app-limited" in text


def test_several_flows_are_ranked_and_those_left_out_counted() -> None:
    text = ticket("markdown", OTHER, WAITED, flow(id=2), detail=Detail(listed=2, explained=1))
    assert "Flow 0, the worst of 3" in text
    assert "All 3 flows together lost" in text
    assert "| 0 | 192.0.2.1:40000 → 192.0.2.2:443 |" in text
    assert "and 1 more flow" in text
    assert "## Flow 0" in text
    assert "## Flow 1" not in text


def test_advice_that_several_flows_share_is_given_once_with_the_sum() -> None:
    text = ticket("markdown", WAITED, flow(stall(Cause.RWND_LIMITED, 12), id=1))
    assert text.count("hange what makes it rwnd-limited (42.0 ms rwnd-limited)") == 1


def test_services_that_reuse_would_help_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def service(port: int, avoidable: int) -> Service:
        idle = IdleClose("server", 5_000_000_000, 2)
        return Service(
            "192.0.2.9", port, 1, 4, 8, 4, 40_000_000, avoidable, 30_000_000, 0, 4, idle if avoidable else None
        )

    analysis = Canned([WAITED, OTHER])
    monkeypatch.setattr(analysis, "services", (service(443, 3), service(80, 0)))
    text = unwrapped(FORMS["text"](content(analysis, Detail(), "tcpstall analyze a.pcap", "1.2.3")))
    assert "192.0.2.9:443: 4 connections, 2 exchanges each: reuse would have saved 3 of 4 handshakes" in text
    assert "the server closes connections that were idle for 5.00 s" in text
    assert "192.0.2.9:80" not in text


@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_diagnose_is_said(form: str) -> None:
    assert "no packets in it" in ticket(form, packets=0)


def test_nothing_is_said_of_what_could_not_be_read() -> None:
    assert not ticket("markdown", exit_code=4, error="a.pcap is no capture").strip()


@pytest.mark.parametrize("form", FORMS)
def test_what_is_wrong_with_a_capture_is_said(form: str) -> None:
    assert "damaged" in ticket(form, WAITED, exit_code=5, error="a.pcap is damaged")


def test_pictures_are_linked_as_each_form_finds_them() -> None:
    detail = Detail(
        pictures=[Picture("my plots/timeline.png", "the waits")],
        pictures_of={0: [Picture("my plots/flow-0.png", "flow 0")]},
    )
    assert "![the waits](my%20plots/timeline.png)" in ticket("markdown", WAITED, detail=detail)
    assert "![flow 0](my%20plots/flow-0.png)" in ticket("markdown", WAITED, detail=detail)
    assert "!flow-0.png|width=" in ticket("jira", WAITED, detail=detail)
    assert "Picture my plots/flow-0.png: flow 0" in ticket("text", WAITED, detail=detail)


def test_plain_text_is_ascii_in_lines_that_a_mail_keeps() -> None:
    many = [flow(stall(Cause.RWND_LIMITED, 30, detail="small-buffer"), id=number) for number in range(12)]
    text = ticket("text", *many)
    assert text.isascii()
    commands = [line for line in text.splitlines() if line.startswith("    ")]
    assert len(commands) == 4
    assert max(len(line) for line in text.splitlines() if line not in commands) <= 100
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_a_table_too_wide_for_a_mail_becomes_a_list() -> None:
    def table(width: int) -> str:
        return FORMS["text"]([Table(("cause", "a → b"), [[["x" * width], ["y" * 40]]])])

    assert table(30).splitlines()[1] == f"{'x' * 30}  {'y' * 40}"
    assert table(80).splitlines()[0].startswith(f"- cause {'x' * 80}")


words = st.text(alphabet="ab |*_-+~`<>[]{}!^#\\?\n1.", max_size=12).filter(lambda text: "\n" not in text)


@given(words, words)
@example(own="", foreign="\\|")
def test_every_row_of_a_table_has_its_cells(own: str, foreign: str) -> None:
    table = Table(("one", "two"), [[[own, Strong("x")], [Foreign(foreign)]]])
    bare = re.sub(r"\\.", "", FORMS["markdown"]([table]).splitlines()[-1])
    assert bare.count("|") == 3
    bare = re.sub(r"\\.", "", FORMS["jira"]([table]).splitlines()[-1])
    assert bare.count("|") == 3


@given(words)
def test_own_text_opens_no_markup(own: str) -> None:
    blocks: Iterable[Block] = [Heading(2, [own]), Paragraph([own]), Items([[own]])]
    assert not re.search(r"(?<!\\)[`*<>|~]", re.sub(r"^(#+|-) |\\\\", "", FORMS["markdown"](blocks), flags=re.M))
    assert not re.search(r"(?<!\\)[{}\[\]|!^~]", FORMS["jira"](blocks))
