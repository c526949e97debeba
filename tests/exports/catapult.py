# SPDX-License-Identifier: Apache-2.0
"""What the trace viewer of Chrome, as Debian's golang has it, makes of a file
in a browser without a window."""

import functools
import glob
import http.server
import json
import tempfile
import threading

from harness.suite import background, check, soon

PAGE = b"""<!doctype html><meta charset=utf-8>
<script src=/webcomponents.min.js></script>
<link rel=import href=/trace_viewer_full.html>
<script>
function totals(model) {
  const self = Object.create(null), total = Object.create(null);
  const runs = Object.create(null);
  for (const thread of model.getAllThreads())
    for (const slice of thread.sliceGroup.slices) {
      if (/^(tasks|interrupts|lost|pauses|event loop) .cpu/.test(thread.name)) {
        runs[slice.title] = (runs[slice.title] || 0) + slice.duration;
        continue;
      }
      let above = slice.parentSlice;
      while (above && above.title !== slice.title)
        above = above.parentSlice;
      self[slice.title] = (self[slice.title] || 0) + slice.subSlices.reduce(
          (left, inner) => left - inner.duration, slice.duration);
      if (!above)
        total[slice.title] = (total[slice.title] || 0) + slice.duration;
    }
  const counters = {};
  let slices = 0;
  for (const process of model.getAllProcesses())
    for (const counter of Object.values(process.counters))
      counters[counter.name] = counter.timestamps.length;
  for (const thread of model.getAllThreads())
    for (const top of thread.asyncSliceGroup.slices)
      slices += 1 + top.subSlices.length;
  return {self, total, runs, warnings: model.importWarnings.length, counters,
          arrows: model.flowEvents.filter(
              (flow) => flow.startSlice && flow.endSlice).length,
          flows: model.flowEvents.length, slices};
}
async function read() {
  const model = new tr.Model();
  const options = new tr.importer.ImportOptions();
  options.shiftWorldToZero = false;
  await new tr.importer.Import(model, options).importTraces(
      [await (await fetch('/trace')).text()]);
  return totals(model);
}
document.addEventListener('WebComponentsReady', () => read().catch(
    problem => ({problem: problem.stack})).then(
    said => fetch('/said', {method: 'POST', body: JSON.stringify(said)})));
</script>
<img src=/said>
"""


def handler(trace, said):
    """A class for requests: serves the page and (trace), and appends what the
    page posts to (said). The page is loaded once that is there: no sooner does
    the browser end."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/said":
                soon(lambda: said, "the page's answer")
            if self.path not in ("/page", "/trace"):
                super().do_GET()
                return
            body = PAGE if self.path == "/page" else trace
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            length = int(self.headers["Content-Length"])
            said.append(json.loads(self.rfile.read(length)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    static = glob.glob("/usr/share/go-*/src/cmd/trace/static")[0]
    return functools.partial(Handler, directory=static)


def look(port, said, log):
    """What the page says, once it has read the trace."""
    with tempfile.TemporaryDirectory(
        ignore_cleanup_errors=True
    ) as profile, background(
        *("chromium-headless-shell", "--no-sandbox", "--disable-gpu"),
        *("--dump-dom", f"--user-data-dir={profile}"),
        f"http://127.0.0.1:{port}/page",
        log=log,
    ) as browser:
        soon(lambda: said, "the page's answer", browser.alive)
    return said[0]


def totals_ns(trace, log):
    """{function: (self, total)} of the bytes of a file."""
    found = read(trace, log)
    return {
        name: (round(found["self"][name] * 1e6), round(total * 1e6))
        for name, total in found["total"].items()
    }


def read(trace, log):
    """What the viewer finds in the bytes of a file: see PAGE. Flows are all
    pairs of "s" and "f", arrows those whose ends are both in slices."""
    said = []
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), handler(trace, said)
    )
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = look(server.server_address[1], said, log)
        server.shutdown()
    check.same(found.get("warnings"), 0, found)
    return found
