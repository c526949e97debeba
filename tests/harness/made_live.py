# SPDX-License-Identifier: Apache-2.0
"""The payload of the page of `parasite serve`, as host/collect/status.c makes
it: guests of three services, in each state."""

SERVICES = (
    ("http", 24, "sending"),
    ("irc", 5, "silent"),
    ("a service with a name that is long enough to need two lines", 3, "gone"),
)
FUNCTIONS = (
    ("parse_request", 700),
    ("std::vector<service::Connection, service::Allocator>::push_back", 210),
    *((f"function_{number}", 90 - 6 * number) for number in range(13)),
)


def _guest(service, number, state):
    boot = f"{number:02x}{len(service):02x}" * 8
    lost = 40 if number % 7 == 3 else 0
    guest = {
        "boot": boot,
        "service": service,
        "target": f"shm:/dev/shm/{service.split()[0]}-{number}",
        "hz": 1000.0,
        "cpus": 1 + number % 4,
        "state": state,
        "all_lost": lost,
        "all_ticks": 1000 + 100 * number,
    }
    if number % 5 < 4:
        guest["build"] = f"{0xA0 + number % 2:02x}" * 20
    if state == "sending":
        guest |= {"rate": 990.5 + number, "busy": number % 10 / 10}
        guest["lost_share"] = lost / 1000
    return guest


def live():
    guests = [
        _guest(service, number, state)
        for service, count, state in SERVICES
        for number in range(count)
    ]
    return {
        "host": "host0",
        "memory": 123_456_789,
        "memory_limit": 1_073_741_824,
        "refused": 12,
        "spool_batches": 3,
        "store_problem": "connection refused",
        "lost_rows": 40,
        "made": 1_793_577_600,
        "every": 5,
        "guests": guests,
        "top": {
            "boot": guests[0]["boot"],
            "since": 29_892_960,
            "samples": sum(samples for _, samples in FUNCTIONS),
            "unknown": 17,
            "functions": [
                {"name": name, "samples": samples}
                for name, samples in FUNCTIONS
            ],
        },
    }
