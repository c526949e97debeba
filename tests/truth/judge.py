# SPDX-License-Identifier: Apache-2.0
"""judge.py WHAT FILES...: looks at what compare.py wrote, and ends with 1 if it
is not as it should be. WHAT is

ticks      every tick is a sample, and the plugin followed every call
time       instructions between the first and the last sample are the time
           between them: one a nanosecond
chains     no stack is one that never was, but for callers of functions without
           a frame that could not be found, in at most 3 of 100 stacks
chance     over all files, about 95 % of the functions' shares lie in their 95 %
           interval, not fewer and not more; no chi-square is out of the way
table      prints a line for each file
"""

import json
import math
import subprocess
import sys

Z = 3.29  # one in a thousand, to both sides


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def ticks(paths):
    for path in paths:
        one = read(path)
        print(path, one["ticks"], one["samples"])
        assert one["ticks"] == one["samples"] > 500
        assert one["left"] == 0 and one["unmatched"] == 0, one["left"]


def time(paths):
    """Needs the trace beside the file: x.trace for x.compared."""
    parasite, paths = paths[0], paths[1:]
    for path in paths:
        one = read(path)
        said = subprocess.run(
            [parasite, "script", "-q", path.replace(".compared", ".trace")],
            text=True, capture_output=True, check=True).stdout
        clocks = [int(line.split()[-2]) for line in said.splitlines()
                  if " sample: " in line]
        passed = sum(clocks[1:one["judged"] + 1])
        print(path, passed, "ns,", one["between"], "instructions")
        # the clock is the TSC, of which the guest measured the frequency
        assert abs(passed - one["between"]) < 1e-5 * passed


def chains(paths):
    for path in paths:
        found = read(path)["chains"]
        print(path, {key: found[key] for key in found if key != "examples"},
              json.dumps(found["examples"][:2]))
        assert found["right"] > 500
        assert found["impossible"] == 0
        missing = found["cut_short"] + found["caller_missing"]
        assert missing <= 0.03 * found["right"], missing


def chance(paths):
    rows = [row for path in paths for row in read(path)["self"]]
    inside = sum(row["inside"] for row in rows)
    reach = Z * math.sqrt(0.95 * 0.05 / len(rows))
    print(f"{inside} of {len(rows)} shares are in their interval: "
          f"{100 * inside / len(rows):.1f} %, wanted 95 +- {100 * reach:.1f}")
    assert len(rows) > 80
    assert abs(inside / len(rows) - 0.95) <= reach
    for path in paths:
        square = read(path)["chi_square"]
        print(path, square)
        assert 0.0005 < square["probability"] < 0.9995


def table(paths):
    print(f"{'':28}{'samples':>9}{'inside':>9}{'worst':>7}"
          f"{'chi-square':>16}{'stacks right':>14}")
    for path in paths:
        one = read(path)
        rows, square = one["self"], one["chi_square"]
        name = path.rsplit("/", 1)[-1].replace(".compared", "")
        right = one["chains"]["right"] / one["samples"]
        inside = f"{sum(row['inside'] for row in rows)}/{len(rows)}"
        print(f"{name:28}{one['samples']:9,}{inside:>9}"
              f"{max(row['error'] for row in rows):7.2f}"
              f"{square['value']:9.1f}/{square['degrees']:<3}"
              f"{square['probability']:5.2f}{100 * right:11.2f} %")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2:])
