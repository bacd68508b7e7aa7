#!/usr/bin/env bash
# kubernetes 35.0.0 (Python; Debian's python3-kubernetes 35.0.0-2), and a JSON patch of a custom object.
#
# The guess: a patch that is a list is sent as JSON patch, and one that is a dict as a merge patch, whatever the kind.
#
# What it does: so it is for built-in kinds, whose dicts are strategic merge patches. For custom objects each body is sent as a merge
# patch, also a list, which an API server refuses (400, "cannot unmarshal array"). With a default header of the ApiClient, the only way
# to say otherwise, lists are JSON patches, but then each dict is a strategic merge patch, which no custom kind takes (415). Seen:
#   config map, list: application/json-patch+json
#   config map, dict: application/strategic-merge-patch+json
#   custom object, list: application/merge-patch+json
#   custom object, list, default header: application/json-patch+json
#   custom object, dict, default header: application/strategic-merge-patch+json
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
import threading

from kubernetes import client

types = []


class Api(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_PATCH(self):
        types.append(self.headers["Content-Type"])
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")


server = http.server.HTTPServer(("127.0.0.1", 0), Api)
threading.Thread(target=server.serve_forever, daemon=True).start()
configuration = client.Configuration()
configuration.host = f"http://127.0.0.1:{server.server_port}"
api = client.ApiClient(configuration)
maps, custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
patch, toy = [{"op": "add", "path": "/spec/a", "value": 1}], ("example.org", "v1", "n", "toys", "a")
maps.patch_namespaced_config_map("a", "n", patch)
print("config map, list:", types.pop())
maps.patch_namespaced_config_map("a", "n", {"data": {}})
print("config map, dict:", types.pop())
custom.patch_namespaced_custom_object(*toy, patch)
print("custom object, list:", types.pop())
api.set_default_header("Content-Type", "application/json-patch+json")
custom.patch_namespaced_custom_object(*toy, patch)
print("custom object, list, default header:", types.pop())
custom.patch_namespaced_custom_object(*toy, {"spec": {}})
print("custom object, dict, default header:", types.pop())
PYTHON
PYTHONPATH=$work/usr/lib/python3/dist-packages python3 -S finding.py | tee seen
diff seen - <<'EXPECTED'
config map, list: application/json-patch+json
config map, dict: application/strategic-merge-patch+json
custom object, list: application/merge-patch+json
custom object, list, default header: application/json-patch+json
custom object, dict, default header: application/strategic-merge-patch+json
EXPECTED
