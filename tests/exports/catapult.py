# SPDX-License-Identifier: Apache-2.0
#
# catapult.py TRACE.json: what the trace viewer of Chrome, as Debian's golang
# has it, makes of a file in a browser without a window. Prints the totals in ns
# of each function, as totals.py does.
import functools
import glob
import http.server
import json
import queue
import subprocess
import sys
import tempfile
import threading

STATIC = glob.glob("/usr/share/go-*/src/cmd/trace/static")[0]

PAGE = b"""<!doctype html><meta charset=utf-8>
<script src=/webcomponents.min.js></script>
<link rel=import href=/trace_viewer_full.html>
<script>
function totals(model) {
  const self = Object.create(null), total = Object.create(null);
  for (const thread of model.getAllThreads())
    for (const slice of thread.sliceGroup.slices) {
      let above = slice.parentSlice;
      while (above && above.title !== slice.title)
        above = above.parentSlice;
      self[slice.title] = (self[slice.title] || 0) + slice.subSlices.reduce(
          (left, inner) => left - inner.duration, slice.duration);
      if (!above)
        total[slice.title] = (total[slice.title] || 0) + slice.duration;
    }
  return {self, total, warnings: model.importWarnings.length};
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
"""

said = queue.Queue()


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path not in ("/page", "/trace"):
            return super().do_GET()
        body = PAGE
        if self.path == "/trace":
            with open(sys.argv[1], "rb") as trace:
                body = trace.read()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        said.put(json.loads(self.rfile.read(length)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words):
        pass


def look(port):
    """What the page says, once it has read the trace"""
    with tempfile.TemporaryDirectory(
            ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={profile}", f"http://127.0.0.1:{port}/page"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return said.get(timeout=100)
        finally:
            browser.terminate()
            browser.wait()


def main():
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=STATIC))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found = look(server.server_address[1])
    assert found.get("warnings") == 0, found
    for name in sorted(found["total"]):
        print(name, round(found["self"][name] * 1e6),
              round(found["total"][name] * 1e6), sep="\t")


main()
