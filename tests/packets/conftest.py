"""The command line and its inputs, as the tests of the command line have them."""

from tests.cli.conftest import capture, cut_capture, here, paste

__all__ = ["capture", "cut_capture", "here", "paste"]
