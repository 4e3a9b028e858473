"""A folder beside a store in which every file counts, for tools that read Parquet by globs.

`current` is a link to a version, and versions are folders that never change: a link to each part, and copies of what
needs a view. A version that was replaced stays for an hour, for those who follow the link once and read on.
"""

import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from tcpstall.archive.asking.anonymising import Hidden
from tcpstall.archive.asking.pruned import sound
from tcpstall.archive.columns import BY_DAY, TABLES
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES, parts_with
from tcpstall.archive.storing.duck import alone
from tcpstall.archive.storing.literals import literal
from tcpstall.archive.storing.names import new_digest
from tcpstall.archive.storing.parquet import COUNTS
from tcpstall.archive.storing.store import Part, Store
from tcpstall.archive.storing.views import make_views
from tcpstall.archive.storing.writing import writing
from tcpstall.errors import CannotOpen

__all__ = ["CURRENT", "published"]

CURRENT = "current"
_VERSIONS = "versions"
_VERSION = re.compile(r"[0-9a-f]{32}")
_BY_VIEW = ("hours", "captures", "errors")
"""Tables whose rows are not those of files: a moved capture has several, hours are added up."""

_KEPT_S = 3600


def published(url: str, folder: Path, *, key: bytes | None = None) -> Path:
    """Brings the folder up to date; its version with what the store holds now, with pseudonyms if there is a `key`.

    Raises CannotOpen (the store, one behind a URL, a folder with other files in it) and CannotWrite.
    """
    import duckdb

    store = sound(url)
    store.refuse_older()  # readers of globs want one layout
    if store.filesystem is not None:
        raise CannotOpen(f"{url}: a store behind a URL cannot be published: copy it, or ask it by `tcpstall query`")
    versions = folder / _VERSIONS
    with writing(folder, OSError, duckdb.Error):
        if folder.exists() and {path.name for path in folder.iterdir()} - {CURRENT, _VERSIONS}:
            raise CannotOpen(f"{folder}: the folder has other files in it; give one that is empty or not there yet")
        versions.mkdir(parents=True, exist_ok=True)
        version = versions / _revision(store, key)
        if not version.exists():
            with tempfile.TemporaryDirectory(prefix="new-", dir=versions) as scratch:
                new = Path(scratch) / "version"
                new.mkdir()
                _write(store, new, key)
                new.rename(version)
        _switch(folder, version)
        _sweep(versions, version)
    return version


def _revision(store: Store, key: bytes | None) -> str:
    if key is None:
        return store.revision
    digest = new_digest()
    digest.update(store.revision.encode() + key)
    return digest.hexdigest()


def _write(store: Store, version: Path, key: bytes | None) -> None:
    """Links parts all of whose rows count; of others, and for pseudonyms, it copies the rows that do."""
    with alone(store.place, MEMORY_BYTES) as duck:
        make_views(duck, store)
        hidden = None if key is None else Hidden(duck, key)
        gone = [*store.dropped, *store.continued]
        having = parts_with(store, gone) if gone else frozenset()
        values = [[*store.dropped], [*store.continued]]
        for part in (part for table in BY_DAY for part in store.parts(table)):
            target = version / part.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if part.name in having or hidden:
                rows = f"FROM read_parquet({literal(store.place.path(part.name))}, hive_partitioning = false)"
                source = f"{rows} WHERE {COUNTS}"
                if hidden:
                    source = hidden.rows(TABLES[part.table], source)
                duck.execute(f"COPY ({source}) TO {literal(str(target))} (FORMAT parquet, COMPRESSION zstd)", values)
            else:
                _linked(store, part, target)
        for name in _BY_VIEW:
            (version / name).mkdir()
            target = version / name / f"{name}.parquet"
            source = hidden.view(TABLES[name]) if hidden else f"FROM {name}"
            duck.execute(f"COPY ({source}) TO {literal(str(target))} (FORMAT parquet, COMPRESSION zstd)")


def _linked(store: Store, part: Part, target: Path) -> None:
    """A second name for the part's file; a copy on another file system."""
    source = Path(store.place.path(part.name))
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _switch(folder: Path, version: Path) -> None:
    """Whoever opens `current` finds the old version or the new one."""
    new = version.parent / f"to-{version.name}"
    new.unlink(missing_ok=True)
    new.symlink_to(f"{_VERSIONS}/{version.name}")
    new.replace(folder / CURRENT)
    os.utime(version)


def _sweep(versions: Path, current: Path) -> None:
    """Removes what was replaced more than an hour ago, and what a publisher that was killed left."""
    for path in versions.iterdir():
        ours = _VERSION.fullmatch(path.name) or path.name.startswith("new-")
        if ours and path != current and time.time() - path.stat().st_mtime > _KEPT_S:
            shutil.rmtree(path)
