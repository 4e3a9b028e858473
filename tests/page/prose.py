"""A page as its reader sees it."""

__all__ = ["prose"]


def prose(page: str) -> str:
    """The page with plain spaces in place of those that hold a figure to its unit, which look the same."""
    return page.replace("&nbsp;", " ")
