"""`tcpstall report --store`: stores as a page."""

from collections.abc import Collection, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from tcpstall import __version__
from tcpstall.cli.options.flow_option import InStore
from tcpstall.cli.options.wait_filters import Which, chosen
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.invocation import command_line
from tcpstall.cli.store_query import Form, asked, tell_flows_without
from tcpstall.errors import ExitCode

__all__ = ["refuse", "shows_stores", "store_page", "typed_parameters", "typed_top"]

_OF_STORES = {"services", "within", "sensors"}
"""Parameters of `report` that apply to stores alone."""

_WITH_STORE = {"stores", "output", "top", "hosts", "ports", "since", "until", *_OF_STORES}
"""Parameters of `report` that apply to a store."""

_GROWN = 5
_FINDINGS = 12
_SERVICES = 20


def shows_stores(captures: Collection[str], stores: Sequence[str], flows: Collection[int | InStore]) -> bool:
    """True where stores are to be shown, not captures or a flow of a store.

    Raises UsageError for both, neither, or what does not fit.
    """
    typed = typed_parameters()
    if captures or flows or not stores:
        refuse(typed & _OF_STORES, "cannot be used with captures or --flow: give --store alone")
    if any(isinstance(flow, InStore) for flow in flows):
        if len(stores) > 1:
            raise click.UsageError("--flow SCAN/FLOW is a flow of one store: give --store once")
        return False
    if captures:
        if "stores" in typed:
            raise click.UsageError("give captures or --store, not both")
        return False
    if not stores:
        raise click.UsageError("missing argument 'CAPTURE...', or --store")
    refuse(typed - _WITH_STORE - {"captures"}, "cannot be used with --store")
    return True


def typed_parameters() -> set[str]:
    """Names of the parameters that are on the command line."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def refuse(unfit: Collection[str], why: str) -> None:
    """Raises UsageError that names these parameters as they are typed, if there are any."""
    options = {parameter.name: max(parameter.opts, key=len) for parameter in click.get_current_context().command.params}
    if unfit:
        raise click.UsageError(f"{', '.join(sorted(options[name] for name in unfit))} {why}")


def typed_top(top: int) -> int | None:
    """The value of --top, or None where it is the default for captures."""
    source = click.get_current_context().get_parameter_source("top")
    return top if source is ParameterSource.COMMANDLINE else None


def store_page(stores: Sequence[str], output: Path, which: Which, *, top: int | None) -> ExitCode:
    """Queries the stores and writes the page."""
    meant = chosen(which)
    with asked(stores, Form(form="html", output=None), meant) as session:
        from tcpstall.archive.asking.findings import findings
        from tcpstall.archive.asking.overview import overview
        from tcpstall.archive.asking.questions import top as worst_of
        from tcpstall.archive.asking.trend import trend
        from tcpstall.report.html import finely

        tell_flows_without(stores, session, meant)
        about = overview(session, meant)
        worst = worst_of(session, "service", meant, top or _SERVICES)
        course = trend(session, finely(about), meant, _GROWN)
        found = findings(session, meant, top or _FINDINGS)
    from tcpstall.cli.report import write_whole
    from tcpstall.report.html import MadeBy, archive_page

    made = MadeBy(command_line((), anonymised=False), __version__, ())
    with writing(str(output)):
        write_whole(archive_page(about, worst, course, found, store=stores[0], made_by=made), output)
    return session.exit_code
