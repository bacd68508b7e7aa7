#!/usr/bin/env bash
# kubernetes 35.0.0 (Python; Debian's python3-kubernetes 35.0.0-2), and bookmarks of a watch.
#
# The guess: Watch.stream resumes a watch that the server has ended from the newest version that it knows. That is what bookmarks,
# which it asks for if allow_watch_bookmarks is set, are for: without them a quiet watch is resumed from a version that is gone.
#
# What it does: bookmarks are requested and handed to the caller, but do not count. The next request has the version of the last
# object, however old. Events of objects count. Seen, with an object of version 11, a bookmark of version 50, and the end:
#   events: ADDED 11, BOOKMARK 50, ADDED 60
#   requests: watch from the start, watch from 11
#
# Needs Python 3, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq python3-kubernetes=35.0.0-2 python3-certifi python3-dateutil python3-durationpy python3-oauthlib python3-requests \
  python3-requests-oauthlib python3-six python3-urllib3 python3-websocket python3-yaml python3-idna python3-charset-normalizer \
  python3-google-auth python3-cachetools python3-pyasn1-modules python3-pyasn1 python3-rsa
for package in *.deb; do
  dpkg -x "$package" .
done
cat > finding.py <<'PYTHON'
import http.server
import json
import threading
from urllib.parse import parse_qs, urlparse

from kubernetes import client, watch

requests = []


def event(kind, version):
    return {"type": kind, "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": version}}}


class Api(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        requests.append("watch from " + parse_qs(urlparse(self.path).query).get("resourceVersion", ["the start"])[0])
        self.send_response(200)
        self.end_headers()
        for one in [event("ADDED", "11"), event("BOOKMARK", "50")] if len(requests) == 1 else [event("ADDED", "60")]:
            self.wfile.write(json.dumps(one).encode() + b"\n")


server = http.server.HTTPServer(("127.0.0.1", 0), Api)
threading.Thread(target=server.serve_forever, daemon=True).start()
configuration = client.Configuration()
configuration.host = f"http://127.0.0.1:{server.server_port}"
watcher, events = watch.Watch(), []
for one in watcher.stream(client.CoreV1Api(client.ApiClient(configuration)).list_namespaced_config_map, "n", allow_watch_bookmarks=True):
    events.append(one["type"] + " " + one["raw_object"]["metadata"]["resourceVersion"])
    if len(events) == 3:
        watcher.stop()
print("events: " + ", ".join(events))
print("requests: " + ", ".join(requests[:2]))
PYTHON
PYTHONPATH=$work/usr/lib/python3/dist-packages python3 -S finding.py | tee seen
diff seen - <<'EXPECTED'
events: ADDED 11, BOOKMARK 50, ADDED 60
requests: watch from the start, watch from 11
EXPECTED
