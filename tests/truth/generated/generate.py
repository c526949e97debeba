# SPDX-License-Identifier: Apache-2.0
"""generate.py SHAPE-SEED FOLDER: writes a program into FOLDER, which is there.

code.asm     for nasm, on both widths; driver.h says what calls it
claim.json   {"rounds": how many, "functions": {name: instructions that it
             executes in all of them}}

The same SHAPE (of shapes.py) and SEED (a number) make the same program.
"""

import random
import sys

from program import Program
from shapes import SHAPES

INSTRUCTIONS = 450_000_000  # of a run, about: so many nanoseconds
FEWER = {"tiny": 250_000_000}  # where calls are all there is, the plugin's
#                                notes of each take long


def main(name, folder):
    shape, seed = name.rsplit("-", 1)
    program = Program(int(seed), FEWER.get(shape, INSTRUCTIONS))
    main_function = SHAPES[shape](random.Random(name), program)
    program.write(main_function, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
