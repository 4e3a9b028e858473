"""Predictions beside what really came of the change, as Markdown."""

from collections.abc import Sequence

from tests.lab.judgement import SHARE, Judged, Ranking

MARK = ("<!-- predictions: python -m tests.lab.predictions --write -->", "<!-- end of predictions -->")


def render(pairs: Sequence[Judged], ranked: Sequence[Ranking]) -> str:
    """The whole section between its marks."""
    return "\n\n".join([MARK[0], summary(pairs, ranked), by_pair(pairs), by_ranking(ranked), MARK[1]])


def summary(pairs: Sequence[Judged], ranked: Sequence[Ranking]) -> str:
    """How many are right."""
    right = sum(one.right for one in pairs)
    enclosed = sum(one.enclosed for one in pairs)
    replayed = [one for one in pairs if one.forecast.replayed_ns is not None]
    faithful = sum(_close(one.forecast.replayed_ns or 0, one.before_ns, one) for one in replayed)
    ordered = sum(one.right for one in ranked)
    refused = sum(1 for one in pairs if one.off_ns is None)
    return "\n".join(
        [
            "| | |",
            "| --- | --- |",
            f"| changes really made and predicted beforehand | {len(pairs)} |",
            f"| within one round trip or {100 * SHARE:.0f} % of the real time | {_share(right, len(pairs))} |",
            f"| real time inside the predicted interval | {_share(enclosed, len(pairs))} |",
            f"| refused | {refused} |",
            f"| unchanged replay within the same of the time before | {_share(faithful, len(replayed))} |",
            f"| situations with several remedies, their order right | {_share(ordered, len(ranked))} |",
        ]
    )


def by_pair(pairs: Sequence[Judged]) -> str:
    """A row a change, wrong ones marked."""
    lines = [
        "| situation | change | before, ms | replayed | after | least–most | predicted | interval | off | allowed | |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    lines += [
        f"| {one.why} | `{one.change}` | {_ms(one.before_ns)} | {_ms(one.forecast.replayed_ns)} "
        f"| {_ms(one.after_ns)} | {_ms(one.least_ns)} – {_ms(one.most_ns)} "
        f"| {_ms(one.forecast.expected_ns)} | {_ms(one.forecast.low_ns)} – {_ms(one.forecast.high_ns)} "
        f"| {_signed(one.off_ns)} | {_ms(one.allowed_ns)} | {_verdict(one)} |"
        for one in pairs
    ]
    return "\n".join(lines)


def by_ranking(ranked: Sequence[Ranking]) -> str:
    """A row a situation: the remedies, really best first, with real and predicted times."""
    lines = ["| situation | remedies, really best first: real → predicted, ms | order |", "| --- | --- | --- |"]
    for one in ranked:
        remedies = ", ".join(
            f"`{each.change}` {_ms(each.after_ns)} → {_ms(each.forecast.expected_ns)}" for each in one.remedies
        )
        wrong = "; ".join(f"`{worse}` before `{better}`" for better, worse in one.swapped)
        lines.append(
            f"| {one.remedies[0].why} | {remedies} | {'right' if one.right else f'**wrong** {wrong}'.strip()} |"
        )
    return "\n".join(lines)


def _close(value: int, real: int, pair: Judged) -> bool:
    return abs(value - real) <= max(pair.before_rtt_ns, SHARE * real)


def _verdict(pair: Judged) -> str:
    if pair.off_ns is None:
        return f"**refused** {pair.forecast.refused}".strip()
    return "right" if pair.right else "**wrong**"


def _signed(ns: int | None) -> str:
    return "–" if ns is None else f"{'+' if ns >= 0 else '−'}{_ms(abs(ns))}"


def _ms(ns: int | None) -> str:
    """Three digits that count."""
    if ns is None:
        return "–"
    ms = ns / 1e6
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.1f}"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "–"
