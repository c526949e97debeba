# SPDX-License-Identifier: Apache-2.0
"""page.py FILES...: what compare.py wrote, as a page with a plot for each
run."""

import html
import json
import math
import sys

import compare

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 900, 300, 56, 12, 26
LEGEND = ("A column is a function: the line across it is its true share, the "
          "bar is the 95 % interval around the sampled one. Bars that miss the "
          "truth are red; about one in twenty should.")
STYLE = """
:root { color-scheme: light dark; --back: #fdfcfa; --text: #1f2328;
  --dim: #67707b; --edge: #dcd8cf; --fine: #3b7dd8; --bad: #d6452b; }
@media (prefers-color-scheme: dark) { :root { --back: #16181c;
  --text: #e2e4e8; --dim: #949ca8; --edge: #33373f; --fine: #7db4ff;
  --bad: #ff7a5c; } }
body { background: var(--back); color: var(--text); margin: 2rem auto;
  max-width: 60rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
svg { width: 100%; height: auto; }
text { fill: var(--dim); font-size: 11px; }
line.grid { stroke: var(--edge); }
line.true { stroke: var(--text); stroke-width: 2; }
.fine { stroke: var(--fine); fill: var(--fine); }
.bad { stroke: var(--bad); fill: var(--bad); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums;
  display: block; overflow-x: auto; }
td, th { padding: .2rem .8rem; text-align: right;
  border-bottom: 1px solid var(--edge); }
td:first-child, th:first-child { text-align: left; }
"""


def height_of(share, least):
    """From 100 % at the top down to (least), by powers of ten."""
    part = math.log10(max(share, least)) / math.log10(least)
    return TOP + part * (HEIGHT - TOP - BOTTOM)


def column(number, row, judged, room, least):
    low, high = compare.interval(row["samples"], judged)
    x = LEFT + (number + 0.5) * room
    kind = "fine" if row["inside"] else "bad"
    at = [height_of(share, least) for share in
          (high, low, row["sampled"], row["true"])]
    title = html.escape(f"{row['function']}: {100 * row['true']:.3f} % in "
                        f"truth, {100 * row['sampled']:.3f} % sampled")
    return (f'<g><title>{title}</title>'
            f'<line class="{kind}" stroke-width="3" x1="{x:.1f}" '
            f'x2="{x:.1f}" y1="{at[0]:.1f}" y2="{at[1]:.1f}"/>'
            f'<circle class="{kind}" cx="{x:.1f}" cy="{at[2]:.1f}" r="3"/>'
            f'<line class="true" x1="{x - 5:.1f}" x2="{x + 5:.1f}" '
            f'y1="{at[3]:.1f}" y2="{at[3]:.1f}"/></g>')


def plot(one):
    rows = one["self"]
    least = min(0.001, min(row["true"] for row in rows) / 2)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
             'aria-label="true and sampled shares">']
    for power in range(0, math.floor(math.log10(least)), -1):
        y = height_of(10 ** power, least)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH}" '
                     f'y1="{y:.1f}" y2="{y:.1f}"/><text x="{LEFT - 6}" '
                     f'y="{y + 4:.1f}" text-anchor="end">'
                     f'{100 * 10 ** power:g} %</text>')
    room = (WIDTH - LEFT) / len(rows)
    parts += [column(number, row, one["judged"], room, least)
              for number, row in enumerate(rows)]
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">functions, by their true '
                 'share</text></svg>')
    return "".join(parts)


def table_row(name, one):
    rows, chains = one["self"], one["chains"]
    inside = sum(row["inside"] for row in rows)
    cells = [html.escape(name), f"{one['samples']:,}",
             f"{inside} of {len(rows)}",
             f"{max(row['error'] for row in rows):.2f}",
             f"{one['chi_square']['probability']:.2f}",
             f"{100 * chains['right'] / one['samples']:.2f} %",
             str(chains["impossible"])]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def main(paths):
    runs = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            runs[path.rsplit("/", 1)[-1].replace(".compared", "")] = \
                json.load(file)
    heads = ("run", "samples", "in their interval", "worst", "chi-square p",
             "stacks right", "impossible")
    print('<!doctype html>\n<html lang="en"><meta charset="utf-8">'
          '<meta name="viewport" content="width=device-width">'
          f"<title>Profiles and truth</title><style>{STYLE}</style>"
          f"<h1>Profiles and truth</h1><p>{LEGEND}</p>"
          "<table><tr>" + "".join(f"<th>{head}</th>" for head in heads)
          + "</tr>")
    for name, one in runs.items():
        print(table_row(name, one))
    print("</table>")
    for name, one in runs.items():
        print(f"<h2>{html.escape(name)}</h2>{plot(one)}")


if __name__ == "__main__":
    main(sys.argv[1:])
