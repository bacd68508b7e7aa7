#!/usr/bin/env bash
# kubernetes 35.0.0 (Python; Debian's python3-kubernetes 35.0.0-2), and k8s.io/apimachinery 0.36.4 (Debian's
# golang-k8s-apimachinery-dev 0.36.4-3), which reads what API servers get.
#
# The guess: a Lease that a Python program reads and sends back unchanged is accepted.
#
# What happens: renewTime and acquireTime are of the type MicroTime, which in Go is read by one layout, with exactly six decimals. Python's
# client writes datetime.isoformat(), which leaves the decimals out if they are all zero. So a Lease whose time is on the whole second
# (1 of a million of client-go's, and each that is written by hand, as ...:00.000000Z) comes back as a text that Go refuses: the API
# server answers 400. Other fields of type Time take it. Seen:
#   2026-01-01T00:00:00.123456Z -> 2026-01-01T00:00:00.123456+00:00: read
#   2026-01-01T00:00:00.000000Z -> 2026-01-01T00:00:00+00:00: parsing time "2026-01-01T00:00:00+00:00" as
#     "2006-01-02T15:04:05.000000Z07:00": cannot parse "+00:00" as ".000000"
#
# Needs Python 3, Go, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq python3-kubernetes=35.0.0-2 python3-certifi python3-dateutil python3-durationpy python3-oauthlib python3-requests \
  python3-requests-oauthlib python3-six python3-urllib3 python3-websocket python3-yaml python3-idna python3-charset-normalizer \
  python3-google-auth python3-cachetools python3-pyasn1-modules python3-pyasn1 python3-rsa golang-k8s-apimachinery-dev=0.36.4-3 \
  $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances golang-k8s-apimachinery-dev \
    | grep -E '^golang-.*-dev$' | grep -v '^golang-k8s-apimachinery-dev$' | sort -u)
for package in *.deb; do
  dpkg -x "$package" .
done
cat > lease.py <<'PYTHON'
import json
import sys
from types import SimpleNamespace

from kubernetes import client

api = client.ApiClient()
for time in "2026-01-01T00:00:00.123456Z", "2026-01-01T00:00:00.000000Z":
    lease = api.deserialize(SimpleNamespace(data=json.dumps({"spec": {"renewTime": time}})), "V1Lease")
    print(time, api.sanitize_for_serialization(lease)["spec"]["renewTime"])
PYTHON
mkdir -p usr/share/gocode/src/finding
cat > usr/share/gocode/src/finding/main.go <<'GO'
package main

import (
	"fmt"

	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func main() {
	for {
		var before, after string
		if n, _ := fmt.Scanln(&before, &after); n < 2 {
			return
		}
		var time v1.MicroTime
		if err := time.UnmarshalJSON([]byte(`"` + after + `"`)); err != nil {
			fmt.Printf("%s -> %s: %v\n", before, after, err)
		} else {
			fmt.Printf("%s -> %s: read\n", before, after)
		}
	}
}
GO
PYTHONPATH=$work/usr/lib/python3/dist-packages python3 -S lease.py > times
GO111MODULE=off GOFLAGS= GOPATH=$work/usr/share/gocode go build -o read finding
./read < times | tee seen
diff seen - <<'EXPECTED'
2026-01-01T00:00:00.123456Z -> 2026-01-01T00:00:00.123456+00:00: read
2026-01-01T00:00:00.000000Z -> 2026-01-01T00:00:00+00:00: parsing time "2026-01-01T00:00:00+00:00" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "+00:00" as ".000000"
EXPECTED
