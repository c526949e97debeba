# SPDX-License-Identifier: Apache-2.0
"""A stream with one of each event of <prof/events.def>."""

import struct

from .stream import EVENTS, TEXT, TYPES, Stream, names

FALLING, JOIN = 5, 4  # a reason for the end of a walk, and a kind of objects


def each_event():
    """The stream, in which no two fields have the same number; and a line for
    each of its events but the last, in the form of command.event_text()."""
    made, lines, last = Stream(step=1), [], [0x0123456789ABCDEF]

    def number(code):
        size = struct.calcsize(code)
        last[0] = (
            last[0] * 6364136223846793005 + 1442695040888963407
        ) % 2**64
        return struct.unpack(f"<{code}", struct.pack(">Q", last[0])[:size])[0]

    def field(name, kind):
        """Its value, and how it is printed."""
        if kind == "clock":  # the event's own time, which is no field there
            return made.time + made.step, ""
        if kind == "text":
            return "text", f' {name}="text"'
        if kind == "bytes32":
            data = bytes(number("B") for _ in range(32))
            return data, f" {name}=" + ",".join(f"0x{byte:X}" for byte in data)
        if kind == "walk_stop":
            return FALLING, f" {name}={names('PROF_WALK_STOP')[FALLING]}"
        if kind == "object_kind":
            return JOIN, f" {name}={names('PROF_OBJECT')[JOIN]}"
        value = number(TYPES[kind])
        return value, f" {name}=" + f"{value:{'#X' * (kind == 'address')}}"

    for event, (kind, fields) in EVENTS.items():
        found = {name: field(name, of) for name, of in fields}
        data = made.fields(
            event, **{n: value for n, (value, _) in found.items()}
        )
        size = f" field_bytes={len(data)}" * (kind >= 64)
        made.put(kind, data)
        text = "".join(text for _, text in found.values())
        lines.append(f"{event}{size}{text.replace('0X', '0x')}")
    made.node(5, 4, TEXT + 16)
    made.leaf(6, 5, TEXT + 32)
    made.sample(5)
    lines += [
        "node node=5 parent=4 text_offset=0x10",
        "leaf node=6 parent=5 text_offset=0x20",
        "sample node=5",
    ]
    made.hello()
    return made.data(), lines
