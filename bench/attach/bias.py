# SPDX-License-Identifier: Apache-2.0
"""bias.py BUILD WIDTH: where QEMU's emulator lets a guest be stopped, in lua
(bias.lua). A plugin counts what each function executes, and what it would have
if each block of instructions counted for the function that is executed next.
The first does not depend on the host's speed. Prints lines "NAME VALUE":

attach_moved        per cent of the instructions that count for another function
attach_moved_one    points by which the share of one function changes, at most
attach_off          per cent of the samples of an attach that are in another
                    function than as many instructions
"""

import sys
from pathlib import Path

import measure

sys.path.append(str(measure.TESTS / "attach"))
import stops  # noqa: E402 (its folder comes first)

SECONDS = 10
SCRIPT = Path(__file__).with_name("bias.lua")


def apart(left, right):
    """How much of two sets of shares is not in both, in per cent."""
    names = set(left) | set(right)
    return 50 * sum(abs(left.get(n, 0) - right.get(n, 0)) for n in names)


def main(build, width):
    bench = measure.Bench(build, width)
    machine = bench.parasite.machine(
        *(width, "lua", "prof.start=off"), modules=[SCRIPT]
    )
    image = bench.s.image(width, "lua")
    own, seen = stops.counted(bench.s, image, machine[1:], SECONDS)
    found = stops.sampled(bench.parasite, bench.trace, own, SECONDS, machine)
    most = max(abs(own[name] - seen.get(name, 0)) for name in own)
    print(f"attach_moved {apart(own, seen):.4g}")
    print(f"attach_moved_one {100 * most:.4g}")
    print(f"attach_off {apart(own, found):.4g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
