"""Files that are read one after the other, each behind what was left open before it, give what all give at once."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall import _core
from tests.formats.encapsulation import FOUR, LINKS, SIX, TUNNELS
from tests.formats.fixture import datagrams, fragments, wrapped
from tests.properties.frames import Frame
from tests.rotated.cutting import (
    CAPTURES,
    KINDS,
    a_little_out_of_order,
    as_one,
    cut,
    flows,
    of_fixture,
    of_many_flows,
    one_by_one,
    write,
)

MANY = of_many_flows()


def at_once(folder: Path, frames: Sequence[Frame]) -> list[str]:
    return flows(_core.analyze([write(folder / "whole", frames)]))


some_cuts = st.lists(st.integers(1, len(MANY)), min_size=1, max_size=9)


@given(some_cuts, st.lists(st.sampled_from([*KINDS]), min_size=1), st.sampled_from([1, None]))
def test_wherever_and_however_it_is_cut_the_flows_are_the_same(
    cuts: list[int], kinds: list[str], threads: int | None
) -> None:
    with TemporaryDirectory() as name:
        parts = cut(Path(name), MANY, cuts, kinds)

        assert one_by_one(parts, threads=threads) == at_once(Path(name), MANY)


def test_each_packet_may_be_a_file(tmp_path: Path) -> None:
    frames = of_fixture(CAPTURES[1])[:120]
    parts = cut(tmp_path, frames, range(1, len(frames)))

    assert one_by_one(parts) == at_once(tmp_path, frames)


@given(st.data())
def test_packets_stored_a_little_out_of_order_go_where_they_belong(data: st.DataObject) -> None:
    frames = data.draw(a_little_out_of_order(of_fixture("lab/rpc-30k/sender.pcap")))
    cuts = data.draw(st.lists(st.integers(1, len(frames)), min_size=1, max_size=5))
    with TemporaryDirectory() as name:
        parts = cut(Path(name), frames, cuts)

        assert one_by_one(parts) == at_once(Path(name), frames)


@pytest.mark.parametrize("version", [FOUR, SIX])
@given(st.data())
def test_fragments_find_each_other(version: int, data: st.DataObject) -> None:
    packets = datagrams(CAPTURES[1], version=version)
    frames = wrapped([part for packet in packets for part in fragments(packet, 1_200)], LINKS["Ethernet"])
    cuts = data.draw(st.lists(st.integers(1, len(frames) - 1), min_size=1, max_size=6))
    with TemporaryDirectory() as name:
        parts = cut(Path(name), frames, cuts)

        assert one_by_one(parts) == at_once(Path(name), frames)


def test_tunnels_and_connections_without_an_answer_go_on(tmp_path: Path) -> None:
    frames = wrapped(datagrams(CAPTURES[1]), next(iter(TUNNELS.values())))
    syns = [frame for frame in frames if frame is frames[0]] + frames[40:]
    for number, some in enumerate((frames, syns)):
        folder = tmp_path / str(number)
        folder.mkdir()
        parts = cut(folder, some, [1, 2, 3, len(some) // 2])
        assert one_by_one(parts) == at_once(folder, some)


def test_packets_that_the_next_file_repeats_count_once(tmp_path: Path) -> None:
    """Two taps on one interface that take turns: the second begins with packets that the first has."""
    near = [Frame(10**18 + 1_000 * place, frame.data, frame.length, frame.link) for place, frame in enumerate(MANY)]
    for at in (50, 200, len(near) // 2):
        parts = [write(tmp_path / f"{at}-{part}", some) for part, some in enumerate((near[:at], near[at - 20 :]))]
        assert one_by_one(parts) == at_once(tmp_path, near)


def test_waits_across_a_file_that_was_cut_short_are_not_judged(tmp_path: Path) -> None:
    frames = of_fixture(CAPTURES[1])
    parts = cut(tmp_path, frames, [len(frames) // 2])
    first = Path(parts[0])
    first.write_bytes(first.read_bytes()[:-7])

    told = one_by_one(parts)

    assert told == flows(as_one(parts))
    assert told != at_once(tmp_path, frames)


def test_only_what_is_new_is_told_and_numbers_run_on(tmp_path: Path) -> None:
    later = [Frame(frame.time_ns + 600 * 10**9, frame.data, frame.length, frame.link) for frame in MANY]
    parts = cut(tmp_path, [*MANY, *later], [len(MANY) // 3, len(MANY) + 9])
    first = _core.analyze(parts[:2], sets=[0, 0], puts_down=True)
    assert first.stream is not None
    before = _core.stream_captures(first.stream)
    assert set(before) <= set(parts[:2])

    sets = [0] * (len(before) + 1)
    rest = _core.analyze([*before, parts[2]], sets=sets, new_from=len(before), stream=first.stream)

    numbers, at_end = first.flows.column("flow"), first.flows.column("at_end")
    over = {number for number, goes_on in zip(numbers, at_end, strict=True) if not goes_on}
    assert over
    assert not over & set(rest.flows.column("flow"))
    assert [status.path for status in rest.captures] == [*before, parts[2]]
    assert json.loads(rest.captures[-1].json)["first_packet"] == len(MANY) + 10
    assert rest.stream is None


def test_what_another_version_put_down_or_somebody_changed_is_refused(tmp_path: Path) -> None:
    stream = _core.analyze([write(tmp_path / "one", MANY)], puts_down=True).stream
    assert stream is not None
    version = int.from_bytes(stream[:2], "little")
    other = (version + 1).to_bytes(2, "little") + stream[2:]
    with pytest.raises(ValueError, match=f"of version {version + 1}, this tcpstall continues version {version}"):
        _core.stream_captures(other)
    with pytest.raises(ValueError, match="cut or changed"):
        _core.analyze([], stream=b"")
    drawn = random.Random(4)
    for _ in range(200):
        try:
            _core.stream_captures(stream[: drawn.randrange(len(stream))])
        except ValueError:
            continue
        pytest.fail("a part of a stream was taken for all of it")
