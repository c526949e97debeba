# SPDX-License-Identifier: Apache-2.0
"""What `parasite fleet push` sends, as a receiver has it: read by protoc with
the schemas' field numbers, and by pprof-format, and added up."""

import base64
import gzip
import http.server
import json
import re
import threading

from harness.suite import check, run

import made_fleet as made

PPROF_FORMAT = "pprof-format@2.3.2"
SECOND = ("--since", f"@{made.BEGIN + 60}", "--until", f"@{made.BEGIN + 120}")
MAIL_NAMES = {"main", "loop_run", "handle_deliver", "handle_queue"}


class Receiver:
    """An HTTP server that keeps what it is sent; answers with (status). What
    it does not take is in (refused)."""

    def __init__(self):
        self.taken, self.refused = [], []
        self.status, self.kinds = 200, []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                size = int(self.headers["Content-Length"])
                data, status = self.rfile.read(size), receiver.status
                receiver.kinds.append(self.headers["Content-Type"])
                kept = receiver.taken if status == 200 else receiver.refused
                kept.append((self.path, data))
                answer = b"no room\x1b[2J" if status != 200 else b""
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}"


def decoded(schema, message, data):
    """What protoc makes of it: a list of (name, value), values of messages
    being such lists."""
    text = run(
        *("protoc", "-Itests/fleet", f"--decode={message}", schema),
        data=data,
    ).out
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = []
            stack[-1].append((line[:-2], inner))
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, _, value = line.partition(": ")
            check.true(not name.isdigit(), f"field {name} is not in the schema")
            stack[-1].append((name, value.strip('"')))
    check.same(len(stack), 1)
    return stack[0]


def all_of(message, name):
    return [value for key, value in message if key == name]


def one(message, name):
    (value,) = all_of(message, name)
    return value


def sums_of_mail():
    """{guest: samples} of the minute that is pushed, by the rows' maker."""
    sums = {}
    for guest in made.guests():
        if guest.service != "mail":
            continue
        for bucket in range(2):
            out = {name: bytearray() for name in made.TABLES}
            guest.bucket(made.BEGIN + 60 * bucket, out)
        row = 2 + 4 + 5 + 20 + 8 + 2 + 1 + 8  # up to samples
        size = row + 16
        sums[f"{guest.number:016x}"] = sum(
            int.from_bytes(out["samples"][at + row : at + row + 8], "little")
            for at in range(0, len(out["samples"]), size)
        )
    return sums


