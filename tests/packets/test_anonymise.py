"""An anonymised capture gives the same diagnosis, and nothing of whose connections they were."""

import json
import shutil
import stat
import subprocess
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from scapy.compat import raw
from scapy.layers.l2 import Ether

from tests.cli.conftest import Run
from tests.formats.containers import CONTAINERS, pcap
from tests.formats.encapsulation import EXTENSIONS, LINKS, TUNNELS, extended
from tests.formats.fixture import CHOSEN, datagrams, plain, told, wrapped
from tests.packets import traffic
from tests.packets.reader import packets
from tests.properties.frames import Frame
from tests.scene.verdict import flows_of

KEY = "a key for tests that everybody may know"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(KEY)
    return path


@pytest.fixture
def named(tmp_path: Path) -> Path:
    path = tmp_path / "s3cr3t.pcapng"
    path.write_bytes(traffic.capture())
    return path


def written(here: Run, command: str, source: Path, key: Path, *options: object, name: str = "out.pcapng") -> Path:
    output = source.with_name(name)
    done = here(command, source, "-o", output, "--anonymise", "--key", key, *options)
    assert done.returncode == 0, done.stderr
    return output


def expect_nobody_named(data: bytes) -> None:
    """No address, in bytes or in text, no MAC address, no word."""
    assert traffic.SECRET not in data
    for address in (*traffic.V4, *traffic.V6):
        assert ip_address(address).packed not in data, address
        assert address.encode() not in data, address
    for mac in traffic.MACS:
        assert bytes.fromhex(mac.replace(":", "")) not in data, mac
    # What the solicited-node group and the link-local address of a host are made of.
    assert bytes.fromhex("ff000099") not in data


def test_the_capture_of_names_names_everybody(named: Path) -> None:
    """Or else the search below finds nothing because there is nothing."""
    data = named.read_bytes()
    assert traffic.SECRET in data
    assert all(ip_address(address).packed in data for address in (*traffic.V4, *traffic.V6))


def test_an_annotated_capture_names_nobody(here: Run, named: Path, key: Path) -> None:
    output = written(here, "annotate", named, key)
    expect_nobody_named(output.read_bytes())
    small, whole = packets(output), packets(named)
    assert [(each.time_ns, each.length, each.link) for each in small] == [
        (each.time_ns, each.length, each.link) for each in whole
    ]


@pytest.mark.parametrize("name", ["small.pcap", "small.pcapng"])
def test_an_extract_names_nobody(here: Run, named: Path, key: Path, name: str) -> None:
    for flow in flows_of(named):
        output = written(here, "extract", named, key, "--flow", flow["id"], name=name)
        assert len(packets(output)) > 0
        expect_nobody_named(output.read_bytes())


@pytest.mark.parametrize("form", ["table", "json", "ndjson", "csv", "markdown", "jira", "text"])
def test_a_report_names_nobody(here: Run, named: Path, key: Path, form: str) -> None:
    done = here("analyze", named, "--format", form, "--anonymise", "--key", key, COLUMNS="200")
    expect_nobody_named(done.stdout.encode())
    expect_nobody_named(done.stderr.encode())
    assert "capture-1" in done.stdout.replace("&#45;", "-") or form == "csv"
    assert traffic.SECRET.decode() in here("analyze", named, "--format", "json").stdout


def test_a_page_names_nobody(here: Run, named: Path, key: Path) -> None:
    output = named.with_name("page.html")
    done = here("report", named, "-o", output, "--anonymise", "--key", key, "--host", traffic.V4[0])
    assert done.returncode == 0, done.stderr
    page = output.read_text()
    expect_nobody_named(page.encode())
    assert "capture-1" in page
    assert "tcpstall report --anonymise capture-1" in page


