# SPDX-License-Identifier: Apache-2.0
"""hour.py BUILD WIDTH: bytes of a stream of some 2,000 events of objects a
second, over three minutes of the guest's time under -icount, in which tasks
sleep and count (tests/guest/trace/trace_crowd). Prints lines "NAME VALUE":

hour_events             events a second
hour_megabytes          of an hour: the stream's bytes, times 20
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from harness.guest import Guest  # noqa: E402 (its folder comes first)

SECONDS = 180
HOUR = 3600 / SECONDS


def main(build, width):
    build = Path(build)
    tool, work = build / "host" / "parasite", build / "bench" / "hour"
    work.mkdir(parents=True, exist_ok=True)
    packets, trace = work / f"{width}.bin", work / f"{width}.trace"
    packets.unlink(missing_ok=True)
    subprocess.run(["rm", "-rf", trace], check=True)
    with Guest(
        build / width / "test" / "trace_crowd" / "trace_crowd.elf",
        width,
        work / f"{width}.log",
        append="prof.out=e9 prof.trace=stream prof.trace_kb=1024 "
        f"prof.start=off prof.every=0 crowd=100 ms={SECONDS * 1000}",
        icount=0,
        stream=packets,
    ) as guest:
        guest.end()
    words = [tool, "record", "-q", "-o", trace, f"file:{packets}"]
    subprocess.run(words, check=True)
    words = [tool, "info", "--check", "-j", trace]
    found = json.loads(subprocess.check_output(words))
    size = packets.stat().st_size
    print(f"hour_events {found['events'] / SECONDS:.0f}")
    print(f"hour_megabytes {size * HOUR / 1e6:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
