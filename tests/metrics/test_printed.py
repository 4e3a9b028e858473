"""Dashboard, alert rules and examples agree with what the commands take and give."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tcpstall import Cause
from tcpstall.archive.asking.exporting import exported, samples
from tcpstall.cli import tcpstall
from tcpstall.metrics.alerts import ALERTS
from tcpstall.metrics.dashboard import PANELS
from tcpstall.metrics.exposition import exposed
from tcpstall.metrics.printed import PRINTED, printed
from tests.metrics.conftest import values
from tests.questions.rows import Rows

NAME = re.compile(r"\btcpstall_\w+")
LABELS = re.compile(r"\b(service|cause|le)\b")

EXPRESSIONS = {
    **{f"{panel.title} {legend}": text for panel in PANELS for legend, text in panel.expressions.items()},
    **{alert.name: alert.expression for alert in ALERTS},
}

YAMLS = [name for name in PRINTED if name in ("alerts", "cronjob", "daemonset")]
UNITS = {"systemd-service": "tcpstall-scan.service", "systemd-timer": "tcpstall-scan.timer"}


def test_every_metric_that_is_asked_for_is_given(rows: Rows) -> None:
    given = {name for name, *_ in values(exposed(samples(exported(str(rows.folder))[0]), "prometheus"))}
    assert {"tcpstall_lost_seconds_total", "tcpstall_rtt_seconds_bucket"} <= given
    for title, expression in EXPRESSIONS.items():
        asked = set(NAME.findall(expression))
        assert asked, title
        assert asked <= given, title


def test_the_dashboard_shows_every_family() -> None:
    shown = {name.removesuffix("_bucket") for panel in PANELS for text in panel.expressions.values()
             for name in NAME.findall(text)}  # fmt: skip
    names = {name.removesuffix("_bucket") for alert in ALERTS for name in NAME.findall(alert.expression)}
    from tcpstall.metrics.families import FAMILIES

    assert shown == {family.sample for family in FAMILIES}
    assert names <= shown


def test_the_dashboard_is_laid_out_and_its_variables_are_there() -> None:
    board = json.loads(printed("dashboard"))
    variables = {one["name"] for one in board["templating"]["list"]}
    assert [panel["title"] for panel in board["panels"]] == [panel.title for panel in PANELS]
    for panel in board["panels"]:
        for target in panel["targets"]:
            named = set(re.findall(r"\$\{?(\w+)", target["expr"] + target["datasource"]["uid"]))
            assert named <= variables | {"__range", "__rate_interval"}
    places = [panel["gridPos"] for panel in board["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


def test_causes_have_the_colours_that_they_have_everywhere() -> None:
    (panel,) = (one for one in json.loads(printed("dashboard"))["panels"] if one["title"] == "Lost time by cause")
    colours = {
        one["matcher"]["options"]: one["properties"][0]["value"]["fixedColor"]
        for one in panel["fieldConfig"]["overrides"]
    }
    assert colours == {cause.value: cause.colour for cause in Cause}


def test_alert_rules_are_yaml_and_whole() -> None:
    (group,) = yaml.safe_load(printed("alerts"))["groups"]
    assert [(rule["alert"], rule["expr"], rule["for"]) for rule in group["rules"]] == [
        (alert.name, alert.expression, alert.lasts) for alert in ALERTS
    ]
    assert all(rule["annotations"].keys() == {"summary", "description"} for rule in group["rules"])


def test_promtool_takes_every_expression(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    queries = {"$__rate_interval": "5m", "$__range": "1h", "$service": ".*", "$cause": ".*"}
    rules = []
    for number, text in enumerate(EXPRESSIONS.values()):
        for variable, value in queries.items():
            text = text.replace(variable, value)
        rules.append({"record": f"x{number}", "expr": text})
    (tmp_path / "panels.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    (tmp_path / "alerts.yml").write_text(printed("alerts"))
    done = subprocess.run(
        ["promtool", "check", "rules", *map(str, sorted(tmp_path.glob("*.yml")))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _containers(node: Any) -> Iterator[dict[str, Any]]:
    """Of every workload, wherever its pods are described."""
    if isinstance(node, dict):
        yield from node.get("containers", ())
        for below in node.values():
            yield from _containers(below)


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(printed(name)))


def _commands() -> Iterator[list[str]]:
    """Every tcpstall command line of the examples, alerts and the panels' texts."""
    for name in ("cronjob", "daemonset"):
        for document in documents(name):
            for container in _containers(document):
                words = container["command"]
                script = words[2] if words[:2] == ["sh", "-c"] else shlex.join(words)
                yield from (shlex.split(found) for found in re.findall(r"\btcpstall [^;]+", script))
    for line in printed("systemd-service").splitlines():
        if line.startswith("ExecStart="):
            yield shlex.split(line.removeprefix("ExecStart="))
    for text in (*(alert.description for alert in ALERTS), *(panel.meaning for panel in PANELS)):
        yield from (shlex.split(found) for found in re.findall(r"`(tcpstall [^`]+)`", text))


