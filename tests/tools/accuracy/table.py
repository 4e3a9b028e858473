"""The counts as Markdown: a row a cause, and the confusion matrix in full."""

from tests.tools.accuracy.count import SIDES, Counts

MARK = ("<!-- accuracy: python -m tests.tools.accuracy --write -->", "<!-- end of accuracy -->")


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} % of {whole:,}" if whole else "–"


def summary(sets: dict[str, dict[str, Counts]]) -> str:
    """A row a set of captures and vantage."""
    lines = [
        "| captures | taken at the | waits | right | false stalls | sure (≥ 0.9) and wrong |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, sides in sets.items():
        for side, counts in sides.items():
            lines.append(
                f"| {name} | {side} | {counts.called.total():,} | {100 * counts.share():.1f} % "
                f"| {counts.false} of {counts.reported:,} | {counts.sure_and_wrong} of {counts.sure:,} |"
            )
    return "\n".join(lines)


def by_label(sets: dict[str, dict[str, Counts]]) -> str:
    """A row a label, a column a set and vantage."""
    heads = [f"{name}, {side}" for name in sets for side in SIDES]
    lines = ["| what the kernel says | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    every = [counts for sides in sets.values() for counts in sides.values()]
    for label in sorted({label for counts in every for label in counts.labels()}):
        cells = [percent(counts.right(label), counts.waits(label)) for counts in every]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def confusion(sets: dict[str, dict[str, Counts]]) -> str:
    """Labels of the waits that are not right."""
    lines = ["| captures | taken at the | what the kernel says | right | called something else |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for name, sides in sets.items():
        for side, counts in sides.items():
            for label in counts.labels():
                wrong = [
                    f"{called} {number}"
                    for (truth, called), number in counts.called.most_common()
                    if truth == label and called != label
                ]
                lines.append(f"| {name} | {side} | {label} | {counts.right(label):,} | {', '.join(wrong) or '–'} |")
    return "\n".join(lines)


def render(sets: dict[str, dict[str, Counts]]) -> str:
    """The tables of the page on accuracy."""
    matrix = f"<details>\n<summary>The confusion matrix in full</summary>\n\n{confusion(sets)}\n\n</details>"
    return "\n\n".join([summary(sets), by_label(sets), matrix])
