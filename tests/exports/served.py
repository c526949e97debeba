# SPDX-License-Identifier: Apache-2.0
#
# served.py PARASITE TRACE FOLDER: what `parasite open` serves and what it
# refuses. Ends with 0 if all of it is as it should be, and says what is not.
import http.client
import os
import signal
import socket
import subprocess
import sys
import time

parasite, trace, folder = sys.argv[1:4]
FORMATS = {"/profile.json": "firefox", "/profile.pb.gz": "pprof",
           "/profile.trace.json": "chrome", "/perf.data": "perf",
           "/profile.perfetto-trace": "perfetto",
           "/profile.folded": "folded", "/callgrind.out": "callgrind"}
VIEWER = "https://profiler.firefox.com"


def begin(*words, browser="false"):
    """The server and its port"""
    server = subprocess.Popen(
        [parasite, "open", *words, trace], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=dict(os.environ, BROWSER=browser))
    address = server.stdout.readline().decode().strip()
    assert address.startswith("http://127.0.0.1:"), address
    return server, int(address.rsplit(":", 1)[1].rstrip("/"))


def end(server, number=signal.SIGINT):
    server.send_signal(number)
    assert server.wait(timeout=10) == 0, "ended badly"


def ask(port, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def exported(format_name):
    return subprocess.run(
        [parasite, "export", "-q", "-f", format_name, "-o", "/dev/stdout",
         trace], stdout=subprocess.PIPE, check=True).stdout


def pages_are_exports(port):
    for path, format_name in FORMATS.items():
        status, headers, body = ask(port, path)
        assert status == 200 and body == exported(format_name), path
        assert headers["X-Content-Type-Options"] == "nosniff", path
        # once more, from what is kept
        assert ask(port, path)[2] == body, path
        status, headers, nothing = ask(port, path, "HEAD")
        assert (status, nothing) == (200, b""), path
        assert int(headers["Content-Length"]) == len(body), path


def flame_graph_is_served(port):
    page = subprocess.run([parasite, "flame", "-q", "-o", "-", trace],
                          stdout=subprocess.PIPE, check=True).stdout
    status, headers, body = ask(port, "/flame.html")
    assert status == 200 and "text/html" in headers["Content-Type"]
    assert body == page and b"</html>" in page
    assert b"href=flame.html>" in ask(port, "/")[2]


def overview_is_safe(port):
    status, headers, body = ask(port, "/")
    assert status == 200 and "text/html" in headers["Content-Type"]
    assert b"operator&lt;&lt; &lt;char" in body
    assert b"<script" not in body and b"default-src 'none'" in body
    for path in FORMATS:
        assert f"href={path[1:]}>".encode() in body, path


def others_are_refused(port):
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1",
                 f"127.0.0.1:{port}.evil.example", f"0.0.0.0:{port}", ""):
        assert ask(port, "/profile.json", Host=host)[0] == 403, host
    assert ask(port, "/", Host=f"localhost:{port}")[0] == 200
    assert ask(port, "/", "POST")[0] == 405
    assert ask(port, "/", "PUT")[0] == 405
    for path in ("/nothing", "//", "/../profile.json", "/profile.json/"):
        assert ask(port, path)[0] == 404, path


def only_viewers_may_read(port):
    allow = "Access-Control-Allow-Origin"
    for method in ("GET", "OPTIONS"):
        headers = ask(port, "/profile.json", method, Origin=VIEWER)[1]
        assert headers[allow] == VIEWER, method
        for origin in ("https://evil.example", "null", VIEWER + ".evil.example",
                       f"http://127.0.0.1:{port}"):
            assert allow not in ask(port, "/profile.json", method,
                                    Origin=origin)[1], origin


def only_here(port):
    """127.0.0.2 is this machine as well, but no address of the server's"""
    for family, address in ((socket.AF_INET, "127.0.0.2"),
                            (socket.AF_INET6, "::1")):
        with socket.socket(family) as there:
            assert there.connect_ex((address, port)) != 0, address


def browser_is_started():
    told = os.path.join(folder, "told")
    script = os.path.join(folder, "browser")
    with open(script, "w") as out:
        out.write(f'#!/bin/sh\necho "$@" >"{told}.new"\n'
                  f'mv "{told}.new" "{told}"\n')
    os.chmod(script, 0o755)
    if os.path.exists(told):
        os.remove(told)
    server, port = begin("--no-browser", browser=script)
    ask(port, "/")
    end(server, signal.SIGTERM)
    assert not os.path.exists(told), "a browser in spite of --no-browser"
    server, port = begin(browser=script + " --new-window")
    for _ in range(100):
        if os.path.exists(told):
            break
        time.sleep(0.1)
    assert open(told).read() == f"--new-window http://127.0.0.1:{port}/\n"
    end(server)


def port_is_asked_for(port):
    """(port) was free a moment ago"""
    server, given = begin("--no-browser", "--port", str(port))
    assert given == port
    second = subprocess.run([parasite, "open", "--no-browser", "--port",
                             str(port), trace], stderr=subprocess.PIPE)
    assert second.returncode == 1 and b"cannot listen" in second.stderr
    end(server)
    for bad in ("65536", "-1", "x", ""):
        assert subprocess.run([parasite, "open", "--port", bad, trace],
                              stderr=subprocess.DEVNULL).returncode == 2, bad


def main():
    server, port = begin("--no-browser")
    try:
        pages_are_exports(port)
        overview_is_safe(port)
        flame_graph_is_served(port)
        others_are_refused(port)
        only_viewers_may_read(port)
        only_here(port)
    finally:
        end(server)
    browser_is_started()
    port_is_asked_for(port)


main()