@pytest.mark.parametrize("words", [*_commands()], ids=lambda words: " ".join(words)[:60])
def test_commands_in_texts_are_understood(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCPSTALL_STORE", "store")
    program, *arguments = [word.replace("CAUSE", "nagle") for word in words]
    assert program.rpartition("/")[2] == "tcpstall"
    command: click.Command | None = tcpstall
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.get_command(click.Context(command), name)
    assert command is not None
    assert command.make_context(command.name, list(arguments)).args == []


def test_examples_have_commands() -> None:
    assert {words[1] for words in _commands()} >= {"scan", "metrics", "store", "top", "query", "explain"}


@pytest.mark.parametrize("name", ["cronjob", "daemonset"])
def test_kubernetes_examples_hold_together(name: str) -> None:
    """Selectors choose the pods, volumes that are mounted are there, what is scraped is served."""
    for document in documents(name):
        assert {"apiVersion", "kind", "metadata", "spec"} <= document.keys()
        spec = document["spec"].get("jobTemplate", document)["spec"]
        pods = spec["template"]
        if "selector" in spec:
            assert spec["selector"]["matchLabels"].items() <= pods["metadata"]["labels"].items()
        volumes = {volume["name"] for volume in pods["spec"].get("volumes", ())}
        for container in pods["spec"]["containers"]:
            assert {mount["name"] for mount in container.get("volumeMounts", ())} <= volumes
        port = pods.get("metadata", {}).get("annotations", {}).get("prometheus.io/port")
        listening = [c for c in pods["spec"]["containers"] if "--listen" in c["command"]]
        assert [c["command"][-1].rpartition(":")[2] for c in listening] == ([port] if port else [])
        assert [str(c["ports"][0]["containerPort"]) for c in listening] == ([port] if port else [])


def test_the_cronjob_never_runs_twice_at_once() -> None:
    job, *_ = documents("cronjob")
    assert (job["kind"], job["spec"]["concurrencyPolicy"]) == ("CronJob", "Forbid")


def test_the_timer_starts_the_service() -> None:
    units = {name: configparser.ConfigParser(strict=False, interpolation=None) for name in UNITS}
    for name, unit in units.items():
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read_string(printed(name))
    service, timer = units["systemd-service"], units["systemd-timer"]
    assert service["Service"]["Type"] == "oneshot"
    assert timer["Install"]["WantedBy"] == "timers.target"
    # A timer starts the service of its own name.
    assert UNITS["systemd-timer"].partition(".")[0] == UNITS["systemd-service"].partition(".")[0]


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    true = shutil.which("true")
    for name, file in UNITS.items():
        (tmp_path / file).write_text(printed(name).replace("/usr/local/bin/tcpstall", str(true)))
    done = subprocess.run(
        ["systemd-analyze", "verify", *(str(tmp_path / file) for file in UNITS.values())],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if "tcpstall" in line]
    assert (done.returncode, ours) == (0, []), done.stderr


@pytest.mark.parametrize("name", PRINTED)
def test_each_is_printed_by_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from tcpstall.cli import main

    assert main(["metrics", "--print", name]) == 0
    assert capsys.readouterr().out == printed(name)
