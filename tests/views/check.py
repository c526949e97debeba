# SPDX-License-Identifier: Apache-2.0
"""check.py WHAT ...: looks at what the views wrote as JSON.

news DIFF [SYMBOL=POINTS...]: exactly these functions are news, and the true
change lies in the interval of each
"""

import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def news(path, *wanted):
    rows = {row["symbol"]: row for row in read(path)["rows"]}
    truth = dict(word.split("=") for word in wanted)
    found = {name for name, row in rows.items() if row["news"]}
    for name in found:
        print(rows[name])
    assert found == set(truth), f"news: {found}, not {set(truth)}"
    for name, points in truth.items():
        row = rows[name]
        assert row["low"] <= float(points) <= row["high"], f"{points}: {row}"
        assert row["low"] > 0 or row["high"] < 0


if __name__ == "__main__":
    {"news": news}[sys.argv[1]](*sys.argv[2:])
