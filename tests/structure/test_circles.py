"""The native core has no circles: no two of its files use one another, directly or through others."""

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "tcpstall" / "native" / "core" / "src"

Module = tuple[str, ...]
"""Its path from the crate's root: `("pause", "watch")`."""

NESTED = {("wire", name) for name in ("ipv4", "ipv6", "fragment", "tunnel", "ethertype", "ppp")}
"""Formats that hold one another: IP in IP, fragments of IP, Ethernet in PPP. Their decoders call each other."""

_USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")


def _without_tests(source: str) -> str:
    return re.sub(r"//[^\n]*", "", source).split("#[cfg(test)]\nmod tests")[0]


def _paths(tree: str) -> Iterator[str]:
    """The paths of a use tree: `a::{b, c::{d, e}}` has three."""
    tree = tree.strip()
    found = re.fullmatch(r"(.*?)\{(.*)\}", tree, re.DOTALL)
    if not found:
        yield tree.split(" as ")[0].strip()
        return
    depth, part = 0, ""
    for char in found[2] + ",":
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            if part.strip():
                yield from (found[1].strip() + path for path in _paths(part))
            part = ""
        else:
            part += char


def _absolute(path: str, module: Module, sources: Mapping[Module, str]) -> Module | None:
    first, *names = path.split("::")
    if first == "crate":
        return tuple(names)
    if first == "self":
        return (*module, *names)
    if first == "super":
        base = module[:-1]
        while names and names[0] == "super":
            base, names = base[:-1], names[1:]
        return (*base, *names)
    return (*module, first, *names) if (*module, first) in sources else None


def _owner(path: Module, sources: Mapping[Module, str]) -> Module | None:
    """The module that declares what a path names, through what modules hand on by `pub use`."""
    for length in range(len(path), 0, -1):
        if path[:length] not in sources:
            continue
        module, rest = path[:length], path[length:]
        for public, tree in _USE.findall(_without_tests(sources[module])):
            for used in _paths(tree) if public and rest else ():
                target = _absolute(used, module, sources)
                if target and target[-1] == rest[0] and target != path and target[: len(module)] == module:
                    return _owner((*target, *rest[1:]), sources)
        return module
    return None


def uses(sources: Mapping[Module, str]) -> dict[Module, set[Module]]:
    """The modules that each module uses. What surrounds a module is not counted: it may use its room's own items."""
    graph: dict[Module, set[Module]] = {}
    for module, source in sources.items():
        text = _without_tests(source)
        paths = {path for _, tree in _USE.findall(text) for path in _paths(tree)} | set(
            _PATH.findall(_USE.sub("", text))
        )
        targets = (_absolute(path, module, sources) for path in paths)
        owners = {owner for target in targets if target and (owner := _owner(target, sources))}
        graph[module] = {owner for owner in owners if module[: len(owner)] != owner}
    return graph


def circle(graph: Mapping[Module, set[Module]]) -> list[str]:
    """The modules of one circle, the first once more at its end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["/".join(module) for module in error.args[1]]
    return []


def _sources() -> dict[Module, str]:
    sources = {}
    for path in sorted(CORE.rglob("*.rs")):
        module = path.relative_to(CORE).with_suffix("").parts
        sources[module[:-1] if module[-1] == "mod" else module] = path.read_text()
    return {module: source for module, source in sources.items() if module != ("lib",)}


def test_no_files_of_the_core_use_one_another() -> None:
    graph = uses(_sources())
    assert circle({module: used - NESTED if module in NESTED else used for module, used in graph.items()}) == []


@pytest.mark.parametrize("back", ["use super::a::One;", "use crate::room::One;", "fn f() -> super::a::One {}"])
def test_a_circle_is_found(back: str) -> None:
    room = "mod a;\nmod b;\npub use a::{One, Other};"
    sources = {("room",): room, ("room", "a"): "use super::b::{Two, c::{D}};", ("room", "b"): back}
    assert set(circle(uses(sources))) == {"room/a", "room/b"}


def test_a_part_may_use_what_its_room_declares() -> None:
    sources = {("room",): "mod a;\nuse self::a::One;\npub struct Whole;", ("room", "a"): "use super::Whole;"}
    assert circle(uses(sources)) == []
