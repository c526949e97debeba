# SPDX-License-Identifier: Apache-2.0
"""Plots of what compare.py wrote, as SVG that follows the reader's light or
dark, each 400 wide, so that nothing shrinks on a telephone."""

import html
import math

import chance

WIDTH = 400
# The colours of a picture by itself; in a page they are the page's.
ALONE = """
svg { --back: #f6f7f9; --ink: #1b2130; --soft: #566072; --line: #dfe3ea;
  --fine: #2f6fce; --band: #2f6fce22; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { svg { --back: #101319; --ink: #e7eaf0;
  --soft: #9aa5b6; --line: #2a313d; --fine: #7db4ff; --band: #7db4ff26;
  --bad: #ff8a80; } }
"""
IN_PAGE = """
:root { --fine: light-dark(#2f6fce, #7db4ff);
  --band: light-dark(#2f6fce22, #7db4ff26); }
"""
STYLE = """
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
svg text.name { fill: var(--ink); }
svg .end { text-anchor: end; } svg .mid { text-anchor: middle; }
svg .grid { stroke: var(--line); } svg .band { fill: var(--band); }
svg .line { stroke: var(--soft); fill: none; }
svg .true { stroke: var(--ink); stroke-width: 2; }
svg .f { fill: var(--fine); } svg .b { fill: var(--bad); }
svg .fr { stroke: var(--fine); fill: none; }
svg .br { stroke: var(--bad); fill: none; }
"""
ROW, NAME = 22, 158
SHOWN = 10  # functions, of which the shares are drawn
EDGE = 2.5  # errors beyond it are drawn at the edge
SIGMAS = 4  # so far reach the plots of all errors


def number(value):
    """A coordinate, as short as it can be."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def svg(height, parts, label, style=""):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{html.escape(label)}">{style}' + "".join(parts) + "</svg>"
    )


def text(x, y, words, kind=""):
    return (
        f'<text x="{number(x)}" y="{number(y)}"'
        + (f' class="{kind}"' if kind else "")
        + f">{html.escape(words)}</text>"
    )


def line(ends, kind):
    x, y, to_x, to_y = map(number, ends)
    return f'<path class="{kind}" d="M{x} {y}L{to_x} {to_y}"/>'


def short(name, room=24):
    return name if len(name) <= room else name[: room - 1] + "…"


def share_row(row, whole, y, x_of):
    """One function: its interval, what was sampled, and what is true."""
    low, high = chance.interval(row["samples"], whole)
    kind = "f" if chance.is_inside(row["error"]) else "b"
    left = x_of(low)
    title = (
        f"{row['function']}: {100 * row['true']:.3f} % in truth, "
        f"{100 * row['sampled']:.3f} % sampled"
    )
    return (
        f"<g><title>{html.escape(title)}</title>"
        + text(NAME - 8, y + 4, short(row["function"]), "name end")
        + f'<rect class="{kind}" opacity=".45" x="{number(left)}" '
        f'y="{number(y - 4)}" width="{number(x_of(high) - left)}" '
        'height="8" rx="4"/>'
        f'<circle class="{kind}" cx="{number(x_of(row["sampled"]))}" '
        f'cy="{number(y)}" r="3"/>'
        + line((x_of(row["true"]), y - 8, x_of(row["true"]), y + 8), "true")
        + "</g>"
    )


def round_step(most):
    """A step of an axis with at most five steps to (most)."""
    step = 10 ** math.floor(math.log10(most))
    for part in (0.2, 0.5, 1, 2):
        if most / (step * part) <= 5:
            return step * part
    return step * 5


def shares(one):
    """The largest functions' own shares and their intervals."""
    rows = one["self"][:SHOWN]
    most = max(
        [chance.interval(row["samples"], one["judged"])[1] for row in rows]
    )
    height = len(rows) * ROW + 34
    room = WIDTH - NAME - 12

    def x_of(share):
        return NAME + share / most * room

    parts = []
    step = round_step(most)
    for tick in range(int(most / step + 1e-9) + 1):
        x = x_of(tick * step)
        parts.append(line((x, 4, x, height - 24), "grid"))
        parts.append(text(x, height - 8, f"{100 * tick * step:g} %", "mid"))
    parts += [
        share_row(row, one["judged"], 15 + place * ROW, x_of)
        for place, row in enumerate(rows)
    ]
    return svg(height, parts, "true and sampled shares")


def mark(x, off, y, is_total):
    kind = "f" if chance.is_inside(off) else "b"
    if is_total:
        return (
            f'<circle class="{kind}r" cx="{number(x)}" '
            f'cy="{number(y)}" r="3.5"/>'
        )
    return (
        f'<circle class="{kind}" cx="{number(x)}" cy="{number(y)}" ' 'r="2.5"/>'
    )


