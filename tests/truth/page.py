# SPDX-License-Identifier: Apache-2.0
"""page.py FOLDER FILES...: what compare.py wrote, as documents in FOLDER:
truth.html, a page with plots for each workload; truth.svg, all errors; and the
figures between the marks in truth.md. The same files give the same bytes."""

import contextlib
import html
import io
import pathlib
import re
import sys

import judge
import plots

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "host/pages"))
import build_page  # noqa: E402 (its folder comes first)

BEGIN, END = "<!-- figures: made by make truth -->", "<!-- end of figures -->"
STYLE = """
body { background: var(--back); color: var(--ink); margin: 1.5rem auto;
  max-width: 62rem; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; } h2 { margin: 2rem 0 .3rem; font-size: 1.15rem; }
p.soft { color: var(--soft); margin: .3rem 0; }
.plots { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
svg { width: 100%; height: auto; max-width: 32rem; }
.facts { display: grid; gap: .6rem; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); }
.facts div { border: 1px solid var(--line); border-radius: .5rem;
  padding: .5rem .8rem; color: var(--soft); font-size: .85rem; }
.facts b { display: block; color: var(--ink); font-size: 1.35rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums;
  font-size: .9rem; white-space: nowrap; }
td, th { padding: .15rem .7rem; text-align: right;
  border-bottom: 1px solid var(--line); }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
"""
INTRO = """Profiles that were held against exact counts of the same run. In the
plots of shares a bar is the 95 % interval around what was sampled, the dot, and
the line across it is the truth, for the functions with the largest shares of
their own. In the plots of errors each function is a dot by its own share and a
ring by its share with all that it calls; inside the band the truth lies in the
interval, and one in twenty should not. What misses it is red."""
CHAINS = {
    "right": "right",
    "cut_short": "cut short",
    "caller_missing": "one caller missing",
    "switching": "in longjmp",
    "impossible": "never were",
}


def table(heads, lines):
    def row(cells, kind):
        return (
            "<tr>"
            + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells)
            + "</tr>"
        )

    return (
        '<div class="wide"><table>'
        + row(heads, "th")
        + "\n".join(row(line, "td") for line in lines)
        + "</table></div>"
    )


def percent(part, whole):
    return f"{100 * part / whole:.2f} %"


def facts(runs):
    """The tiles at the top."""
    cells = []
    for measure, what in judge.MEASURES.items():
        inside = judge.Inside(runs, measure, judge.ALL)
        cells.append(
            (
                percent(inside.count, inside.of),
                f"of {inside.of:,} shares inside, {what}; "
                f"{inside.percent(inside.least):.1f} to "
                f"{inside.percent(inside.most):.1f} by chance",
            )
        )
    square = judge.square_of(runs)
    degrees = sum(run["chi_square"]["degrees"] for run in runs)
    cells.append(
        (
            f"{square.sum / degrees:.3f}",
            f"chi-square a degree, of {degrees:,}; 1 by chance",
        )
    )
    whole = sum(run["samples"] for run in runs)
    cells.append((f"{whole:,}", "ticks, each in its account"))
    for kind, what in (
        ("impossible", "stacks that never were"),
        ("short", "stacks that lack a caller"),
    ):
        cells.append(
            (
                str(
                    sum(
                        lacking(run) if kind == "short" else run["chains"][kind]
                        for run in runs
                    )
                ),
                what,
            )
        )
    return (
        '<div class="facts">'
        + "".join(
            f"<div><b>{html.escape(value)}</b>{html.escape(what)}</div>"
            for value, what in cells
        )
        + "</div>"
    )


def lacking(run):
    return run["chains"]["cut_short"] + run["chains"]["caller_missing"]


def workload(name, runs, probability):
    """Its heading, figures and plots; (probability) of a false alarm."""
    said = []
    for measure, what in judge.MEASURES.items():
        inside = judge.Inside(runs, measure, probability)
        said.append(
            f"{what} {inside.count} of {inside.of}, accepted "
            f"{inside.least} to {inside.most}"
        )
    first = max(runs, key=lambda run: run["judged"])
    whole = sum(run["judged"] for run in runs)
    return (
        f'<h2 id="{html.escape(name)}">{html.escape(name)}</h2>'
        f'<p class="soft">{whole:,} samples. Inside: '
        f'{html.escape("; ".join(said))}.</p><div class="plots">'
        f"{plots.shares(first)}{plots.errors(runs)}</div>"
    )


def stacks(paths):
    lines = []
    for path in paths:
        chains = judge.read(path)["chains"]
        whole = sum(chains[kind] for kind in CHAINS)
        lines.append(
            [judge.name_of(path), f"{whole:,}", percent(chains["right"], whole)]
            + [f"{chains[kind]:,}" for kind in list(CHAINS)[1:]]
        )
    return "<h2>Call stacks</h2>" + table(
        ["", "stacks", *CHAINS.values()], lines
    )


def page(paths):
    groups = judge.by_workload(paths)
    runs = [run for some in groups.values() for run in some]
    parts = [
        "<h1>Profiles and truth</h1>",
        f"<p>{INTRO}</p>",
        facts(runs),
        '<div class="plots">',
        plots.histogram(runs),
        plots.quantiles(runs),
        "</div>",
    ]
    each = judge.each_of(groups)
    parts += [workload(name, some, each) for name, some in groups.items()]
    parts.append(stacks(paths))
    return build_page.build(
        "Profiles and truth",
        STYLE + plots.IN_PAGE + plots.STYLE,
        "\n".join(parts),
    )


def figures(paths):
    """What judge.py prints as a table, as Markdown has it."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        judge.table(paths)
    return "".join(
        "    " + line + "\n" if line else "\n"
        for line in said.getvalue().splitlines()
    )


def main(folder, paths):
    folder = pathlib.Path(folder)
    (folder / "truth.html").write_text(page(paths), encoding="utf-8")
    runs = [judge.read(path) for path in paths]
    style = (
        "<!-- SPDX-License-Identifier: Apache-2.0 -->"
        f"<style>{plots.ALONE}{plots.STYLE}</style>"
        '<rect width="100%" height="100%" fill="var(--back)"/>'
    )
    (folder / "truth.svg").write_text(
        plots.histogram(runs, style) + "\n", encoding="utf-8"
    )
    text = folder / "truth.md"
    if text.exists():
        old = text.read_text(encoding="utf-8")
        new = re.sub(
            f"{BEGIN}.*?{END}",
            lambda _: f"{BEGIN}\n\n{figures(paths)}\n{END}",
            old,
            flags=re.S,
        )
        if BEGIN not in old:
            sys.exit(f"{text}: no '{BEGIN}'")
        text.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
