"""Cuts truth.json down to what tests read, and removes what a fixture does not need."""

import json
from pathlib import Path
from typing import Any

_RAW = ("tcp_info_final", "info_series", "tcp_probe", "app_log", "ca_states")


def trim(folder: Path) -> None:
    """Leaves sender.pcap, receiver.pcap and a small truth.json."""
    path = folder / "truth.json"
    truth: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
    for connection in truth["connections"]:
        for half in connection.get("halves", ()):
            for key in _RAW:
                half.pop(key, None)
    path.write_text(json.dumps(truth, indent=1) + "\n", encoding="ascii")
    for other in folder.iterdir():
        if other.name not in {"sender.pcap", "receiver.pcap", "truth.json"}:
            other.unlink()
