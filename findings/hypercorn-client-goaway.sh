#!/usr/bin/env bash
# hypercorn 0.17.3 with h2 4.3.0 (Python; Debian's python3-hypercorn 0.17.3-4, python3-h2 4.3.0-2), and a client of HTTP/2 that closes its
# session while a request runs, as Node's does with close().
#
# The guess: the response still comes. close() of a Http2Session is documented as graceful: it sends GOAWAY with NO_ERROR, and waits for the
# streams that are open; RFC 9113, section 6.8, lets both ends finish these.
#
# What it does: for h2 the connection is closed with the GOAWAY, so that all further frames are errors, and hypercorn closes it: the
# application runs, and its response, and those of all other streams, are lost. Node's own server sends them. Seen:
#   node: open session 200 hello, closed session 200 hello
#   hypercorn: open session 200 hello, closed session no response
#
# Needs Node 20 or later, Python 3, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq python3-hypercorn=0.17.3-4 python3-h2=4.3.0-2 python3-h11 python3-hpack python3-hyperframe python3-priority python3-wsproto
for package in *.deb; do
  dpkg -x "$package" .
done
cat > finding.py <<'PYTHON'
import asyncio


async def app(scope, receive, send):
    if scope["type"] == "http":
        await asyncio.sleep(1)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})
PYTHON
cat > server.js <<'JS'
require('node:http2').createServer((request, response) => {
  setTimeout(() => response.end('hello'), 1000);
}).listen('node.sock');
JS
cat > client.js <<'JS'
// Closes the session as soon as the request is sent, or once the response has come.
const { connect } = require('node:net');
const session = require('node:http2').connect('http://finding', { createConnection: () => connect(process.argv[2]) });
session.on('error', () => {});
const stream = session.request({ ':path': '/' });
let seen = 'no response';
stream.on('response', head => { seen = head[':status']; });
stream.on('data', data => { seen += ` ${data}`; });
stream.on('error', () => {});
stream.on('close', () => {
  process.stdout.write(`${process.argv[3]} session ${seen}`);
  session.close();
});
if (process.argv[3] === 'closed') session.on('remoteSettings', () => setTimeout(() => session.close(), 200));
JS
PYTHONPATH=$work/usr/lib/python3/dist-packages python3 -m hypercorn -b "unix:$work/hypercorn.sock" finding:app > log 2>&1 &
node server.js &
for _ in $(seq 100); do
  [ -S hypercorn.sock ] && [ -S node.sock ] || sleep 0.1
done
{
  echo "node: $(node client.js node.sock open), $(node client.js node.sock closed)"
  echo "hypercorn: $(node client.js hypercorn.sock open), $(node client.js hypercorn.sock closed)"
} > seen
cat seen
diff seen - <<'EXPECTED' || { cat log; exit 1; }
node: open session 200 hello, closed session 200 hello
hypercorn: open session 200 hello, closed session no response
EXPECTED
