# SPDX-License-Identifier: Apache-2.0
"""A server of Prometheus that scrapes a guest."""

import json
import shutil
from contextlib import contextmanager

from harness.process import free_port
from harness.site import SECRET, promtool
from harness.suite import background, run


JOB = "guest"
# A scrape that takes longer than the interval has failed, and the next one
# follows: they are short for a test, and longer than any host needs.
SETTINGS = """\
global: {scrape_interval: %ds, scrape_timeout: %ds}
scrape_configs:
  - job_name: %s
    authorization: {credentials: "%s"}
    static_configs: [{targets: ["%s"]}]
"""


class Server:
    def __init__(self, url, target, process):
        self.url, self.target, self.alive = url, target, process.alive

    def api(self, path, **words):
        """The data of an answer, None if there is none yet."""
        words = [w for k, v in words.items() for w in ("-d", f"{k}={v}")]
        words = ["--data-urlencode" if w == "-d" else w for w in words]
        url = f"{self.url}/api/v1/{path}"
        done = run("curl", "-sfG", *words, url, status=None)
        return json.loads(done.out)["data"] if done.status == 0 else None

    def ask(self, query):
        """What the expression (query) is now, an empty list if nothing."""
        data = self.api("query", query=query)
        return data["result"] if data else []

    def values(self, label, match):
        """Of (label), in the series that (match) selects."""
        return self.api(f"label/{label}/values", **{"match[]": match}) or []


@contextmanager
def server(site, name, *features, every_s=1):
    """A Server that scrapes (site) every (every_s) seconds; (name) is that of
    its files."""
    s, port = site.s, free_port()
    settings, target = s.work / f"{name}.yml", "%s:%d" % site.address
    shutil.rmtree(s.work / name, ignore_errors=True)
    settings.write_text(
        SETTINGS % (every_s, every_s, JOB, SECRET, target), encoding="ascii"
    )
    with background(
        *(promtool(s, "prometheus"), f"--config.file={settings}"),
        f"--storage.tsdb.path={s.work / name}",
        f"--web.listen-address=127.0.0.1:{port}",
        *(f"--enable-feature={feature}" for feature in features),
        log=s.work / f"{name}.log",
    ) as process:
        yield Server(f"http://127.0.0.1:{port}", target, process)
