"""Names of a package whose modules are imported when a name is asked for."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["importer"]


def importer(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `modules` has the module of each name. A name is imported once."""

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
