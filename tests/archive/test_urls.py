"""Captures behind URLs are found, read and recognised like those in folders."""

import gzip
import os
from pathlib import Path

import pytest

from tcpstall.archive.captures.discovery import Fingerprints, Tally, find, fingerprint, opened
from tcpstall.archive.storing.storage import at
from tcpstall.errors import CannotOpen, ExitCode
from tests.archive.found import NOISE, failed, found, readable
from tests.archive.trees import pcap, tar, written


@pytest.fixture(params=["memory", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return f"memory:/{tmp_path}"
    return f"{request.getfixturevalue('bucket')}/captures"


def test_urls_are_searched_like_folders(url: str) -> None:
    files = {
        "a.pcap": pcap(),
        "b/c.pcap.gz": gzip.compress(pcap()),
        "b/d.tar": tar({"e.pcap": pcap(), "big.pcap": pcap(packets=5000, filler=os.urandom(1400))}),
        "b/f.tar.gz": gzip.compress(tar({"g.pcap": pcap()})),
        "notes": b"hello",
        "noise.pcap": NOISE,
        "store/store.json": b'{"schema": "tcpstall.store/1"}',
        "store/x.pcap": pcap(),
    } | {f"many/{number}": pcap(number) for number in range(40)}
    place = at(url)
    for name, content in files.items():
        place.put(name, content)
    tally = Tally()
    inputs = found(url, tally=tally)
    many = [name for name in files if name.startswith("many")]
    names = ["a.pcap", "b/c.pcap.gz", "b/d.tar!/big.pcap", "b/d.tar!/e.pcap", "b/f.tar.gz!/g.pcap", *many]
    assert readable(inputs) == sorted(names)
    assert [inputs[f"many/{number}"].first_ns for number in range(40)] == [n * 1_000_000_000 for n in range(40)]
    assert failed(inputs) == {"noise.pcap": ExitCode.NOT_A_CAPTURE}
    assert tally == Tally(others=1, stores=1)
    assert all(one.changed_ns and one.size for one in inputs.values())
    for name in ("a.pcap", "b/d.tar!/big.pcap", "b/f.tar.gz!/g.pcap"):
        one = inputs[name]
        stream = opened(one.name)
        assert stream is not None
        with stream:
            assert len(stream.read()) == one.size
        assert fingerprint(one.name, one.size)
    assert [one.name for one in find([f"{url}/many/1*"])] == [f"{url}/many/{n}" for n in (1, *range(10, 20))]
    assert [one.name for one in find([f"{url}/notes"])] == [f"{url}/notes"]
    with pytest.raises(CannotOpen, match="nothing is there"):
        find([f"{url}/gone"])


def test_a_large_file_behind_a_url_is_read_in_ranges(bucket: str) -> None:
    content = os.urandom(13 << 20)
    at(bucket).put("large", content)
    stream = opened(f"{bucket}/large")
    assert stream is not None
    with stream:
        pieces = iter(lambda: stream.read(1 << 18), b"")
        assert b"".join(pieces) == content
    assert fingerprint(f"{bucket}/large", len(content)) != fingerprint(f"{bucket}/large", len(content) - 1)


def test_fingerprints_asked_for_in_any_order_are_the_same(url: str, tmp_path: Path) -> None:
    place = at(url)
    contents = {f"{number:02}": os.urandom(number * 100_000 + 1) for number in range(20)}
    for name, content in contents.items():
        place.put(name, content)
    written(tmp_path / "here", contents)
    wanted = [(f"{url}/{name}", len(content)) for name, content in contents.items()]
    here = [fingerprint(str(tmp_path / "here" / name), len(content)) for name, content in contents.items()]
    for order in (range(20), range(19, -1, -1), (0, 1, 7, 8, 9, 3, 3, 19)):
        with Fingerprints(wanted) as fingerprints:
            assert [fingerprints(*wanted[number]) for number in order] == [here[number] for number in order]
            with pytest.raises(CannotOpen, match="no such file"):
                fingerprints(f"{url}/gone", 5)
