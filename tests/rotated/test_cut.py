"""A capture cut into files that are read as one gives what the whole capture gives."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall import _core, analyze
from tests.formats.encapsulation import FOUR, LINKS, SIX, TUNNELS, Wrapping
from tests.formats.fixture import datagrams, fragments, wrapped
from tests.properties.frames import read_frames
from tests.rotated.cutting import (
    CAPTURES,
    KINDS,
    a_little_out_of_order,
    as_one,
    cut,
    flows,
    of_fixture,
    of_many_flows,
    stalls,
    warned,
    write,
)
from tests.scene import Scene

MANY = of_many_flows()


@pytest.mark.parametrize("name", CAPTURES)
def test_five_files_hold_the_flows_of_the_one(tmp_path: Path, name: str) -> None:
    frames = of_fixture(name)
    whole = _core.analyze([write(tmp_path / "whole", frames)])

    parts = as_one(cut(tmp_path, frames, [len(frames) * part // 5 for part in range(1, 5)]))

    assert flows(parts) == flows(whole)
    assert len(whole) > 0
    assert parts.services_json == whole.services_json
    assert len(parts.captures) == 5


@given(st.lists(st.integers(1, len(MANY)), min_size=1, max_size=9), st.lists(st.sampled_from([*KINDS]), min_size=1))
def test_wherever_and_however_it_is_cut_the_flows_are_the_same(cuts: list[int], kinds: list[str]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        whole = _core.analyze([write(folder / "whole", MANY)])
        parts = cut(folder, MANY, cuts, kinds)

        read = as_one(parts)

    assert flows(read) == flows(whole)
    assert warned(read) == [{}] * len(parts)


@given(st.permutations(range(6)), st.sampled_from([1, None]))
def test_the_order_in_which_files_are_given_does_not_matter(order: list[int], threads: int | None) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        parts = cut(folder, MANY, [len(MANY) * part // 6 for part in range(1, 6)])
        whole = _core.analyze([write(folder / "whole", MANY)])

        read = as_one([parts[place] for place in order], threads=threads)

    assert flows(read) == flows(whole)
    begins = [json.loads(status.json)["first_packet"] for status in read.captures]
    assert begins == [1 + len(MANY) * place // 6 for place in order]


@given(st.data())
def test_packets_stored_a_little_out_of_order_stay_so_wherever_the_cut_is(data: st.DataObject) -> None:
    frames = data.draw(a_little_out_of_order(of_fixture("lab/rpc-30k/sender.pcap")))
    cuts = data.draw(st.lists(st.integers(1, len(frames)), min_size=1, max_size=5))
    with TemporaryDirectory() as name:
        folder = Path(name)
        whole = _core.analyze([write(folder / "whole", frames)])

        assert flows(as_one(cut(folder, frames, cuts))) == flows(whole)


@pytest.mark.parametrize("version", [FOUR, SIX])
@given(st.data())
def test_fragments_find_each_other_across_files(version: int, data: st.DataObject) -> None:
    packets = datagrams(CAPTURES[1], version=version)
    frames = wrapped([part for packet in packets for part in fragments(packet, 1_200)], LINKS["Ethernet"])
    cuts = data.draw(st.lists(st.integers(1, len(frames) - 1), min_size=1, max_size=6))
    with TemporaryDirectory() as name:
        folder = Path(name)
        whole = _core.analyze([write(folder / "whole", frames)])

        assert flows(as_one(cut(folder, frames, cuts))) == flows(whole)


@pytest.mark.parametrize("tunnel", TUNNELS.values(), ids=TUNNELS)
def test_tunnels_go_on_in_the_next_file(tunnel: Wrapping, tmp_path: Path) -> None:
    frames = wrapped(datagrams(CAPTURES[1], version=tunnel.version or FOUR), tunnel)
    whole = _core.analyze([write(tmp_path / "whole", frames)])

    assert flows(as_one(cut(tmp_path, frames, [1, 2, len(frames) // 2]))) == flows(whole)


def test_each_flow_names_the_file_in_which_it_began(tmp_path: Path) -> None:
    parts = cut(tmp_path, MANY, [len(MANY) // 3, 2 * len(MANY) // 3])
    firsts = [json.loads(status.json)["first_ns"] for status in _core.analyze(parts).captures]

    read = as_one(parts).flows

    starts = zip(read.column("start_ns"), read.column("capture"), strict=True)
    assert all(capture == sum(first <= start for first in firsts) - 1 for start, capture in starts)
    assert len(set(read.column("capture"))) > 1


def test_pastes_and_captures_make_one_stream_too(tmp_path: Path, scene: Scene) -> None:
    scene.download(120_000)
    whole, lines = scene.capture(), scene.capture(kind="text").read_text().splitlines(keepends=True)
    frames = read_frames(whole)
    third = len(frames) // 3
    (tmp_path / "b").write_text("".join(lines[third : 2 * third]))
    (tmp_path / "c").write_text("".join(lines[2 * third :]))

    read = as_one([write(tmp_path / "a", frames[:third]), str(tmp_path / "b"), str(tmp_path / "c")])

    assert stalls(read) == stalls(_core.analyze([str(whole)]))
    assert [json.loads(status.json)["first_packet"] for status in read.captures] == [1, third + 1, 2 * third + 1]


def test_by_themselves_files_are_read_as_before(tmp_path: Path) -> None:
    parts = cut(tmp_path, MANY, [len(MANY) // 2])

    apart, numbered = _core.analyze(parts), _core.analyze(parts, sets=[7, 3])

    assert flows(apart) == flows(numbered)
    assert apart.flows.column("capture") == numbered.flows.column("capture")
    assert all("first_packet" not in status.json and "stream" not in status.json for status in apart.captures)


def test_two_sets_are_two_streams(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = of_fixture(CAPTURES[0]), of_fixture(CAPTURES[1])
    first, second = cut(tmp_path / "a", one, [20, 40]), cut(tmp_path / "b", other, [30])
    mixed = [first[1], second[1], first[0], second[0], first[2]]

    read = _core.analyze(mixed, sets=[1, 0, 1, 0, 1])

    alone = [*flows(as_one(first)), *flows(as_one(second))]
    assert [json.loads(text)["segments"] for text in flows(read)] == [json.loads(text)["segments"] for text in alone]
    assert [json.loads(status.json)["stream"] for status in read.captures] == [0, 1, 0, 1, 0]


def test_samples_of_the_stream_have_the_ids_and_packets_of_its_flows(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole", MANY)
    parts = cut(tmp_path, MANY, [len(MANY) * part // 5 for part in range(1, 5)])
    ids = _core.analyze([whole]).flows.column("flow")

    read = _core.samples(parts, ids, sets=[0] * 5)

    for one, other in zip(read, _core.samples([whole], ids), strict=True):
        assert len(one) > 0
        assert all(one.column(name) == other.column(name) for name in one.names)


def test_the_library_reads_sets_and_merges(tmp_path: Path) -> None:
    parts = cut(tmp_path, MANY, [len(MANY) // 2])

    in_set, merged, apart = analyze(parts, sets=[0, 0]), analyze(parts, merge=True), analyze(parts)

    assert len(in_set) == len(merged) < len(apart)
    assert [capture.stream for capture in merged.captures] == [0, 0]
    assert [capture.first_packet for capture in merged.captures] == [1, 1 + len(MANY) // 2]
    assert [capture.stream for capture in apart.captures] == [None, None]
    with pytest.raises(ValueError, match="sets or merge"):
        analyze(parts, sets=[0, 0], merge=True)


def test_a_number_for_each_path_or_none() -> None:
    with pytest.raises(ValueError, match="2 sets for 1 paths"):
        _core.analyze(["a"], sets=[0, 0])