def otlp_is_read(data):
    """(guest, samples) of one request."""
    request = decoded(
        "tests/fleet/otlp.proto", "fleet.otlp.ExportRequest", data
    )
    dictionary = one(request, "dictionary")
    strings = all_of(dictionary, "string_table")
    check.same(strings[0], "")
    for name in (
        *("mapping_table", "location_table", "function_table", "link_table"),
        *("attribute_table", "stack_table"),
    ):
        check.same(all_of(dictionary, name)[0], [])
    resource = one(request, "resource_profiles")
    attributes = {
        one(each, "key"): one(one(each, "value"), "string_value")
        for each in all_of(one(resource, "resource"), "attributes")
    }
    check.same(attributes["service.name"], "mail")
    check.same(attributes["service.version"], made.MAIL.hex())
    check.has(attributes["host.name"], "^host[0-3]$")
    functions = [
        strings[int((all_of(each, "name_strindex") or ["0"])[0])]
        for each in all_of(dictionary, "function_table")
    ]
    locations = [
        functions[int(one(line, "function_index"))]
        for each in all_of(dictionary, "location_table")[1:]
        for line in all_of(each, "lines")
    ]
    stacks = [
        [locations[int(i) - 1] for i in all_of(each, "location_indices")]
        for each in all_of(dictionary, "stack_table")
    ]
    sums, ids = {}, set()
    for profile in all_of(one(resource, "scope_profiles"), "profiles"):
        kind = strings[int(one(one(profile, "sample_type"), "type_strindex"))]
        check.same(
            int(one(profile, "time_unix_nano")), 10**9 * (made.BEGIN + 60)
        )
        check.same(one(profile, "duration_nano"), str(60 * 10**9))
        check.same(one(profile, "period"), str(10**9 // made.HZ))
        ids.add(one(profile, "profile_id"))
        sums[kind] = 0
        for sample in all_of(profile, "samples"):
            names = stacks[int(one(sample, "stack_index"))]
            if names != ["[stack unknown]"]:
                check.same(names[-1], "main")
                check.true(set(names[1:]) < MAIL_NAMES)
            sums[kind] += int(one(sample, "values"))
    check.same(len(ids), 2)
    check.same(sums["cpu"], sums["samples"] * 100 * made.WEIGHT)
    return attributes["service.instance.id"], sums["samples"]


READ_PPROF = """
const {Profile} = require('pprof-format');
const data = Buffer.from(process.argv[1], 'base64');
const profile = Profile.decode(data);
const text = (i) => profile.stringTable.strings[Number(i)];
const names = new Map(profile.function.map((f) => [f.id, text(f.name)]));
const places = new Map(
  profile.location.map((l) => [l.id, names.get(l.line[0].functionId)]));
console.log(JSON.stringify({
  types: profile.sampleType.map((t) => [text(t.type), text(t.unit)]),
  time: String(profile.timeNanos), duration: String(profile.durationNanos),
  period: String(profile.period),
  samples: profile.sample.map((s) => [
    s.locationId.map((id) => places.get(id)), s.value.map(String)]),
}));
"""


def pprof_is_read(modules, data):
    """The sum of samples."""
    found = json.loads(
        run(
            *("node", "-e", READ_PPROF, base64.b64encode(data).decode()),
            env={"NODE_PATH": str(modules)},
        ).out
    )
    check.same(found["types"], [["samples", "count"], ["cpu", "nanoseconds"]])
    check.same(found["time"], str(10**9 * (made.BEGIN + 60)))
    check.same(found["duration"], str(60 * 10**9))
    check.same(found["period"], str(10**9 // made.HZ))
    total = 0
    for names, (samples, ns) in found["samples"]:
        check.same(int(ns), int(samples) * 100 * made.WEIGHT)
        if names != ["[stack unknown]"]:
            check.same(names[-1], "main")
        total += int(samples)
    return total


def unescaped(text):
    """The bytes of protoc's text."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def pyroscope_is_read(modules, data):
    push = decoded("tests/fleet/pyroscope.proto", "push.v1.PushRequest", data)
    series = one(push, "series")
    labels = {
        one(each, "name"): one(each, "value")
        for each in all_of(series, "labels")
    }
    check.same(labels["__name__"], "process_cpu")
    check.same(labels["service_name"], "mail")
    check.same(labels["build"], made.MAIL.hex())
    sample = one(series, "samples")
    check.has(one(sample, "ID"), "^[0-9a-f]{32}$")
    raw = gzip.decompress(unescaped(one(sample, "raw_profile")))
    return labels["guest"], pprof_is_read(modules, raw)


def test_push(s, fleet):
    sums = sums_of_mail()
    with Receiver() as receiver:
        with s.test("OpenTelemetry's profiles are read by their schema"):
            done = fleet(
                *("push", "mail", "--to", f"otlp:{receiver.address}"),
                times=SECOND,
            )
            check.contains(done.err, "sent 8 profiles")
            check.same(
                {path for path, _ in receiver.taken},
                {"/v1development/profiles"},
            )
            check.same(set(receiver.kinds), {"application/x-protobuf"})
            check.same(
                dict(otlp_is_read(data) for _, data in receiver.taken), sums
            )
        with s.test("the same profile has the same id again"):
            before = sorted(data for _, data in receiver.taken)
            receiver.taken.clear()
            fleet(
                *("push", "mail", "--to", f"otlp:{receiver.address}/"),
                times=SECOND,
            )
            check.same(sorted(data for _, data in receiver.taken), before)
        modules = s.npm(PPROF_FORMAT)
        with s.test("Pyroscope's profiles are read by pprof-format"):
            receiver.taken.clear()
            receiver.kinds.clear()
            fleet(
                *("push", "mail", "--to", f"pyroscope:{receiver.address}"),
                times=SECOND,
            )
            check.same(
                {path for path, _ in receiver.taken},
                {"/push.v1.PusherService/Push"},
            )
            check.same(set(receiver.kinds), {"application/proto"})
            check.same(
                dict(
                    pyroscope_is_read(modules, data)
                    for _, data in receiver.taken
                ),
                sums,
            )
        with s.test("a path of one's own is kept"):
            receiver.taken.clear()
            fleet(
                *("push", "mail", "--to", f"otlp:{receiver.address}/a/b"),
                times=SECOND,
            )
            check.same({path for path, _ in receiver.taken}, {"/a/b"})
        with s.test("a refusal is an error, and says what was answered"):
            receiver.status = 503
            done = fleet(
                *("push", "mail", "--to", f"otlp:{receiver.address}"),
                times=SECOND,
                status=1,
            )
            check.contains(done.err, r"answers 503: no room\x1b[2J")
        address = receiver.address
    with s.test("a receiver that is not there is an error"):
        done = fleet(
            *("push", "mail", "--to", f"otlp:{address}"),
            times=SECOND,
            status=1,
        )
        check.true(re.search("onnect", done.err), done.err)
    with s.test("what is no receiver is refused"):
        for word in ("http://x", "otlp:x", "otlp:http://", "pyroscope:ftp://x"):
            done = fleet("push", "mail", "--to", word, status=2)
            check.contains(done.err, "neither otlp:http://HOST:PORT nor")
