# SPDX-License-Identifier: Apache-2.0
"""docs.py FOLDER FILES...: what compare.py wrote, in FOLDER: truth.svg, all
errors, and the figures between the marks of truth.md, where that is there; and
the tables of what timers.py wrote, NAME.timers. The same files give the same
bytes."""

import contextlib
import html
import io
import math
import pathlib
import re
import sys

import chance
import judge
import timers

BEGIN, END = "<!-- figures: made by make truth -->", "<!-- end of figures -->"
WIDTH, HEIGHT, BOTTOM = 400, 280, 236
SIGMAS, STEP = 4, 0.25  # standard deviations: how far it reaches, of a bar
STYLE = """
svg { --back: #f6f7f9; --ink: #1b2130; --soft: #566072;
  --fine: #2f6fce; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { svg { --back: #101319; --ink: #e7eaf0;
  --soft: #9aa5b6; --fine: #7db4ff; --bad: #ff8a80; } }
text { fill: var(--soft); font: 12px system-ui, sans-serif;
  text-anchor: middle; }
path { stroke: var(--soft); fill: none; }
.bell { stroke: var(--ink); stroke-width: 2; }
.fine { fill: var(--fine); } .bad { fill: var(--bad); }
"""


def number(value):
    """A coordinate, as short as it can be."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def text(x, y, words):
    return (
        f'<text x="{number(x)}" y="{number(y)}">' f"{html.escape(words)}</text>"
    )


def path(places, kind=""):
    points = "L".join(f"{number(x)} {number(y)}" for x, y in places)
    return f'<path class="{kind}" d="M{points}"/>'


def picture(paths):
    """All functions' errors, over the normal distribution of as many."""
    values = [
        max(-SIGMAS, min(SIGMAS, row["error"] * chance.Z95))
        for file in paths
        for row in judge.read(file)["self"]
    ]
    bins = [0] * int(2 * SIGMAS / STEP)
    for value in values:
        bins[min(int((value + SIGMAS) / STEP), len(bins) - 1)] += 1
    peak = len(values) * STEP / math.sqrt(2 * math.pi)
    most = max(*bins, peak)

    def x_of(z):
        return 12 + (z + SIGMAS) / (2 * SIGMAS) * (WIDTH - 24)

    def y_of(count):
        return BOTTOM - count / most * (BOTTOM - 12)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="all errors and the normal distribution">'
        "<!-- SPDX-License-Identifier: Apache-2.0 -->"
        f"<style>{STYLE}</style>"
        '<rect width="100%" height="100%" fill="var(--back)"/>'
    ]
    for place, count in enumerate(bins):
        left = -SIGMAS + place * STEP
        kind = "fine" if abs(left + STEP / 2) < chance.Z95 else "bad"
        if count:
            parts.append(
                f'<rect class="{kind}" opacity=".75" '
                f'x="{number(x_of(left) + .5)}" y="{number(y_of(count))}" '
                f'width="{number(x_of(STEP) - x_of(0) - 1)}" '
                f'height="{number(BOTTOM - y_of(count))}"/>'
            )
    bell = [z / 20 for z in range(-20 * SIGMAS, 20 * SIGMAS + 1)]
    parts += [
        path(
            [(x_of(z), y_of(peak * math.exp(-z * z / 2))) for z in bell], "bell"
        ),
        path([(12, BOTTOM), (WIDTH - 12, BOTTOM)]),
    ]
    parts += [
        text(x_of(z), BOTTOM + 16, f"{z:+d}" if z else "0")
        for z in range(1 - SIGMAS, SIGMAS)
    ]
    words = f"errors of {len(values):,} shares, in standard deviations"
    parts.append(text(WIDTH / 2, HEIGHT - 6, words))
    return "".join(parts) + "</svg>\n"


def figures(paths, by_timers):
    """What judge.py and timers.py print as tables, as Markdown has it."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        judge.table(paths)
        print()
        timers.table(by_timers)
    return "".join(
        "    " + line + "\n" if line else "\n"
        for line in said.getvalue().splitlines()
    )


def main(folder, words):
    folder = pathlib.Path(folder)
    by_timers = [word for word in words if word.endswith(".timers")]
    paths = [word for word in words if word not in by_timers]
    (folder / "truth.svg").write_text(picture(paths), encoding="utf-8")
    document = folder / "truth.md"
    if document.exists():
        new, count = re.subn(
            f"{BEGIN}.*?{END}",
            lambda _: f"{BEGIN}\n\n{figures(paths, by_timers)}\n{END}",
            document.read_text(encoding="utf-8"),
            flags=re.S,
        )
        if not count:
            sys.exit(f"{document}: no '{BEGIN}'")
        document.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
