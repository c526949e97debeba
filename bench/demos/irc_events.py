# SPDX-License-Identifier: Apache-2.0
"""irc_events.py BUILD WIDTH: bytes of an event in the stream, of the IRC server
under load: as demos.py counts them. The clients answer in the host's time, so
figures vary a little. Prints lines "NAME VALUE":

irc_event_bytes         bytes of an event
irc_hour_megabytes      of an hour at 2,000 such events a second, by this mean
"""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from demos import AN_HOUR, OTHERS  # noqa: E402 (beside this file)
from harness.guest import Guest  # noqa: E402 (its folder comes first)

SESSIONS = 400
CLIENTS = 16
PORT = 6667


def recorded(build, width):
    """The trace of SESSIONS sessions."""
    work = build / "bench" / "irc_events"
    work.mkdir(parents=True, exist_ok=True)
    packets, trace = work / f"{width}.bin", work / f"{width}.trace"
    image = build / width / "irc" / "irc.elf"
    packets.unlink(missing_ok=True)
    subprocess.run(["rm", "-rf", trace], check=True)
    with Guest(
        image,
        width,
        work / f"{width}.log",
        append="prof.out=e9 prof.trace=stream prof.trace_kb=4096 "
        "prof.start=off prof.every=0 prof.reports=0 irc.every=0 "
        f"irc.connections={SESSIONS}",
        forward=[PORT],
        stream=packets,
    ) as guest:
        guest.wait_line("^net: address")
        door = f"127.0.0.1:{guest.port(PORT)}"
        words = ["-q", "-c", str(CLIENTS), "-n", str(SESSIONS), door]
        subprocess.run([build / "host" / "loadgen", *words], check=False)
        guest.end()
    tool = build / "host" / "parasite"
    words = [tool, "record", "-q", "-o", trace, f"file:{packets}"]
    subprocess.run(words, check=True)
    subprocess.run(
        [tool, "info", "--check", trace], check=True, stdout=sys.stderr
    )
    return trace


def main(build, width):
    build = Path(build)
    trace = recorded(build, width)
    words = ["babeltrace2", "--names", "none", trace]
    said = subprocess.run(words, check=True, capture_output=True, text=True)
    names = re.findall(r"^\[\S+ \S+ (\w+): ", said.stdout, re.M)
    events = sum(1 for name in names if name not in OTHERS)
    info = [build / "host" / "parasite", "info", "--json", trace]
    mean = json.loads(subprocess.check_output(info))["bytes"] / events
    print(f"irc_event_bytes {mean:.2f}")
    print(f"irc_hour_megabytes {mean * AN_HOUR / 1e6:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
