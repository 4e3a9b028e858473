"""Runs one scenario: network, forwarder, captures, both programs; what they leave in a folder is raw material."""

import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.tools.lab.hosts.endpoint import Endpoint
from tests.tools.lab.hosts.tracing import Tracepoints
from tests.tools.lab.network.children import spawn
from tests.tools.lab.network.forwarder import Forwarder
from tests.tools.lab.network.namespaces import Network
from tests.tools.lab.scenario import PORT, Scenario, talk

_FORWARDER, _CAPTURE, _PROGRAM = 30, 20, 15
LATE_US, LATE_SHARE = 800, 0.08
"""A forwarder later than this, or than this share of the delay, was disturbed, and the run with it."""


@dataclass(slots=True)
class Recording:
    """Results of one run, beside the captures in `folder`."""

    folder: Path
    forwarder: dict[str, Any]
    trace: list[dict[str, Any]]
    codes: list[int]
    tolerance_us: float = LATE_US

    @property
    def disturbed(self) -> bool:
        """True where the forwarder could not keep its times."""
        return bool(
            self.forwarder["stats"]["late_max_us"] > self.tolerance_us or self.forwarder["stats"]["send_errors"]
        )


def run(scenario: Scenario, folder: Path) -> Recording:
    """Runs it once into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with Network(scenario, f"lab{os.getpid()}") as network, Tracepoints(wanted=scenario.sample_us > 0) as trace:
        forwarder = spawn(network.middle, _FORWARDER, lambda: Forwarder(scenario, folder).run())
        captures: list[subprocess.Popen[bytes]] = []
        try:
            _await(folder / "forwarder.ready")
            if scenario.acquainted:
                _acquaint(scenario, network, folder)
            hosts = {"sender": network.sender, "receiver": network.receiver}
            captures += [_capture(hosts[host], folder / f"{host}.pcap", scenario) for host in scenario.watched]
            codes = _programs(scenario, network, folder)
            time.sleep(2.5e-6 * scenario.one_way_us + 0.1)
        finally:
            for capture in captures:
                capture.terminate()
                capture.wait()
                if capture.stderr:
                    capture.stderr.close()
            os.kill(forwarder, signal.SIGTERM)
            os.waitpid(forwarder, 0)
        report = json.loads((folder / "forwarder.json").read_text(encoding="ascii"))
        return Recording(folder, report, trace.events(), codes, max(LATE_US, LATE_SHARE * scenario.one_way_us))


def _acquaint(scenario: Scenario, network: Network, folder: Path) -> None:
    """A first connection, so that the sender's kernel has an entry for its peer."""
    aside = folder / "aside"
    aside.mkdir()
    _programs(replace(scenario, connections=(talk("write 2000\n", "read 2000\n", port=PORT - 1),)), network, aside)
    shutil.rmtree(aside)


def _capture(namespace: str, path: Path, scenario: Scenario) -> "subprocess.Popen[bytes]":
    dump = ["tcpdump", "--immediate-mode", "-U", "-i", "eth0", "-s", str(scenario.snaplen), "-B", "65536"]
    command = [
        *("chrt", "-f", str(_CAPTURE), "ip", "netns", "exec", namespace),
        *dump,
        *("-Z", "root", "-w", str(path), "tcp"),
    ]
    started = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert started.stderr is not None
    os.set_blocking(started.stderr.fileno(), True)
    line = started.stderr.readline()
    if b"listening" not in line:
        line += started.stderr.readline()
    if b"listening" not in line:
        raise RuntimeError(f"tcpdump did not start: {line.decode().strip()}")
    return started


def _programs(scenario: Scenario, network: Network, folder: Path) -> list[int]:
    """Starts the listeners, then the callers, and waits for both."""
    children = []
    for calling in (False, True):
        for number, connection in enumerate(scenario.connections):
            for side, namespace, script, calls in (
                ("snd", network.sender, connection.sender, connection.upload),
                ("rcv", network.receiver, connection.receiver, not connection.upload),
            ):
                if calls != calling:
                    continue
                name = f"{number}.{side}"

                def work(script: str = script, name: str = name) -> None:
                    Endpoint(script, folder, name, scenario.sample_us).run()

                children.append(spawn(namespace, _PROGRAM, work))
                if not calling:
                    _await(folder / f"{name}.listening")
        time.sleep(0.02)
    return _reap(children, scenario.limit_s)


def _reap(children: list[int], limit_s: float) -> list[int]:
    deadline = time.monotonic() + limit_s
    codes: dict[int, int] = {}
    while len(codes) < len(children):
        for child in children:
            if child in codes:
                continue
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                codes[child] = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    return [codes[child] for child in children]


def _await(path: Path) -> None:
    deadline = time.monotonic() + 5
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path.name} never came")
        time.sleep(0.002)
