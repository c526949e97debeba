# SPDX-License-Identifier: Apache-2.0
"""What each function has in a file that parasite export made, or in what
another tool says about it: {name: (self, total)}. A function counts once for
each stack that it is in. Written from the formats' descriptions, apart from
the exporters."""

import collections
import json
import re


class Totals:
    def __init__(self):
        self.own = collections.Counter()
        self.total = collections.Counter()

    def add(self, name, own, total):
        self.own[name] += int(own)
        self.total[name] += int(total)

    def add_stack(self, frames, weight):
        """(frames): the innermost first"""
        self.own[frames[0]] += weight
        for name in set(frames):
            self.total[name] += weight

    def found(self):
        return {
            name: (self.own[name], self.total[name])
            for name in self.total
            if self.own[name] or self.total[name]
        }


def report(rows, unit=""):
    """Of parasite report --json; (unit): "" for samples, "_ns"."""
    totals = Totals()
    for row in rows:
        totals.add(row["symbol"], row["self" + unit], row["total" + unit])
    return totals.found()


def folded(text):
    """A name cannot have ";", which the exporter makes ":"."""
    totals = Totals()
    for line in text.split("\n")[:-1]:
        stack, weight = line.rsplit(" ", 1)
        totals.add_stack(stack.split(";")[::-1], int(weight))
    return plain(totals.found())


def plain(found):
    """With ";" for ":" in names."""
    totals = Totals()
    for name, (own, total) in found.items():
        totals.add(name.replace(":", ";"), own, total)
    return totals.found()


def pprof(text):
    """go tool pprof -top -unit count"""
    totals = Totals()
    rows = text.split("\n")
    while "flat%" not in rows.pop(0):
        pass
    for row in filter(None, rows):
        own, _, _, total, _, name = row.split(None, 5)
        totals.add(name, own, total)
    return totals.found()


# ---- perf


def perf_function(name, file):
    """[idle] and the like are files, of which one has a name of its own"""
    if file == "[unknown stack]":
        return "[stack unknown]"
    return file if file.startswith("[") else name


def perf_name(line):
    """of "  ADDRESS NAME (FILE)" """
    _, rest = line.strip().split(" ", 1)
    return perf_function(*rest[:-1].rsplit(" (", 1))


def perf_script(text):
    """perf script -F period,ip,sym,dso: a weight, its frames, an empty line"""
    totals, weight, frames = Totals(), 0, []
    for line in text.split("\n") + [""]:
        if line.strip() == "":
            if frames:
                totals.add_stack(frames, weight)
            weight, frames = 0, []
        elif weight == 0:
            weight = int(line)
        else:
            frames.append(perf_name(line))
    return totals.found()


def perf_report(text):
    """perf report -F sample,sym,dso -t '|' --no-children: no totals"""
    totals = Totals()
    for line in text.split("\n"):
        fields = line.split("|")
        if line.startswith("#") or len(fields) < 3:
            continue
        name = re.sub(r"^\[.\] ", "", "|".join(fields[1:-1])).rstrip()
        name = perf_function(name, fields[-1].strip())
        totals.add(name, fields[0], 0)
    return totals.found()


# ---- others


def firefox(threads):
    """What profiler-cli thread functions --json says of each thread."""
    totals = Totals()
    for said in threads:
        for row in said["functions"]:
            totals.add(row["name"], row["selfSamples"], row["totalSamples"])
    return totals.found()


def end_slice(totals, event, open_slices, unit):
    """A slice ends, the last that began; its caller has what is left."""
    name, begin = open_slices.pop()
    weight = event["args"]["samples"]
    if unit == "ns":
        weight = round(event["ts"] * 1000) - round(begin * 1000)
    totals.own[name] += weight
    if open_slices:
        totals.own[open_slices[-1][0]] -= weight
    if name not in [above for above, _ in open_slices]:
        totals.total[name] += weight


def chrome(text, unit="samples"):
    """Trace Event Format: "M" names things, "B" begins and "E" ends slices of
    samples; what has another phase is of objects."""
    totals = Totals()
    lanes, named, latest = collections.defaultdict(list), set(), {}
    for event in json.loads(text)["traceEvents"]:
        lane = event["tid"]
        if event["ph"] in "XbesfC":
            continue
        assert event["ph"] in "MBE" and isinstance(event["pid"], int), event
        if event["ph"] == "M":
            named.add((event["name"], lane))
            continue
        assert event["ts"] >= latest.get(lane, 0), event
        assert ("thread_name", lane) in named, event
        latest[lane] = event["ts"]
        if event["ph"] == "B":
            lanes[lane].append((event["name"], event["ts"]))
        else:
            end_slice(totals, event, lanes[lane], unit)
    assert not any(lanes.values()), "slices that never end"
    return totals.found()


def unescaped(text):
    """Of protoc's text: bytes in octal."""
    raw = re.sub(
        rb"\\([0-7]{3}|.)",
        lambda m: bytes([int(m[1], 8)]) if m[1].isdigit() else m[1],
        text.encode(),
    )
    return raw.decode()


def packets(text):
    """protoc's text as a list of (name, value) for each packet; an inner
    message is such a list as well."""
    stack = [[]]
    for line in filter(None, map(str.strip, text.split("\n"))):
        if line.endswith("{"):
            inner = []
            stack[-1].append((line[:-1].strip(), inner))
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            if value.startswith('"'):
                stack[-1].append((name, unescaped(value[1:-1])))
            else:
                stack[-1].append((name, int(value)))
    return [packet for name, packet in stack[0]]


def all_of(message, name):
    return [value for key, value in message if key == name]


def first(message, name):
    return all_of(message, name)[0]


def perfetto(text):
    """protoc --decode: a packet may name only what came before or in it"""
    totals, functions, frames, stacks = Totals(), {}, {}, {}
    for packet in packets(text):
        for interned in all_of(packet, "interned"):
            for name in all_of(interned, "function"):
                functions[first(name, "id")] = first(name, "text")
            for frame in all_of(interned, "frame"):
                frames[first(frame, "id")] = functions[first(frame, "function")]
            for stack in all_of(interned, "stack"):
                stacks[first(stack, "id")] = [
                    frames[i] for i in all_of(stack, "frame")
                ][::-1]
        for sample in all_of(packet, "sample"):
            first(sample, "tid"), first(sample, "counter_ns")
            totals.add_stack(stacks[first(sample, "stack")], 1)
    return totals.found()


def callgrind(own, inclusive):
    """callgrind_annotate --show=samples, without and with --inclusive."""
    totals = Totals()
    row = re.compile(r" *([0-9,]+) \( *[0-9.]+%\)  (\?\?\?|[^:]*):(.*)")
    for text, into in ((own, totals.own), (inclusive, totals.total)):
        for line in text.split("\n"):
            match = row.match(line)
            if match and match[3] != "[all]":
                into[match[3]] += int(match[1].replace(",", ""))
    return totals.found()
