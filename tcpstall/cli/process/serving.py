"""The metrics of a store over HTTP."""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

from tcpstall.archive.asking.exporting import exported, samples
from tcpstall.cli.process.exits import complain
from tcpstall.cli.process.signals import until_terminated
from tcpstall.errors import CannotWrite, ExitCode, TcpstallError
from tcpstall.metrics.exposition import CONTENT_TYPES, Form, exposed
from tcpstall.model import Endpoint
from tcpstall.untrusted import in_terminal

__all__ = ["served"]

_PATH = "/metrics"
_PLAIN = "text/plain; charset=utf-8"


def served(at: Endpoint, store: str, most: int | None) -> ExitCode:
    """Answers scrapes until SIGTERM; a store that cannot be read is a line and status 503, and is tried again.

    Raises CannotWrite where nobody can listen at that address.
    """
    with _listening(at, _Metrics(store, most)) as server:
        address, port = server.server_address[:2]
        complain(f"serving http://{Endpoint(str(address), int(port))}{_PATH}")
        with until_terminated():
            server.serve_forever()
    return ExitCode.COMPLETE


class _Metrics:
    """Answers scrapes. One scrape at a time asks the store; if nothing was scanned since, its ledger alone is read."""

    def __init__(self, store: str, most: int | None) -> None:
        self._store = store
        self._most = most
        self._lock = threading.Lock()
        self._said = ""

    def text(self, form: Form) -> str:
        """Raises TcpstallError, which is said once."""
        with self._lock:
            try:
                ledger, whole = exported(self._store, self._most)
            except TcpstallError as error:
                self._say(str(error))
                raise
            self._say("" if whole else f"{self._store}: rows are missing: counters stand still")
        return exposed(samples(ledger), form)

    def _say(self, what: str) -> None:
        if what not in ("", self._said):
            complain(what)
        self._said = what


class _Server(ThreadingTCPServer):
    """Knows what its handlers answer."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, at: Endpoint, metrics: _Metrics) -> None:
        self.address_family = socket.AF_INET6 if ":" in at.address else socket.AF_INET
        self.metrics = metrics
        super().__init__((at.address, at.port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            complain(f"cannot answer {client_address}: {error}")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "tcpstall"
    sys_version = ""
    timeout = 10.0

    def do_GET(self) -> None:
        """Metrics in the format that the client accepts, as Prometheus asks."""
        if self.path.partition("?")[0] != _PATH:
            self._answer(HTTPStatus.NOT_FOUND, _PLAIN, f"metrics are at {_PATH}\n")
            return
        form: Form = "openmetrics" if "application/openmetrics-text" in self.headers.get("Accept", "") else "prometheus"
        try:
            text = self.server.metrics.text(form)
        except TcpstallError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, _PLAIN, f"{in_terminal(str(error))}\n")
        else:
            self._answer(HTTPStatus.OK, CONTENT_TYPES[form], text)

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        """Nothing: every scrape would be a line."""


@contextmanager
def _listening(at: Endpoint, metrics: _Metrics) -> Iterator[_Server]:
    try:
        server = _Server(at, metrics)
    except OSError as error:
        raise CannotWrite(f"cannot listen on {at}: {error.strerror or error}") from error
    with server:
        yield server
