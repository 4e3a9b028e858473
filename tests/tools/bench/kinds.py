"""The captures that the bench knows, as people read of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """Its packets at full size make the text true."""

    about: str
    packets: int


KINDS = {
    "long": Kind("16 long flows, 96 bytes of each packet", 10_000_000),
    "short": Kind("500,000 short flows, 128 bytes of each packet", 6_500_000),
    "full": Kind("4 flows in whole 1,500-byte frames", 1_500_000),
    "half-open": Kind("a SYN flood of 10 million half-open flows", 20_000_000),
    "terabyte": Kind("one flow of 1 TB in 64 KB frames", 23_030_000),
    "stalls": Kind("one flow with 10 million exchanges, a wait after each", 20_000_000),
    "mixed": Kind("20 GB of mixed traffic in whole frames", 25_000_000),
}