def errors(runs):
    """The error of each function over its true share, of some runs."""
    height, left, top, bottom = 254, 40, 8, 220
    least = min(
        row["true"] for run in runs for row in run["self"] + run["total"]
    )
    powers = math.log10(least)

    def x_of(share):
        return WIDTH - 22 - math.log10(share) / powers * (WIDTH - left - 34)

    def y_of(off):
        off = max(-EDGE, min(EDGE, off))
        return (top + bottom) / 2 - off / EDGE * (bottom - top - 12) / 2

    parts = [
        f'<rect class="band" x="{left}" y="{number(y_of(1))}" '
        f'width="{WIDTH - left - 4}" '
        f'height="{number(y_of(-1) - y_of(1))}"/>'
    ]
    for off in range(-2, 3):
        parts.append(line((left, y_of(off), WIDTH - 4, y_of(off)), "grid"))
        parts.append(
            text(left - 6, y_of(off) + 4, f"{off:+d}" if off else "0", "end")
        )
    for power in range(0, math.ceil(powers) - 1, -1):
        if power >= powers:
            parts.append(
                text(
                    x_of(10**power),
                    bottom + 14,
                    f"{100 * 10 ** power:g} %",
                    "mid",
                )
            )
    parts.append(
        text(
            left, height - 2, "error, in 95 % intervals, over the " "true share"
        )
    )
    for key in ("total", "self"):
        parts += [
            mark(
                x_of(row["true"]),
                row["error"],
                y_of(row["error"]),
                key == "total",
            )
            for run in runs
            for row in run[key]
        ]
    return svg(height, parts, "errors over true shares")


def normal(z):
    """The probability of less."""
    return math.erfc(-z / math.sqrt(2)) / 2


def quantile(probability):
    """The inverse."""
    low, high = -9.0, 9.0
    for _ in range(60):
        middle = (low + high) / 2
        if normal(middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def sigmas(runs):
    """All functions' errors, in standard deviations."""
    return sorted(
        max(-SIGMAS, min(SIGMAS, row["error"] * chance.Z95))
        for run in runs
        for row in run["self"]
    )


def histogram(runs, style=""):
    """Errors, and what the normal distribution says of as many."""
    values, height, bottom, step = sigmas(runs), 280, 236, 0.25
    bins = [0] * int(2 * SIGMAS / step)
    for value in values:
        bins[min(int((value + SIGMAS) / step), len(bins) - 1)] += 1
    bell = [
        (
            z / 20,
            len(values)
            * step
            * math.exp(-((z / 20) ** 2) / 2)
            / math.sqrt(2 * math.pi),
        )
        for z in range(-80, 81)
    ]
    most = max(max(bins), bell[80][1])

    def x_of(z):
        return 12 + (z + SIGMAS) / (2 * SIGMAS) * (WIDTH - 24)

    def y_of(count):
        return bottom - count / most * (bottom - 12)

    parts = []
    for place, count in enumerate(bins):
        middle = -SIGMAS + (place + 0.5) * step
        kind = "f" if abs(middle) < chance.Z95 else "b"
        if count:
            parts.append(
                f'<rect class="{kind}" opacity=".75" '
                f'x="{number(x_of(middle - step / 2) + .5)}" '
                f'y="{number(y_of(count))}" '
                f'width="{number(x_of(step) - x_of(0) - 1)}" '
                f'height="{number(bottom - y_of(count))}"/>'
            )
    points = "L".join(
        f"{number(x_of(z))} {number(y_of(count))}" for z, count in bell
    )
    parts.append(f'<path class="true" fill="none" d="M{points}"/>')
    parts.append(line((12, bottom, WIDTH - 12, bottom), "line"))
    parts += [
        text(x_of(z), bottom + 16, f"{z:+d}" if z else "0", "mid")
        for z in range(-3, 4)
    ]
    parts.append(
        text(
            WIDTH / 2,
            height - 6,
            "errors of " f"{len(values):,} shares, in standard deviations",
            "mid",
        )
    )
    return svg(height, parts, "all errors and the normal distribution", style)


def quantiles(runs):
    """The same, each error over where it should be."""
    values, height, bottom = sigmas(runs), 280, 236

    def x_of(z):
        return 34 + (z + SIGMAS) / (2 * SIGMAS) * (WIDTH - 46)

    def y_of(z):
        return bottom - (z + SIGMAS) / (2 * SIGMAS) * (bottom - 8)

    parts = []
    for z in range(-3, 4):
        parts.append(line((34, y_of(z), WIDTH - 12, y_of(z)), "grid"))
        label = f"{z:+d}" if z else "0"
        parts.append(text(28, y_of(z) + 4, label, "end"))
        parts.append(text(x_of(z), bottom + 16, label, "mid"))
    parts.append(
        line((x_of(-SIGMAS), y_of(-SIGMAS), x_of(SIGMAS), y_of(SIGMAS)), "line")
    )
    for place, value in enumerate(values):
        z = quantile((place + 0.5) / len(values))
        kind = "f" if abs(value) < chance.Z95 else "b"
        parts.append(
            f'<circle class="{kind}" cx="{number(x_of(z))}" '
            f'cy="{number(y_of(value))}" r="2"/>'
        )
    parts.append(
        text(
            WIDTH / 2,
            height - 6,
            "error over what chance alone " "makes it",
            "mid",
        )
    )
    return svg(height, parts, "quantiles of errors and of chance")
