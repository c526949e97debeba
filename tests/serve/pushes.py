# SPDX-License-Identifier: Apache-2.0
"""What `parasite serve --push` sends, as a receiver has it, and what becomes of
it where nobody takes it."""

import sys
import urllib.request

from harness.payload import Payload
from harness.suite import check

sys.path.insert(0, "tests/fleet")
# pylint: disable=wrong-import-position
from pushed import Receiver, all_of, decoded, one


def otlp_sums(data):
    """(service, guest, {kind: sum}) of a request."""
    request = decoded(
        "tests/fleet/otlp.proto", "fleet.otlp.ExportRequest", data
    )
    strings = all_of(one(request, "dictionary"), "string_table")
    resource = one(request, "resource_profiles")
    names = {
        one(each, "key"): one(one(each, "value"), "string_value")
        for each in all_of(one(resource, "resource"), "attributes")
    }
    check.same(names["host.name"], "here")
    sums = {}
    for profile in all_of(one(resource, "scope_profiles"), "profiles"):
        kind = strings[int(one(one(profile, "sample_type"), "type_strindex"))]
        check.same(one(profile, "period"), str(10**7))
        sums[kind] = sum(
            int(one(sample, "values")) for sample in all_of(profile, "samples")
        )
    return names["service.name"], names["service.instance.id"], sums


def pushed_samples(receiver):
    return sum(
        otlp_sums(data)[2]["samples"] for _, data in list(receiver.taken)
    )


def are_the_rows(receiver, serve):
    """Each profile is of the guest, and all are the rows' sums."""
    rows = serve.rows("samples")
    found = [otlp_sums(data) for _, data in receiver.taken]
    guests = {row["guest"] for row in rows}
    check.same(
        {(service, guest) for service, guest, _ in found},
        {("one", guest) for guest in guests},
    )
    for kind, column, unit in ("samples", "samples", 1), ("cpu", "weight", 100):
        check.same(
            sum(sums[kind] for *_, sums in found),
            unit * sum(row[column] for row in rows),
        )


def test_push(s, serving, metric, send, samples_of):
    """A minute that is closed is there as the rows have it, if it has to wait
    for the receiver, too."""
    with Receiver() as receiver:
        words = ("--push", f"otlp:{receiver.address}", "--http", 0)
        with serving(s, *words, name="push") as serve:
            check.same(metric(serve, "pushed_total"), 0)
            send(serve, samples_of(300, 70))
            serve.process.soon(
                lambda: pushed_samples(receiver) == 300, "the first guest"
            )
            receiver.status = 503
            send(serve, samples_of(200, 71))
            serve.process.soon(lambda: receiver.refused, "a request")
            serve.process.soon(
                lambda: "answers 503" in serve.text(), "its answer is said"
            )
            receiver.status = 200
            serve.process.soon(
                lambda: pushed_samples(receiver) == 500, "the second"
            )
            serve.process.soon(
                lambda: metric(serve, "pushed_total") == len(receiver.taken),
                "all are counted",
            )
            check.same(metric(serve, "push_waiting_bytes"), 0)
            check.same(metric(serve, "push_lost_total"), 0)
            serve.stop()
        check.lacks(serve.text(), "profiles were not taken")


def test_push_of_rows(s, serving, send, samples_of):
    """The sums of all profiles are those of the rows, and what is open is sent
    when serve ends. Pyroscope gets the same."""
    with Receiver() as receiver:
        words = ("--push", f"otlp:{receiver.address}")
        with serving(s, *words, name="pushrows") as serve:
            send(serve, samples_of(300, 72, end=False))
            serve.soon_guest(boot="48" * 16)
            serve.stop()
        check.same(pushed_samples(receiver), 300)
        are_the_rows(receiver, serve)


def test_push_refused(s, serving, metrics, send, samples_of):
    """What is refused is lost, and counted; so is what waits at the end."""
    with Receiver() as receiver:
        receiver.status = 400
        words = ("--push", f"pyroscope:{receiver.address}", "--http", 0)
        with serving(s, *words, name="refused") as serve:
            serve.process.soon(lambda: "/metrics" in serve.text(), "its port")
            send(serve, samples_of(300, 73))
            lost = "\nparasite_serve_push_lost_total 0\n"
            serve.process.soon(
                lambda: lost not in metrics(serve)[1], "it is lost"
            )
            port, text = metrics(serve)
            check.contains(text, "\nparasite_serve_pushed_total 0")
            page, _ = urllib.request.urlretrieve(
                f"http://127.0.0.1:{port}/", s.work / "refused.html"
            )
            head = Payload(page).head
            check.true(head["push_lost"] > 0, head)
            check.contains(head["push_problem"], "answers 400")
            receiver.status = 503
            send(serve, samples_of(100, 74))
            serve.process.soon(
                lambda: "answers 503" in serve.text(), "it waits"
            )
            serve.stop()
        check.has(serve.text(), r"[2-4] profiles were not taken: .*answers 503")
