# SPDX-License-Identifier: Apache-2.0
"""Programs of which it is known how many instructions each function executes.

A program is a set of functions; a function is a prologue, items and an
epilogue. An item knows its lines of assembly, how many instructions they
execute, and whom they call; both may depend on the round's units, the number
that makes rounds differ in length. So the instructions of a whole run are a
sum, and that sum is the program's claim. The words that stand for registers
are machine.inc's.

Items may change wa, wc, wd and the flags; wb, too, where the function keeps it.
"""

import collections
import json

LEAST, MASK = 8, 15  # units of a round: 8 to 23
UNITS = range(LEAST, LEAST + MASK + 1)
PER_TURN = 4  # instructions of a turn of Spin


class Names:
    """Labels that are new within a function."""

    def __init__(self):
        self.number = 0

    def new(self):
        self.number += 1
        return f".l{self.number}"


class Code:
    """Plain instructions, one a line."""

    def __init__(self, lines):
        self.plain = lines

    def lines(self, _names):
        return self.plain

    def cost(self, _units):
        return len(self.plain)

    def calls(self, _units):
        return {}


class Spin:
    """A loop of (weight) turns a unit."""

    def __init__(self, weight):
        self.weight = weight

    def lines(self, names):
        label = names.new()
        return [
            f"imul ecx, [units], {self.weight}",
            f"{label}:",
            "add edx, ecx",
            "xor edx, 0x5bd1e995",
            "dec ecx",
            f"jnz {label}",
        ]

    def cost(self, units):
        return 1 + PER_TURN * self.weight * units

    def calls(self, _units):
        return {}


class Call:
    """A call of the function (name), by the operand (how)."""

    def __init__(self, name, how=None):
        self.name, self.how = name, how or name

    def lines(self, _names):
        return [f"call {self.how}"]

    def cost(self, _units):
        return 1

    def calls(self, _units):
        return {self.name: 1}


class Through:
    """Calls all of the functions (names) through a table, the last one
    first; needs wb."""

    def __init__(self, table, names):
        self.table, self.names = table, names

    def lines(self, names):
        label = names.new()
        return [
            f"mov ebx, {len(self.names)}",
            f"{label}:",
            f"call [{self.table} + wb * WORD - WORD]",
            "dec ebx",
            f"jnz {label}",
        ]

    def cost(self, _units):
        return 1 + 3 * len(self.names)

    def calls(self, _units):
        return collections.Counter(self.names)


class Repeat:
    """(items), so often; needs wb."""

    def __init__(self, times, items):
        self.times, self.items = times, items

    def lines(self, names):
        label = names.new()
        inner = [line for item in self.items for line in item.lines(names)]
        return [
            f"mov ebx, {self.times}",
            f"{label}:",
            *inner,
            "dec ebx",
            f"jnz {label}",
        ]

    def cost(self, units):
        return 1 + self.times * (
            2 + sum(item.cost(units) for item in self.items)
        )

    def calls(self, units):
        return times_of(self.items, units, self.times)


class Odd:
    """(items) in rounds with an odd number of units."""

    def __init__(self, items):
        self.items = items

    def lines(self, names):
        label = names.new()
        inner = [line for item in self.items for line in item.lines(names)]
        return ["test byte [units], 1", f"jz {label}", *inner, f"{label}:"]

    def cost(self, units):
        return 2 + (units & 1) * sum(item.cost(units) for item in self.items)

    def calls(self, units):
        return times_of(self.items, units, units & 1)


def times_of(items, units, times):
    """Whom (items) call, all of it (times) times."""
    result = collections.Counter()
    for item in items:
        for name, count in item.calls(units).items():
            result[name] += count * times
    return result


# Prologues and epilogues. Those of the first row keep wb.
FRAMES = {
    "kept": (
        ["push wfp", "mov wfp, wsp", "push wb"],
        ["mov wb, [wfp - WORD]", "leave", "ret"],
    ),
    "kept-sub": (
        ["push wfp", "mov wfp, wsp", "push wb", "sub wsp, 5 * WORD"],
        ["lea wsp, [wfp - WORD]", "pop wb", "pop wfp", "ret"],
    ),
    "frame": (["push wfp", "mov wfp, wsp"], ["pop wfp", "ret"]),
    "frame-leave": (
        ["push wfp", "mov wfp, wsp", "sub wsp, 24"],
        ["leave", "ret"],
    ),
    "frame-mov": (
        ["push wfp", "mov wfp, wsp", "sub wsp, 200"],
        ["mov wsp, wfp", "pop wfp", "ret"],
    ),
    "bare": ([], ["ret"]),
    "push": (["push wb"], ["pop wb", "ret"]),
}
KEEPING = "kept", "kept-sub"
FRAMED = KEEPING + ("frame", "frame-leave", "frame-mov")
LEAVES = "bare", "push"


