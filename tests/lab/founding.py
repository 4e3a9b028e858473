"""The founding experiments: each shows one limit in its simplest form, and a test reads it."""

from tests.lab.scenario import BIG_WINDOW, Host, Rule, Scenario, talk

_ROOMY = Host(sysctl=BIG_WINDOW)
_CUBIC = "opt cc cubic\n"


def scenarios() -> list[Scenario]:
    """All of them."""
    return []
