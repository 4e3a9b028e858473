"""Templates to text: everything escaped, every script known by its hash, nothing fetched."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from tcpstall.causes import Cause
from tcpstall.units import held
from tcpstall.untrusted import in_terminal

__all__ = ["filled", "template_text"]

_FOLDER = Path(__file__).parent.parent / "templates"

_HAND = "hand.js"
"""Script of every page: tables to sort and to search, commands to copy."""


def filled(template: str, scripts: Mapping[str, str], values: Mapping[str, object]) -> str:
    """The template with `values`; of all scripts in it only `scripts`, by name, and the one of every page can run.

    A page that extends `base.html` is given the policy, the scripts and the style by this function.
    """
    safe = {name: _in_script(text) for name, text in {**scripts, _HAND: template_text(_HAND)}.items()}
    given = {
        "policy": _policy(list(safe.values())),
        "scripts": {name: Markup(text) for name, text in safe.items()},  # noqa: S704 they are the program's own
        "style": Markup(template_text("style.css")),  # noqa: S704
        "causes": list(Cause),
    }
    return _environment().get_template(template).render(given | dict(values))


def template_text(name: str) -> str:
    """A file beside the templates, as it is."""
    return (_FOLDER / name).read_text("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["whole"] = _whole
    return environment


def _shown(value: object) -> object:
    """Spells out what is not printable, as in a terminal; autoescape does the rest."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else in_terminal(value)


def _whole(text: str) -> Markup:
    """Prose in which no line parts a figure from its unit; commands are left as they are, since they are copied."""
    return Markup(held(str(escape(in_terminal(text))), "&nbsp;"))  # noqa: S704 escaped


def _policy(scripts: list[str]) -> str:
    """No network at all; a script runs only if it is one of these, so that not even a hole in escaping lets one in."""
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts) or "'none'"
    rest = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {hashes}; {rest}"


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _in_script(text: str) -> str:
    """As it may stand in a script element: with line ends as browsers read them, and without the element's end."""
    return text.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")
