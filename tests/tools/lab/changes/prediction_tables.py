"""Predictions beside what really came of the change, as Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.tools.lab.changes.judgement import SHARE, Forecast, Judged, Ranking

MARK = ("<!-- predictions: python -m tests.tools.lab.predictions --write -->", "<!-- end of predictions -->")


@dataclass(frozen=True, slots=True)
class Results:
    """Results of the predictions of one folder."""

    pairs: Sequence[Judged]
    ranked: Sequence[Ranking]


@dataclass(frozen=True, slots=True)
class Published:
    """An experiment that others published, and the pair that repeats it; of one `exchange`, or of all."""

    words: str
    situation: str
    change: str
    exchange: int | None = None


PUBLISHED = (
    Published("512 KB again after 3 s: 19.3 ms, with slow-start-after-idle off 5.0 ms", "idle-512k-3.5ms",
              "slow-start-after-idle=0", 1),
    Published("30 KB each way at 100 ms: 400 ms on a new connection, 100 to 200 ms on a used one", "new-30k-100ms",
              "reuse-connection=1", 1),
    Published("22 MB at 20 ms: 25 s with a send buffer of 16 KB, about 4 s with 130 KB", "sb1-22m-20ms-100mbit",
              "sndbuf=130K"),
    Published("the same: about 2 s where only the line of 100 Mbit/s binds", "sb1-22m-20ms-100mbit", "sndbuf=auto"),
    Published("512 KB, initial window 10 and 100: 46 and 10 ms, the latter at a round trip of 0.36 ms, not 5",
              "iw-512k-5ms", "initcwnd=100"),
)  # fmt: skip


def render(sets: Mapping[str, Results]) -> str:
    """All tables; the first set is that of the published experiments."""
    first = next(iter(sets.values()))
    tables = [summary(sets), published(first.pairs)]
    for name, results in sets.items():
        body = f"{by_pair(results.pairs)}\n\n{by_ranking(results.ranked)}"
        tables.append(f"<details>\n<summary>Every one: {name}</summary>\n\n{body}\n\n</details>")
        tables += misses(name, results)
    return "\n\n".join(tables)


def summary(sets: Mapping[str, Results]) -> str:
    """Number of right predictions, a column a set."""
    rows = [
        ("changes really made, each predicted from the capture before", _pairs),
        (
            f"within one round trip or {100 * SHARE:.0f} % of the real time",
            lambda of: _share(one.right for one in of.pairs if not one.forecast.by_chance),
        ),
        ("real time inside the predicted interval", lambda of: _share(one.enclosed for one in of.pairs)),
        ("interval alone, because chance decides", lambda of: str(sum(one.forecast.by_chance for one in of.pairs))),
        ("share of the single transfers inside it, mean", _by_chance),
        ("refused", lambda of: str(sum(one.off_ns is None and not one.forecast.by_chance for one in of.pairs))),
        ("unchanged replay as close to the time before", lambda of: _share(map(_faithful, _replayed(of)))),
        ("several remedies, their order right", lambda of: _share(one.right for one in of.ranked)),
        ("the really best remedy suggested first, unasked", lambda of: _share(one.found for one in of.ranked)),
    ]
    lines = [f"| | {' | '.join(sets)} |", "| --- |" + " --- |" * len(sets)]
    lines += [f"| {words} | {' | '.join(map(count, sets.values()))} |" for words, count in rows]
    return "\n".join(lines)


def _by_chance(of: Results) -> str:
    inside = [one.inside for one in of.pairs if one.forecast.by_chance and one.inside is not None]
    return f"{100 * sum(inside) / len(inside):.0f} %" if inside else "–"


def misses(name: str, results: Results) -> list[str]:
    """Wrong predictions, without anything around them."""
    wrong = [one for one in results.pairs if not one.right and not one.forecast.by_chance]
    return [f"Wrong or refused, {name}:\n\n{by_pair(wrong)}"] if wrong else []


def _pairs(of: Results) -> str:
    return str(len(of.pairs))


def _replayed(of: Results) -> list[Judged]:
    """One pair a capture."""
    return list({one.capture: one for one in of.pairs if one.forecast.replayed_ns is not None}.values())


def _faithful(one: Judged) -> bool:
    off = abs((one.forecast.replayed_ns or 0) - one.before_ns)
    return off <= max(one.before_rtt_ns, SHARE * one.before_ns)


def published(pairs: Sequence[Judged]) -> str:
    """Measurements of others, of this laboratory, and the predictions."""
    lines = [
        "| published | before, ms | after | predicted |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {one.words} | {' | '.join(map(_ms, _figures(pair, one.exchange)))} |"
        for one in PUBLISHED
        for pair in pairs
        if (pair.situation, pair.change) == (one.situation, one.change)
    ]
    return "\n".join(lines)


def _figures(pair: Judged, exchange: int | None) -> tuple[int | None, ...]:
    if exchange is None:
        return pair.before_ns, pair.after_ns, pair.forecast.expected_ns
    told = pair.forecast.exchanges_ns
    predicted = told[exchange] if exchange < len(told) else None
    return pair.before_exchanges_ns[exchange], pair.after_exchanges_ns[exchange], predicted


def by_pair(pairs: Sequence[Judged]) -> str:
    """A row a change, wrong ones marked."""
    lines = [
        "| situation | change | before, ms | replayed | after | least–most | predicted | interval | off | allowed | |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    lines += [
        f"| {one.why} | `{one.change}` | {_ms(one.before_ns)} | {_ms(one.forecast.replayed_ns)} "
        f"| {_ms(one.after_ns)} | {_ms(one.least_ns)} – {_ms(one.most_ns)} "
        f"| {_ms(one.forecast.expected_ns)} | {_interval(one.forecast)} "
        f"| {_signed(one.off_ns)} | {_ms(one.allowed_ns)} | {_verdict(one)} |"
        for one in pairs
    ]
    return "\n".join(lines)


def by_ranking(ranked: Sequence[Ranking]) -> str:
    """A row a situation: the remedies, really best first, with real and predicted times."""
    lines = [
        "| situation | remedies, really best first: real → predicted, ms | order | suggested unasked |",
        "| --- | --- | --- | --- |",
    ]
    for one in ranked:
        remedies = ", ".join(
            f"`{each.change}` {_ms(each.after_ns)} → {_ms(each.forecast.expected_ns)}" for each in one.remedies
        )
        wrong = "; ".join(f"`{worse}` before `{better}`" for better, worse in one.swapped)
        order = "right" if one.right else f"**wrong** {wrong}" if wrong else "**refused**"
        suggested = ", ".join(f"`{each}`" for each in one.suggested) or "–"
        missed = "" if one.found else "**missed** "
        lines.append(f"| {one.remedies[0].why} | {remedies} | {order} | {missed}{suggested} |")
    return "\n".join(lines)


def _verdict(pair: Judged) -> str:
    if pair.forecast.by_chance:
        return "by chance" if pair.enclosed else "by chance, **outside**"
    if pair.off_ns is None:
        return f"**refused** {pair.forecast.refused}".strip()
    return "right" if pair.right else "**wrong**"


def _interval(said: Forecast) -> str:
    return "–" if said.low_ns is None else f"{_ms(said.low_ns)} – {_ms(said.high_ns)}"


def _signed(ns: int | None) -> str:
    return "–" if ns is None else f"{'+' if ns >= 0 else '−'}{_ms(abs(ns))}"


def _ms(ns: int | None) -> str:
    """Three digits that count."""
    if ns is None:
        return "–"
    ms = ns / 1e6
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.1f}"


def _share(rights: Iterable[bool]) -> str:
    each = list(rights)
    return f"{sum(each)} of {len(each)} ({100 * sum(each) / len(each):.0f} %)" if each else "–"
