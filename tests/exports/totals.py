# SPDX-License-Identifier: Apache-2.0
#
# totals.py FORMAT <FILE: what each function has in a file that parasite export
# made, or in what another tool says about it, as lines "NAME<tab>SELF<tab>
# TOTAL", sorted. A function counts once for each stack that it is in. Written
# from the formats' descriptions, apart from the exporters.
import collections
import json
import re
import sys

self_of = collections.Counter()
total_of = collections.Counter()


def add_stack(frames, weight):
    """frames: the innermost first"""
    self_of[frames[0]] += weight
    for name in set(frames):
        total_of[name] += weight


def report(unit=""):
    """parasite report --json"""
    for row in json.load(sys.stdin)["rows"]:
        self_of[row["symbol"]] += row["self" + unit]
        total_of[row["symbol"]] += row["total" + unit]


def report_ns():
    report("_ns")


def folded():
    for line in sys.stdin:
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        add_stack(stack.split(";")[::-1], int(weight))


def pprof():
    """go tool pprof -top -unit count"""
    lines = iter(sys.stdin)
    for line in lines:
        if "flat%" in line:
            break
    for line in lines:
        own, _, _, total, _, name = line.rstrip("\n").split(None, 5)
        self_of[name] += int(own)
        total_of[name] += int(total)


def perf_function(name, file):
    """[idle] and its kin are files, of which one has a name of its own"""
    if file == "[unknown stack]":
        return "[stack unknown]"
    return file if file.startswith("[") else name


def perf_name(line):
    """of "  ADDRESS NAME (FILE)" """
    _, rest = line.strip().split(" ", 1)
    return perf_function(*rest[:-1].rsplit(" (", 1))


def perf_script():
    """perf script -F period,ip,sym,dso: a weight, its frames, an empty line"""
    weight, frames = 0, []
    for line in list(sys.stdin) + ["\n"]:
        if line.strip() == "":
            if frames:
                add_stack(frames, weight)
            weight, frames = 0, []
        elif weight == 0:
            weight = int(line)
        else:
            frames.append(perf_name(line))


def perf_report():
    """perf report -F sample,sym,dso -t '|' --no-children: no totals"""
    for line in sys.stdin:
        fields = line.rstrip("\n").split("|")
        if line.startswith("#") or len(fields) < 3:
            continue
        name = re.sub(r"^\[.\] ", "", "|".join(fields[1:-1])).rstrip()
        name = perf_function(name, fields[-1].strip())
        self_of[name] += int(fields[0])
        total_of[name] = 0


def firefox():
    """what profiler-cli thread functions --json says, threads in a row"""
    decoder, text, at = json.JSONDecoder(), sys.stdin.read(), 0
    while at < len(text.rstrip()):
        said, end = decoder.raw_decode(text[at:].lstrip())
        at += len(text[at:]) - len(text[at:].lstrip()) + end
        for row in said["functions"]:
            self_of[row["name"]] += row["selfSamples"]
            total_of[row["name"]] += row["totalSamples"]


def end_slice(event, open_slices, unit):
    """A slice ends, the last that began; its caller has what is left"""
    name, begin = open_slices.pop()
    weight = event["args"]["samples"] if unit == "samples" else \
        round(event["ts"] * 1000) - round(begin * 1000)
    self_of[name] += weight
    if open_slices:
        self_of[open_slices[-1][0]] -= weight
    if name not in [above for above, _ in open_slices]:
        total_of[name] += weight


def chrome(unit="samples"):
    """Trace Event Format: "M" names things, "B" begins and "E" ends slices"""
    lanes, named, latest = collections.defaultdict(list), set(), {}
    for event in json.load(sys.stdin)["traceEvents"]:
        lane = event["tid"]
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
            end_slice(event, lanes[lane], unit)
    assert not any(lanes.values()), "slices that never end"


def chrome_ns():
    chrome("ns")


def unescaped(text):
    """of protoc's text: bytes in octal"""
    raw = re.sub(rb'\\([0-7]{3}|.)', lambda m: bytes([int(m[1], 8)])
                 if m[1].isdigit() else m[1], text.encode())
    return raw.decode()


def packets():
    """protoc's text as a list of (name, value) for each packet; an inner
    message is such a list as well"""
    stack = [[]]
    for line in sys.stdin:
        line = line.strip()
        if line.endswith("{"):
            inner = []
            stack[-1].append((line[:-1].strip(), inner))
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            stack[-1].append((name, unescaped(value[1:-1])
                              if value.startswith('"') else int(value)))
    return [packet for name, packet in stack[0]]


def all_of(message, name):
    return [value for key, value in message if key == name]


def first(message, name):
    return all_of(message, name)[0]


def perfetto(unit="samples"):
    """protoc --decode: a packet may name only what came before or in it"""
    functions, frames, stacks = {}, {}, {}
    counters = collections.Counter()
    for packet in packets():
        for interned in all_of(packet, "interned"):
            for text in all_of(interned, "function"):
                functions[first(text, "id")] = first(text, "text")
            for frame in all_of(interned, "frame"):
                frames[first(frame, "id")] = functions[first(frame,
                                                             "function")]
            for stack in all_of(interned, "stack"):
                stacks[first(stack, "id")] = [
                    frames[i] for i in all_of(stack, "frame")][::-1]
        for sample in all_of(packet, "sample"):
            thread, counter = first(sample, "tid"), first(sample, "counter_ns")
            weight = counter - counters[thread] if unit == "ns" else 1
            counters[thread] = counter
            add_stack(stacks[first(sample, "stack")], weight)


def perfetto_ns():
    perfetto("ns")


def callgrind():
    """callgrind_annotate --show=samples, twice: without and with inclusive"""
    of = None
    for line in sys.stdin:
        if line.startswith("Profile data file"):
            of = self_of if of is None else total_of
        match = re.match(r" *([0-9,]+) \( *[0-9.]+%\)  (\?\?\?|[^:]*):(.*)",
                         line)
        if match and match[3] != "[all]":
            of[match[3]] += int(match[1].replace(",", ""))


def main():
    globals()[sys.argv[1]]()
    for name in sorted(total_of):
        if self_of[name] or total_of[name]:
            print(name, self_of[name], total_of[name], sep="\t")


main()
