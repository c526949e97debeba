# SPDX-License-Identifier: Apache-2.0
"""table.py RESULTS [PAGE]: the table of the bench, from its lines of JSON.

Shows the groups of rows.txt whose parts were run, each row with its goal, and
figures with words of their own. Exit status 1 if a goal is missed or a figure
is missing. Exact rows have a column per width; noisy ones the median and the
middle half, or the interval. If all parts were run, the table is also written
to PAGE, between its markers.
"""

import contextlib
import io
import pathlib
import re
import sys

import figures

WORDS, VALUE, GOAL = figures.WORDS, 9, 10
BEGIN, END = "<!-- figures: made by make bench -->", "<!-- end of figures -->"


def short(value):
    """At least three digits, in seven characters."""
    if value == round(value) and abs(value) < 1000:
        return f"{value:.0f}"
    size = abs(value)
    if size >= 10_000_000:
        return f"{value / 1e6:.0f}M"
    if size >= 1000:
        return f"{value:,.0f}" if size < 1_000_000 else f"{value / 1e3:,.0f}k"
    digits = 2 if size < 100 else 1
    return f"{value:.{digits}f}" if size >= 0.1 else f"{value:.2g}"


def brief(value):
    """Three digits, for the ends of a spread."""
    if abs(value) >= 10_000:
        return f"{value / 1000:.0f}k"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(figure):
    if "low" not in figure or "high" not in figure:
        return ""
    return f"{brief(figure['low'])}..{brief(figure['high'])}"


def goal_column(goal):
    if goal in ("less", "more", "-"):
        return "-"
    sign, number = goal.split()
    if "/" in number:
        return sign + number
    return f"{sign} {short(float(number))}"


def judged(figure_list):
    """The last column: the verdict on the row's worst figure."""
    if None in figure_list:
        return "MISSING"
    verdicts = [figures.verdict(figure) for figure in figure_list]
    if None in verdicts:
        return ""
    return "reached" if all(verdicts) else "NOT REACHED"


def print_row(words, columns, goal, last):
    cells = "".join(f"{column:>{width}}" for column, width in columns)
    line = f"{words:<{WORDS}}{cells}{goal:>{GOAL}} {last}"
    print(line.rstrip())


def columns_of(row, figure_list, noisy, columns):
    """Figures of the row, aligned to the right of (columns)."""
    values = [
        short(figure["value"]) if figure else "?" for figure in figure_list
    ]
    if not noisy:
        return [
            (value, VALUE + 1)
            for value in [""] * (columns - len(values)) + values
        ]
    between = "exact" if row.kind == "exact" else ""
    if figure_list[0] and not between:
        between = spread(figure_list[0])
    return [(values[0], VALUE), (between, VALUE + 2)]


def print_title(group):
    columns = [("value", VALUE), ("between", VALUE + 2)]
    if group.kind == "exact":
        columns = [(width, VALUE + 1) for width in group.widths]
    words = group.title
    if len(words) > WORDS:
        print(words)
        words = ""
    print_row(words, columns, "goal", "")


def show_row(row, found, group):
    """Returns whether nothing is missing and all goals are reached."""
    noisy = group.kind != "exact"
    pairs = [[w] for w in row.widths] if noisy else [row.widths]
    fine = True
    for widths in pairs:
        figure_list = [
            found.get((row.part, width, row.name, None)) for width in widths
        ]
        words = row.words
        if noisy and len(row.widths) > 1:
            words = f"{words}, {widths[0]}"
        last = judged(figure_list)
        fine = fine and last not in ("MISSING", "NOT REACHED")
        print_row(
            words,
            columns_of(row, figure_list, noisy, len(group.widths)),
            goal_column(row.goal),
            last,
        )
    return fine


def own_rows(group, found, last_of_part):
    """Rows for a part's lines with words, after its last group."""
    if not last_of_part:
        return []
    names, rows = {row.name for row in group.rows}, []
    for figure in found.values():
        if figure.get("part") != group.part or "words" not in figure:
            continue
        if figure["name"] in names:
            continue
        names.add(figure["name"])
        widths = [
            width
            for width in figures.WIDTHS
            if (group.part, width, figure["name"], None) in found
        ]
        rows.append(
            figures.Row(
                group.part,
                figure.get("kind", group.kind),
                widths,
                (
                    figure["name"],
                    figure.get("goal", "-"),
                    figure.get("unit", ""),
                    figure["words"],
                ),
            )
        )
    return rows


def print_table(head, found):
    """Returns whether no figure is missing and all goals are reached."""
    groups = [
        group
        for group in figures.groups_of_table()
        if group.part in head.get("parts", [])
    ]
    print(
        f"{head.get('commit')}, {head.get('qemu')},\n{head.get('compiler')}, "
        f"{head.get('cpu')}"
    )
    fine = True
    for number, group in enumerate(groups):
        later = [other.part for other in groups[number + 1 :]]
        rows = group.rows + own_rows(group, found, group.part not in later)
        print()
        print_title(group)
        for row in rows:
            fine = show_row(row, found, group) and fine
    return fine


def publish(page, text):
    """Puts (text), indented, between the markers of (page)."""
    block = "".join(
        "    " + line + "\n" if line else "\n" for line in text.splitlines()
    )
    old = page.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise figures.Bad(f"{page}: no '{BEGIN}' and '{END}'")
    page.write_text(
        re.sub(
            f"{BEGIN}.*?{END}",
            lambda _: f"{BEGIN}\n\n{block}\n{END}",
            old,
            flags=re.S,
        ),
        encoding="utf-8",
    )


def main():
    head, found = figures.read(sys.argv[1])
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        fine = print_table(head, found)
    print(said.getvalue(), end="")
    everything = {group.part for group in figures.groups_of_table()}
    if len(sys.argv) > 2:
        if not everything <= set(head.get("parts", [])):
            return 2
        publish(pathlib.Path(sys.argv[2]), said.getvalue())
    return 0 if fine else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except figures.Bad as error:
        sys.exit(f"table.py: {error}")
