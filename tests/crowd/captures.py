"""Captures with many flows: of all kinds, some of them alike; or one unanswered SYN each, to ever another service."""

import struct
from pathlib import Path

from tests.scene import Scene
from tests.scene.gallery import EVERYTHING


def all_kinds(folder: Path, *, services: int = 3, turns: int = 2, first_port: int = 80) -> Path:
    """Each scene of the gallery `turns` times, to `services` ports in turn.

    Flows of one kind differ in their ends alone.
    """
    folder.mkdir()
    scenes = []
    for number, act in enumerate(list(EVERYTHING.values()) * turns):
        scene = Scene(folder, client_port=40_000 + number, start_ns=1_700_000_000_000_000_000 + number * 10**8)
        scene.server.endpoint = type(scene.server.endpoint)("10.0.0.2", first_port + number % services)
        scene.client.isn += number * 1_000
        act(scene)
        scenes.append(scene)
    return scenes[0].capture(beside=scenes[1:])


def syns(path: Path, count: int, *, apart_us: int = 1) -> Path:
    """That number of SYNs, `apart_us` microseconds apart, each to a service of its own."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    ip = struct.Struct(">BBHHHBBHII")
    tcp = struct.Struct(">HHIIBBHHH")
    record = struct.Struct("<IIII")
    out = bytearray(head)
    for number in range(count):
        at_us = number * apart_us
        out += record.pack(1_700_000_000 + at_us // 1_000_000, at_us % 1_000_000, 40, 40)
        out += ip.pack(0x45, 0, 40, 0, 0, 64, 6, 0, 0x0A000002, 0x0B000000 + number // 50_000)
        out += tcp.pack(40_000, 1_024 + number % 50_000, 7, 0, 0x50, 2, 65_535, 0, 0)
    path.write_bytes(out)
    return path
