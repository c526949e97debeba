# SPDX-License-Identifier: Apache-2.0
"""page.py RESULTS: a page with a plot for each curve, both axes by powers of
ten; self-contained, and the same for the same results."""

import html
import math
import pathlib
import sys

import curves
import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/pages"))
import build_page  # noqa: E402 (its folder comes first)

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 240, 58, 14, 10, 34
WIDTHS = ("i386", "x86_64", "host")
STYLE = """
:root { --i386: #c8781a; --x86_64: #3b7dd8; --host: #3d8f5f; }
@media (prefers-color-scheme: dark) { :root { --i386: #f0ad57;
  --x86_64: #7db4ff; --host: #74c596; } }
body { background: var(--back); color: var(--text); margin: 2rem auto;
  max-width: 84rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
.plots { display: grid; gap: 1.5rem 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0; }
figcaption { font-weight: 600; line-height: 1.3; }
figcaption span { display: block; font-weight: 400; color: var(--dim);
  font-size: 13px; }
figcaption .missed { color: var(--bad); }
svg { width: 100%; height: auto; }
text { fill: var(--dim); font-size: 12px; }
line { stroke: var(--edge); }
polyline { fill: none; stroke-width: 2; }
.i386 { stroke: var(--i386); } .x86_64 { stroke: var(--x86_64); }
.host { stroke: var(--host); }
circle.i386 { fill: var(--i386); } circle.x86_64 { fill: var(--x86_64); }
circle.host { fill: var(--host); }
.key b { padding: 0 .6rem 0 0; } .key .i386 { color: var(--i386); }
.key .x86_64 { color: var(--x86_64); } .key .host { color: var(--host); }
"""
HEAD = """What the profiler costs, and how that grows. Each plot has powers of
ten on both axes, so that what is proportional to x rises at the same angle
everywhere, and what is flat stays flat. Guests are counted in instructions,
where a run repeats exactly; times are of one host, and are not."""


class Axis:
    """Values from (low) to (high), by powers of ten, onto pixels. Where one
    is 0 that is the foot, a power below the least of the others."""

    def __init__(self, values, begin, end):
        above = [value for value in values if value > 0] or [1]
        self.low = math.floor(math.log10(min(above)) + 1e-9)
        self.has_zero = min(values) <= 0
        self.low -= self.has_zero
        self.high = max(math.ceil(math.log10(max(above)) - 1e-9), self.low + 1)
        self.begin, self.end = begin, end

    def at(self, value):
        """Where (value) is; 0 is at the foot."""
        power = math.log10(value) if value > 0 else self.low
        part = (power - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def powers(self):
        step = 1 + (self.high - self.low) // 7
        return range(self.low, self.high + 1, step)

    def words(self, power):
        """10^power as people write it, up to a billion."""
        if self.has_zero and power == self.low:
            return "0"
        if power < 0:
            return f"{10 ** power:g}"
        letters = ("", "k", "M", "G")
        if power // 3 >= len(letters):
            return f"1e{power}"
        return f"{10 ** (power % 3)}{letters[power // 3]}"


def grid(across, up, what):
    parts = []
    for power in across.powers():
        x = across.at(10.0**power)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" '
            f'y2="{HEIGHT - BOTTOM}"/><text x="{x:.1f}" '
            f'y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">'
            f"{across.words(power)}</text>"
        )
    for power in up.powers():
        y = up.at(10.0**power)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
            f'y2="{y:.1f}"/><text x="{LEFT - 6}" y="{y + 4:.1f}" '
            f'text-anchor="end">{up.words(power)}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 3}" '
        f'text-anchor="middle">{html.escape(what)}</text>'
    )
    return parts


def line(width, points, across, up):
    at = [(across.at(x), up.at(y)) for x, y in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    parts = [f'<polyline class="{width}" points="{path}"/>']
    for (x, y), (left, top) in zip(points, at):
        parts.append(
            f'<circle class="{width}" cx="{left:.1f}" '
            f'cy="{top:.1f}" r="3"><title>{width}: '
            f"{table.short_number(y)} at {x:,}</title></circle>"
        )
    return parts


def plot(curve, widths):
    every = [point for points in widths.values() for point in points]
    across = Axis([x for x, _ in every], LEFT, WIDTH - RIGHT)
    up = Axis([y for _, y in every], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{html.escape(curve.words)}">'
    ]
    parts += grid(across, up, curve.x)
    for width, points in widths.items():
        parts += line(width, points, across, up)
    return "".join(parts) + "</svg>"


def ends(widths):
    """From what to what, where every width has its own."""
    said = []
    for width, points in widths.items():
        first, last = (table.short_number(points[at][1]) for at in (0, -1))
        said.append(f"{width} {first} to {last}")
    return "; ".join(said)


def figure(curve, widths):
    bounds = "".join(
        f'<span{"" if kept else " class=missed"}>{html.escape(words)}: '
        f'{"reached" if kept else "not reached"}</span>'
        for words, kept in table.verdicts(curve, widths)
    )
    grows = ", ".join(table.grows(points) for points in widths.values())
    return (
        f"<figure><figcaption>{html.escape(curve.words)}"
        f"<span>{curve.unit}: {html.escape(ends(widths))}; "
        f"fitted {grows}</span>{bounds}</figcaption>"
        f"{plot(curve, widths)}</figure>"
    )


def body(found):
    parts = [
        f"<h1>How the costs grow</h1><p>{HEAD}</p><p class=key>"
        + "".join(f'<b class="{width}">&#9679; {width}</b>' for width in WIDTHS)
        + "</p>"
    ]
    for title, group in curves.GROUPS:
        parts.append(f"<h2>{html.escape(title)}</h2><div class=plots>")
        parts += [
            figure(curve, found[curve.name])
            for curve in group
            if curve.name in found
        ]
        parts.append("</div>")
    return "\n".join(parts)


def main(path):
    print(
        build_page.build("How the costs grow", STYLE, body(table.read(path))),
        end="",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
