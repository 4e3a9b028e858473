"""Three network namespaces in a row: the sender, the middle that forwards, the receiver."""

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tests.tools.lab.scenario import RECEIVER, SENDER, Host, Scenario

_CLONE_NEWNET = 0x40000000
_SIOCETHTOOL = 0x8946
_ETHTOOL_STSO, _ETHTOOL_SGSO = 0x1F, 0x24
_MAC = {"s": "02:77:00:00:00:01", "r": "02:77:00:00:00:02"}


def obstacle() -> str | None:
    """Reason why the lab cannot run here, or None."""
    if os.geteuid() != 0:
        return "the lab needs root: it makes network namespaces"
    for tool in ("ip", "tcpdump"):
        if shutil.which(tool) is None:
            return f"the lab needs {tool}"
    probe = f"lab-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"network namespaces are not available: {made.stderr.strip()}"
    paired = subprocess.run(["ip", "-n", probe, "link", "add", "type", "veth"], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", probe], check=False)
    return "veth interfaces are not available" if paired.returncode else None


def enter(namespace: str) -> None:
    """Moves the calling thread into a namespace."""
    handle = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(handle, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
    finally:
        os.close(handle)


class Network:
    """The namespaces of one scenario; they exist inside the `with`."""

    def __init__(self, scenario: Scenario, tag: str) -> None:
        self.scenario = scenario
        self.sender, self.middle, self.receiver = (f"{tag}-{part}" for part in "smr")

    def __enter__(self) -> "Network":
        try:
            self._build()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        for name in (self.sender, self.receiver, self.middle):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def _build(self) -> None:
        for name in (self.sender, self.middle, self.receiver):
            _ip("netns", "add", name)
        ends = (
            ("s", self.sender, SENDER, "r", RECEIVER, self.scenario.sender),
            ("r", self.receiver, RECEIVER, "s", SENDER, self.scenario.receiver),
        )
        _batch(self.middle, "link set lo up")
        for end, name, own, other, peer, host in ends:
            mtu = self.scenario.mtu
            _batch(
                self.middle,
                f"link add {end} mtu {mtu} address 02:77:00:00:01:0{1 if end == 's' else 2} "
                f"type veth peer name eth0 netns {name} mtu {mtu} address {_MAC[end]}",
                f"link set {end} up",
            )
            _write_sysctls(self.middle, {"ipv6/conf/all/disable_ipv6": 1})
            _batch(
                name,
                "link set lo up",
                f"link set eth0 gso_max_segs {host.gso_max_segs}" if host.gso_max_segs else "",
                "link set eth0 up",
                f"addr add {own[4]}/24 dev eth0",
                f"addr add {own[6]}/64 dev eth0 nodad",
                f"neigh replace {peer[4]} lladdr {_MAC[other]} dev eth0 nud permanent",
                f"neigh replace {peer[6]} lladdr {_MAC[other]} dev eth0 nud permanent",
            )
            _adjust(name, host)
        # What leaves the middle is segmented there, so that each host's own capture shows wire packets coming in.
        for end in "sr":
            _segmentation_off(self.middle, end)


def _adjust(name: str, host: Host) -> None:
    if host.route:
        _batch(name, f"route change 10.77.0.0/24 dev eth0 {host.route}")
        _batch(name, "route del fd77::/64 dev eth0", f"route add fd77::/64 dev eth0 {host.route}")
    if not host.offload:
        _segmentation_off(name, "eth0")
    _write_sysctls(name, {f"ipv4/{key}": value for key, value in host.sysctl.items()})


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


def _batch(namespace: str, *lines: str) -> None:
    text = "\n".join(line for line in lines if line) + "\n"
    done = subprocess.run(
        ["ip", "-n", namespace, "-batch", "-"], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"ip -n {namespace}: {done.stderr.strip()}")


def _write_sysctls(namespace: str, values: Mapping[str, object]) -> None:
    if not values:
        return
    child = os.fork()
    if child == 0:
        code = 1
        try:
            enter(namespace)
            for key, value in values.items():
                Path("/proc/self/net").exists()
                Path(f"/proc/sys/net/{key}").write_text(str(value), encoding="ascii")
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(f"cannot set {dict(values)} in {namespace}")


def _segmentation_off(namespace: str, interface: str) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            enter(namespace)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
                for command in (_ETHTOOL_STSO, _ETHTOOL_SGSO):
                    value = ctypes.create_string_buffer(struct.pack("II", command, 0))
                    request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(value))
                    fcntl.ioctl(control, _SIOCETHTOOL, request)
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(f"cannot turn segmentation offload off on {interface}")
