"""The commands are well-formed: settings exist, routes and filters are understood, quotes close."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcpstall.advice.remedy import Platform
from tests.remedies.test_treatments import EVERYTHING, treated, with_address
from tests.tools.lab.network.namespaces import obstacle

SYSCTLS = Path("/proc/sys")
NEWER = {"net.ipv4.tcp_rto_min_us"}
"""Named in notes as of newer kernels only."""

_NAME = re.compile(r"\bnet\.(?:ipv4|core)\.[a-z_]+")


def commands(platform: Platform, address: str = "192.0.2.1") -> Iterator[str]:
    """Every one that some finding leads to, checks included."""
    seen: set[str] = set()
    for cause, detail in EVERYTHING:
        for found in (treated(cause, detail), *with_address(address, cause, detail)):
            for remedy in found.remedies:
                seen |= set(remedy.steps[platform].commands)
            seen |= {check.command for check in found.checks if check.platform is platform}
    yield from sorted(seen)


LINUX = sorted({*commands(Platform.LINUX), *commands(Platform.LINUX, "2001:db8::1")})


@pytest.mark.skipif(not (SYSCTLS / "net/ipv4/tcp_rmem").exists(), reason="no Linux settings here")
def test_every_setting_exists_on_this_kernel() -> None:
    named = {name for command in LINUX for name in _NAME.findall(command)} - NEWER
    assert len(named) >= 12
    missing = [name for name in sorted(named) if not (SYSCTLS / name.replace(".", "/")).exists()]
    assert not missing


def test_a_setting_is_never_lowered() -> None:
    raising = [command for command in LINUX if re.search(r"(wmem|rmem|somaxconn|backlog)\S*=", command)]
    assert len(raising) >= 5
    for command in raising:
        assert re.search(r"\$\d > (\d+) \? \$\d : \1", command)


@pytest.mark.parametrize("command", LINUX)
def test_a_shell_understands_it(command: str) -> None:
    if shutil.which("sh") is None:
        pytest.skip("no shell here")
    done = subprocess.run(["sh", "-n", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert shlex.split(command)


@pytest.mark.parametrize("old", ["4096 16384 4194304", "4096 16384 99999999"])
def test_only_the_value_that_is_meant_is_raised(old: str, tmp_path: Path) -> None:
    if shutil.which("awk") is None:
        pytest.skip("no awk here")
    command = next(one for one in LINUX if "tcp_wmem=" in one)
    fake = tmp_path / "sysctl"
    fake.write_text(f'#!/bin/sh\nif [ "$1" = -n ]; then echo "{old}"; else echo "$2"; fi\n')
    fake.chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", command], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    first, second, third = done.stdout.strip().removeprefix("net.ipv4.tcp_wmem=").split()
    assert [first, second] == old.split()[:2]
    assert int(third) >= int(old.split()[2])


@pytest.mark.parametrize("address", ["10.99.0.2", "10.98.7.6", "fd99::2", "2001:db8::9"])
def test_a_route_is_changed_as_it_says(address: str) -> None:
    if reason := obstacle():
        pytest.skip(reason)
    routes = sorted({command for command in commands(Platform.LINUX, address) if f" {address} " in command})
    changes = [command for command in routes if " route change " in command]
    assert {"initcwnd", "initrwnd", "quickack", "rto_min", "congctl"} >= {command.split()[-2] for command in changes}
    # BBR needs its module; a route that has rto_min cannot be written again from what is printed of it.
    *runnable, last = sorted((one for one in changes if "congctl" not in one), key=lambda one: "rto_min" in one)
    runnable = [one for one in runnable if "rto_min" not in one] + [last]
    made = (
        "ip link add va type veth peer name vb && ip link set va up && ip link set vb up && "
        "ip addr add 10.99.0.1/24 dev va && ip addr add fd99::1/64 dev va nodad && "
        "ip route add default via 10.99.0.254 && ip -6 route add default via fd99::ff && "
    )
    shown = f"ip {'-6 ' if ':' in address else ''}route get {address} fibmatch"
    script = made + " && ".join([*runnable, shown])
    done = subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert runnable
    latest = dict(command.split()[-2:] for command in runnable)
    assert {"initcwnd", "quickack", "rto_min"} <= latest.keys()
    for metric, value in latest.items():
        assert re.search(rf"{metric} (lock )?{value}", done.stdout)


def test_ss_understands_its_filter() -> None:
    if shutil.which("ss") is None:
        pytest.skip("ss is not installed")
    filters = [command for command in LINUX if command.startswith("ss -tinmo ")]
    assert any("[2001:db8::1]" in command for command in filters)
    for command in filters:
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