def test_a_ticket_with_pictures_names_nobody(here: Run, named: Path, key: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    options = ["--format", "markdown", "--plots", folder, "--plot-format", "svg"]
    done = here("analyze", named, *options, "--anonymise", "--key", key)
    assert done.returncode == 0, done.stderr
    expect_nobody_named(done.stdout.encode())
    assert list(folder.iterdir())
    for picture in folder.iterdir():
        expect_nobody_named(picture.read_bytes())


def test_a_picture_names_nobody(here: Run, capture: Path, key: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.svg"
    done = here("plot", capture, "-o", output, "--anonymise", "--key", key)
    assert done.returncode == 0, done.stderr
    assert "192.168.247.1" not in output.read_text()


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_comparison_names_nobody(here: Run, named: Path, key: Path, form: str) -> None:
    done = here("diff", named, named, "--format", form, "--anonymise", "--key", key, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    expect_nobody_named(done.stdout.encode())


def test_what_cannot_be_opened_is_not_named_either(here: Run, tmp_path: Path) -> None:
    done = here("analyze", tmp_path / "s3cr3t.pcap", "--format", "json", "--anonymise")
    assert done.returncode == 3
    assert json.loads(done.stdout)["captures"][0]["error"] == "cannot open capture-1: no such file"


def in_capture(frame: bytes, path: Path) -> Path:
    path.write_bytes(pcap([Frame(10**18, frame, len(frame), 1)]))
    return path


@pytest.mark.parametrize("name", traffic.with_checksums())
@pytest.mark.parametrize("off_by", [0, 1, 0x1234])
def test_checksums_stay_as_right_or_wrong_as_they_were(
    here: Run, name: str, off_by: int, tmp_path: Path, key: Path
) -> None:
    frame = Ether(raw(traffic.with_checksums()[name]))
    inner = (
        frame.lastlayer() if "chksum" in frame.lastlayer().fields else frame.getlayer("TCP") or frame.getlayer("ICMP")
    )
    if inner is not None and off_by:
        inner.chksum = (inner.chksum + off_by) % 65_535
    source = in_capture(raw(frame), tmp_path / "in.pcap")
    (small,) = packets(written(here, "annotate", source, key))
    assert _errors(small.data) == _errors(raw(frame))
    assert (off_by == 0) == (not any(_errors(small.data)))


def _errors(frame: bytes) -> list[int]:
    """By how much each checksum is off, the outermost first; zero where there is none."""
    out, layer = [], Ether(frame)
    while layer.payload:
        layer = layer.payload
        for field in ("chksum", "cksum"):
            if field in layer.fields and layer.fields[field] not in (None, 0):
                whole = layer.underlayer.copy() if layer.underlayer else layer.copy()
                again = whole.payload if layer.underlayer else whole
                setattr(again, field, None)
                right = type(whole)(raw(whole)).payload.fields[field]
                out.append((layer.fields[field] - right) % 65_535)
    return out


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_kind_of_file_gives_the_same_diagnosis(here: Run, container: str, tmp_path: Path, key: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(CONTAINERS[container](wrapped(datagrams(CHOSEN[1]), LINKS["Ethernet"])))
    (flow,) = flows_of(written(here, "annotate", source, key))
    assert told(flow) == told(flows_of(source)[0])


WRAPPINGS = {**LINKS, **TUNNELS}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_every_encapsulation_gives_the_same_diagnosis(here: Run, wrapping: str, tmp_path: Path, key: Path) -> None:
    each = WRAPPINGS[wrapping]
    version = each.version or 4
    source = tmp_path / "in.pcap"
    source.write_bytes(pcap(wrapped(datagrams(CHOSEN[0], version=version), each)))
    output = written(here, "annotate", source, key)
    (flow,) = flows_of(output)
    expected = plain(CHOSEN[0], tmp_path, version=version)
    assert told(flow) == told(expected)
    for end in ("client", "server"):
        assert flow[end]["address"] != expected[end]["address"]
        assert ip_address(expected[end]["address"]).packed not in output.read_bytes()
    assert b"HTTP" not in output.read_bytes()
    assert flow.get("tunnel") == _reported(here, source, key).get("tunnel")
    assert (flow.get("tunnel") is None) == (each.tunnel is None)
    assert each.tunnel is None or flow["tunnel"] != each.tunnel


def _reported(here: Run, source: Path, key: Path) -> dict[str, Any]:
    (flow,) = json.loads(here("analyze", source, "--format", "json", "--anonymise", "--key", key).stdout)["flows"]
    assert isinstance(flow, dict)
    return flow


@pytest.mark.parametrize("headers", EXTENSIONS)
def test_extension_headers_give_the_same_diagnosis(here: Run, headers: str, tmp_path: Path, key: Path) -> None:
    before = [
        Frame(
            each.time_ns,
            data := extended(each.data, EXTENSIONS[headers]),
            each.length + len(data) - len(each.data),
            101,
        )
        for each in datagrams(CHOSEN[0], version=6)
    ]
    source = tmp_path / "in.pcap"
    source.write_bytes(pcap(before))
    (flow,) = flows_of(written(here, "annotate", source, key))
    assert told(flow) == told(plain(CHOSEN[0], tmp_path, version=6))


def test_a_report_and_a_capture_with_one_key_have_the_same_pseudonyms(
    here: Run, capture: Path, tmp_path: Path, key: Path
) -> None:
    source = Path(shutil.copy(capture, tmp_path / "in.pcap"))
    reported = _reported(here, source, key)
    (copied,) = flows_of(written(here, "annotate", source, key))
    assert {**reported, "label": None} == {**copied, "label": None}
    (comment,) = (text for text in packets(tmp_path / "out.pcapng")[2].comments)
    assert "handshake" in comment


def test_without_a_key_file_the_pseudonyms_are_others_each_time(here: Run, capture: Path) -> None:
    said = {here("analyze", capture, "--format", "csv", "--anonymise").stdout for _ in range(3)}
    assert len(said) == 3


def test_hosts_are_chosen_by_their_true_addresses(here: Run, capture: Path) -> None:
    done = here("analyze", capture, "--format", "csv", "--anonymise", "--host", "192.168.247.129")
    assert len(done.stdout.splitlines()) == 8


def test_a_key_file_is_made_for_its_owner_alone_and_said(here: Run, capture: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    first, second = (here("analyze", capture, "--format", "csv", "--anonymise", "--key", made) for _ in range(2))
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert "made a key" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout
    assert len(bytes.fromhex(made.read_text())) == 32


def test_a_key_that_can_be_tried_out_is_refused(here: Run, capture: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("letmein")
    done = here("analyze", capture, "--anonymise", "--key", short)
    assert done.returncode == 3
    assert "too short a key" in done.stderr


def test_a_key_without_anonymise_is_refused(here: Run, capture: Path, key: Path) -> None:
    done = here("analyze", capture, "--key", key)
    assert done.returncode == 2
    assert "--anonymise" in done.stderr


def test_what_was_blanked_is_counted(here: Run, named: Path, key: Path) -> None:
    done = here("annotate", named, "-o", named.with_name("out.pcapng"), "--anonymise", "--key", key)
    assert "3 packets without IP left blank" in done.stderr
    assert "5 blocks left out" in done.stderr


def test_tshark_reads_what_was_anonymised(here: Run, named: Path, key: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    output = written(here, "annotate", named, key)
    shown = subprocess.run(["tshark", "-r", str(output), "-V"], capture_output=True, text=True, check=True)
    assert len(packets(output)) == shown.stdout.count("Frame Number: ")
    expect_nobody_named(shown.stdout.encode())