class Function:
    """One of a program. (tail) is an operand to jump to instead of returning,
    and (to) the function that it is."""

    def __init__(self, name, kind, items, tail=None, to=None):
        self.name, self.items = name, items
        self.before, self.after = FRAMES[kind]
        self.to = to or tail
        if tail is not None:
            self.after = self.after[:-1] + [f"jmp {tail}"]

    def lines(self):
        names = Names()
        inner = [line for item in self.items for line in item.lines(names)]
        return self.before + inner + self.after

    def charge(self, units):
        """Instructions that one call of it executes, by function."""
        own = sum(item.cost(units) for item in self.items)
        return {self.name: len(self.before) + own + len(self.after)}

    def calls(self, units):
        result = times_of(self.items, units, 1)
        if self.to is not None:
            result[self.to] += 1
        return result


class Written:
    """A function that was written out, with what one call of it by others
    executes in it and in those that it calls in turn."""

    def __init__(self, name, lines, charge):
        self.name, self.written, self.charged = name, lines, charge

    def lines(self):
        return self.written

    def charge(self, _units):
        return self.charged

    def calls(self, _units):
        return {}


class Program:
    """All of it; (main) is called once in each round."""

    def __init__(self, seed, instructions):
        self.seed, self.instructions = seed, instructions
        self.functions = {}
        self.data = []  # lines after the code

    def add(self, function):
        assert function.name not in self.functions, function.name
        self.functions[function.name] = function
        return function.name

    def table(self, name, functions):
        """Their addresses."""
        self.data += ["section .rodata", "align WORD", f"{name}:"]
        self.data += [f"WORDS {one}" for one in functions]

    def _order(self, main):
        """Functions that are reached, callers before those they call."""
        done, order = set(), []
        stack = [(main, False)]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                order.append(name)
            elif name not in done:
                done.add(name)
                stack.append((name, True))
                function = self.functions[name]
                for units in UNITS[:2]:
                    stack += [(one, False) for one in function.calls(units)]
        return order[::-1]

    def round(self, main, units):
        """Instructions by function in one round."""
        times = collections.Counter({main: 1})
        counts = collections.Counter()
        for name in self._order(main):
            function = self.functions[name]
            for callee, count in function.calls(units).items():
                times[callee] += count * times[name]
            for owner, count in function.charge(units).items():
                counts[owner] += count * times[name]
        return counts

    def claim(self, main):
        """Rounds, and the instructions by function in all of them."""
        of_units = {units: self.round(main, units) for units in UNITS}
        mean = sum(sum(counts.values()) for counts in of_units.values()) / len(
            of_units
        )
        rounds = round(self.instructions / mean)
        random, often = self.seed, collections.Counter()
        for _ in range(rounds):
            random = (random * 1664525 + 1013904223) % 2**32
            often[LEAST + (random >> 16 & MASK)] += 1
        total = collections.Counter()
        for units, times in often.items():
            for name, count in of_units[units].items():
                total[name] += count * times
        return rounds, total

    def write(self, main, folder):
        """code.asm and claim.json."""
        round_function = Function(
            "generated_round", "frame-leave", [Code(["TAKE_UNITS"]), Call(main)]
        )
        rounds, total = self.claim(main)
        # TAKE_UNITS is two of them
        whole = (round_function.charge(LEAST)["generated_round"] + 1) * rounds
        total["generated_round"] = whole
        constants = {
            "rounds": rounds,
            "seed": self.seed,
            "units_least": LEAST,
            "units_mask": MASK,
        }
        with open(f"{folder}/code.asm", "w", encoding="ascii") as file:
            print(
                "; SPDX-License-Identifier: Apache-2.0\n"
                "; Written by tests/truth/generated/generate.py.\n"
                '%include "machine.inc"',
                file=file,
            )
            for one in [*self.functions.values(), round_function]:
                lines = "".join(
                    f"{'' if line.startswith('.l') else '        '}" f"{line}\n"
                    for line in one.lines()
                )
                print(f"FUNCTION {one.name}\n{lines}END", file=file)
            print("\n".join(self.data), file=file)
            print("section .rodata\nalign 4", file=file)
            for name, value in constants.items():
                print(f"generated_{name}: dd {value}", file=file)
            print(
                "section .note.GNU-stack noalloc noexec nowrite progbits",
                file=file,
            )
        with open(f"{folder}/claim.json", "w", encoding="ascii") as file:
            json.dump({"rounds": rounds, "functions": total}, file, indent=1)
