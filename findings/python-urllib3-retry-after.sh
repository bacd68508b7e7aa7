#!/usr/bin/env bash
# urllib3 1.26.12 (Python; Debian's python3-urllib3 1.26.12-1+deb12u4), and a 503 with Retry-After, without any settings.
#
# The guess: a PoolManager repeats a request only after a failed connection. Statuses need a Retry with status_forcelist; without
# it a 503 is a response like any other.
#
# What it does: the field Retry-After alone makes it wait and repeat a GET, three times, and then give the 503 to the program, which
# learns nothing of the others. A POST is not repeated. Seen, with "Retry-After: 1" (requests that the server got, and what the
# program got):
#   GET: 1, 503 why
#   GET with Retry-After: 4, 503 why      (after 3 s)
#   POST with Retry-After: 1, 503 why
#
# Needs Python 3, and apt with Debian 12. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq python3-urllib3=1.26.12-1+deb12u4 python3-six
for package in *.deb; do
  dpkg -x "$package" .
done
cat > finding.py <<'PYTHON'
import http.server
import threading

import urllib3

requests = []
retry_after = None


class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        requests.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.send_response(503)
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"why")

    do_POST = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()


def row(what, method, field):
    global retry_after
    retry_after = field
    requests.clear()
    response = urllib3.PoolManager().request(method, "http://127.0.0.1:%d/" % server.server_port)
    got = "%d %s" % (response.status, response.data.decode())
    print("%s: %d, %s" % (what, len(requests), got))


row("GET", "GET", None)
row("GET with Retry-After", "GET", "1")
row("POST with Retry-After", "POST", "1")
PYTHON
PYTHONPATH=usr/lib/python3/dist-packages python3 finding.py | tee seen
diff seen - << 'EXPECTED'
GET: 1, 503 why
GET with Retry-After: 4, 503 why
POST with Retry-After: 1, 503 why
EXPECTED
