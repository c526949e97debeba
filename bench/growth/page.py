# SPDX-License-Identifier: Apache-2.0
"""page.py RESULTS: a page with a plot for each curve that grows, both axes by
powers of ten, and a sentence for each that does not; self-contained, and the
same for the same results."""

import html
import math
import pathlib
import sys

import curves
import fit
import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "host/pages"))
import build_page  # noqa: E402 (its folder comes first)

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 240, 58, 14, 10, 34
WIDTHS = ("i386", "x86_64", "host")
STYLE = """
:root { --i386: light-dark(#c8781a, #f0ad57);
  --x86_64: light-dark(#3b7dd8, #7db4ff);
  --host: light-dark(#3d8f5f, #74c596); }
body { background: var(--back); color: var(--ink); margin: 2rem auto;
  max-width: 84rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
h2 { font-size: 1.2rem; margin: 2rem 0 .6rem; }
p, .read li { max-width: 46rem; }
.plots { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0; padding: .8rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: 9px; }
figcaption { font-weight: 600; line-height: 1.3; }
figcaption span { display: block; font-weight: 400; color: var(--soft);
  font-size: 13px; }
.flat { padding-left: 1.2rem; }
.flat span { color: var(--soft); }
.missed, figcaption .missed { color: var(--bad); font-weight: 600; }
svg { width: 100%; height: auto; }
text { fill: var(--soft); font-size: 12px; }
line { stroke: var(--line); }
polyline { fill: none; stroke-width: 2; }
polyline.fit { stroke-width: 1.2; stroke-dasharray: 3 4; }
.i386 { stroke: var(--i386); } .x86_64 { stroke: var(--x86_64); }
.host { stroke: var(--host); }
circle.i386 { fill: var(--i386); } circle.x86_64 { fill: var(--x86_64); }
circle.host { fill: var(--host); }
.key b { padding: 0 .6rem 0 0; } .key .i386 { color: var(--i386); }
.key .x86_64 { color: var(--x86_64); } .key .host { color: var(--host); }
"""
HEAD = """<p>What the profiler costs, and how that grows with the rate, the
depth of stacks, the number of symbols, and so on. Guests count instructions, so
a run repeats exactly; times were measured on one host and do not.</p>
<h2>How to read it</h2>
<ul class=read>
<li><b>Plots.</b> Both axes are logarithmic: each grid line is ten times the
one before. Proportional growth is a straight line at the same angle in all
plots. What stays the same is not plotted: a sentence says so.</li>
<li><b>Fit.</b> The dashed line is y = a + b&thinsp;x<sup>p</sup>, with a and b
not negative, which has the smallest relative error (least squares) over all
points. a is the fixed cost; b&thinsp;x<sup>p</sup> is what grows.</li>
<li><b>Exponent.</b> p says how fast: with twice the x the growing part becomes
2<sup>p</sup> times as large. 0 does not grow, 1 is proportional, 2 is
quadratic; logarithmic growth is fitted as a small exponent, about 0.1.</li>
<li><b>Bound.</b> What the curve must not exceed, decided before measuring:
an exponent, a sum for each doubling or for each further x, a multiple of the
smallest value, or a value. <code>make growth</code> fails where one is
exceeded.</li>
</ul>"""
BOUNDS = {
    "power": "exponent at most {:g}",
    "step": "at most {:g} more with each doubling",
    "each": "at most {:g} more for each further one",
    "flat": "the largest at most {:g} times the smallest",
    "most": "at most {:,g}",
    "least": "at least {:,g}",
}
FIT_POINTS = 24  # of a dashed line


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


def fitted(width, points, across, up):
    """The fitted curve as a dashed line, where there is something to see."""
    first, last = points[0][0], points[-1][0]
    above = [(x, y) for x, y in points if y > 0]
    power = fit.exponent(points)
    if power == 0 or len(above) < 3:
        return []
    _, a, b = fit.line_through(above, power)
    places = []
    for step in range(FIT_POINTS + 1):
        x = first * (last / first) ** (step / FIT_POINTS)
        y = min(max(a + b * x**power, 10.0**up.low), 10.0**up.high)
        places.append(f"{across.at(x):.1f},{up.at(y):.1f}")
    return [f'<polyline class="fit {width}" points="{" ".join(places)}"/>']


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
        parts += fitted(width, points, across, up)
        parts += line(width, points, across, up)
    return "".join(parts) + "</svg>"


def is_flat(widths):
    """Whether no width's curve grows enough to be worth a plot."""
    return all(fit.spread(points) < table.EVEN for points in widths.values())


def values(curve, points):
    """From what to what, in the curve's unit."""
    low, high = (
        table.short_number(end([y for _, y in points])) for end in (min, max)
    )
    unit = curve.unit if curve.unit == "%" else " " + curve.unit
    return (low if low == high else f"{low} to {high}") + unit


def bounds(curve, widths):
    """Each bound and whether it is kept, as HTML."""
    said = []
    for kind, limit in curve.bounds:
        kept = all(
            fit.judge(points, kind, limit)[1] for points in widths.values()
        )
        said.append(
            f"{BOUNDS[kind].format(limit)}: "
            + ("kept" if kept else "<b class=missed>exceeded</b>")
        )
    return "Bound: " + "; ".join(said)


def sentence(curve, widths):
    """A curve that does not grow."""
    first, last = (
        table.short_number(
            end(x for points in widths.values() for x, _ in points)
        )
        for end in (min, max)
    )
    said = "; ".join(
        f"{width} {values(curve, points)}" for width, points in widths.items()
    )
    span = f"does not grow from {first} to {last}"
    if first == last:
        span = f"was measured at {first}"
    return (
        f"<li><b>{html.escape(curve.words)}</b> {span} "
        f"{html.escape(curve.x)}: {html.escape(said)}. "
        f"<span>{bounds(curve, widths)}.</span></li>"
    )


def figure(curve, widths):
    said = []
    for width, points in widths.items():
        first, last = (table.short_number(points[at][1]) for at in (0, -1))
        said.append(
            f"{width}: {first} to {last}, exponent {fit.exponent(points):.2f}"
        )
    return (
        f"<figure><figcaption>{html.escape(curve.words)} "
        f"({html.escape(curve.unit)})"
        + "".join(f"<span>{html.escape(one)}</span>" for one in said)
        + f"<span>{bounds(curve, widths)}</span></figcaption>"
        + f"{plot(curve, widths)}</figure>"
    )


def section(title, group):
    """The plots of (group), {curve: widths}, then the sentences."""
    flat = [curve for curve, widths in group.items() if is_flat(widths)]
    parts = [f"<h2>{html.escape(title)}</h2><div class=plots>"]
    parts += [
        figure(curve, widths)
        for curve, widths in group.items()
        if curve not in flat
    ]
    parts.append("</div>")
    if flat:
        parts.append("<ul class=flat>")
        parts += [sentence(curve, group[curve]) for curve in flat]
        parts.append("</ul>")
    return parts


def body(found):
    parts = [
        f"<h1>How the costs grow</h1>{HEAD}<p class=key>"
        + "".join(f'<b class="{width}">&#9679; {width}</b>' for width in WIDTHS)
        + "</p>"
    ]
    for title, group in curves.GROUPS:
        parts += section(
            title,
            {
                curve: found[curve.name]
                for curve in group
                if curve.name in found
            },
        )
    return "\n".join(parts)


def main(path):
    print(
        build_page.build("How the costs grow", STYLE, body(table.read(path))),
        end="",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
