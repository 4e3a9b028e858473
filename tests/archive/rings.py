"""A ring's files, which connections cross."""

from tests.tools.bench.archive import Rotating
from tests.tools.bench.captures import long

__all__ = ["crossed"]


def crossed(file_bytes: int, packets: int) -> list[bytes]:
    """The files in their order, about so large: four connections cross all of them."""
    rotating = Rotating(file_bytes, 0)
    long(4).write(rotating, packets)  # type: ignore[arg-type]
    rotating.close()
    return [content for _, content in rotating.files]
