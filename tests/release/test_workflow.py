"""The release names files, extras and commands that exist."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tcpstall.cli import COMMANDS

REPOSITORY = Path(__file__).parents[2]
PACKAGES = REPOSITORY / ".github" / "packages"
RELEASE = REPOSITORY / ".github" / "workflows" / "release.yml"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
PAGE = REPOSITORY / "tcpstall" / "docs" / "install.md"


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(RELEASE.read_text())["jobs"]
    return jobs


def _steps(jobs: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in jobs.values() for step in job["steps"]]


def test_a_wheel_is_built_for_each_platform_that_the_page_names(jobs: dict[str, Any]) -> None:
    built = {
        (row["runner"].split("-")[0], row["tag"], row["target"])
        for row in jobs["wheels"]["strategy"]["matrix"]["include"]
    }

    assert built == {
        (system, tag, machine)
        for system, tag in (("ubuntu", "2_28"), ("ubuntu", "musllinux_1_2"), ("macos", "auto"))
        for machine in ("x86_64", "aarch64")
    }
    for system in ("manylinux_2_28", "musllinux_1_2", "macOS"):
        assert system in PAGE.read_text()


def test_jobs_wait_for_jobs_that_there_are(jobs: dict[str, Any]) -> None:
    for job in jobs.values():
        needs = job.get("needs", [])
        assert ({needs} if isinstance(needs, str) else {*needs}) <= jobs.keys()


def test_what_a_job_takes_another_has_made(jobs: dict[str, Any]) -> None:
    steps = _steps(jobs)
    made = {step["with"]["name"] for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")}
    taken = [step["with"] for step in steps if step.get("uses", "").startswith("actions/download-artifact@")]

    for wanted in taken:
        beginning = wanted.get("name") or wanted["pattern"].partition("*")[0].partition("ubuntu")[0]
        assert any(name.startswith(beginning) for name in made), wanted


def test_files_and_commands_of_the_release_exist(jobs: dict[str, Any]) -> None:
    runs = " ".join(step["run"] for step in _steps(jobs) if "run" in step)

    files = set(re.findall(r"(?:fixtures|\.github)/[\w./-]+", RELEASE.read_text()))
    assert files
    assert all((REPOSITORY / file).is_file() for file in files)
    assert set(re.findall(r"\btcpstall (\w+)", runs)) <= set(COMMANDS)


def test_only_a_tag_publishes(jobs: dict[str, Any]) -> None:
    writing = [job for job in jobs.values() if job.get("permissions", {}).keys() & {"id-token", "packages"}]
    assert len(writing) == 2
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    (push,) = (step["with"]["push"] for step in jobs["image"]["steps"] if "push" in step.get("with", {}))
    assert push == "${{ github.ref_type == 'tag' }}"


def test_the_image_runs_the_command_as_nobody_in_particular() -> None:
    lines = [
        line.split(maxsplit=1) for line in (PACKAGES / "Dockerfile").read_text().splitlines() if line[:1].isupper()
    ]
    told = {word: rest for word, rest in lines if word != "RUN"}

    assert told["USER"] == "tcpstall"
    assert "useradd --create-home tcpstall" in (PACKAGES / "Dockerfile").read_text()
    assert told["ENTRYPOINT"] == '["tcpstall"]'
    assert "tcpstall" in PROJECT["project"]["scripts"]
    assert "!dist" in (PACKAGES / "Dockerfile.dockerignore").read_text()


def test_the_formula_makes_the_manual_and_tries_a_command_that_exists() -> None:
    formula = (PACKAGES / "tcpstall.rb").read_text()

    assert PROJECT["project"]["description"] in formula
    assert 'bin/"tcpstall", "man", "--output", share' in formula
    assert set(re.findall(r"bin}/tcpstall (\w+)", formula)) <= set(COMMANDS)


def test_extras_of_the_pages_exist() -> None:
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "tcpstall" / "docs").glob("*.md")]
    named = {
        extra
        for page in pages
        for found in re.findall(r"tcpstall\[([\w,]+)]", page.read_text())
        for extra in found.split(",")
    }

    assert named
    assert named <= PROJECT["project"]["optional-dependencies"].keys()
