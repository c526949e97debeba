# SPDX-License-Identifier: Apache-2.0
"""check.py WHAT ARGUMENTS...: looks at a run of a generated program, and ends
with 1 if it is not as it should be. WHAT is

claim IMAGE TRUTH CLAIM
        the plugin counted in each function, over the whole run and outside
        interrupts, exactly what the generator claims
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from symbols import Functions  # noqa: E402


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def counted(functions, truth, key):
    """Instructions by function."""
    return {functions.name(functions.group_of_start[start]): row[key]
            for start, row in zip(functions.starts, truth["functions"])}


def claim(image, truth_path, claim_path):
    functions = Functions(image)
    whole = counted(functions, read(truth_path), "whole")
    claimed = read(claim_path)["functions"]
    wrong = {name: (number, whole.get(name))
             for name, number in claimed.items() if whole.get(name) != number}
    for name, (wanted, got) in sorted(wrong.items())[:10]:
        print(f"{name}: {wanted} claimed, {got} counted")
    print(f"{len(claimed)} functions, {sum(claimed.values())} instructions")
    assert len(claimed) > 10 and not wrong, f"{len(wrong)} differ"


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
