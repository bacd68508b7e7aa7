#!/usr/bin/env bash
# HAProxy 3.2.26 (Debian's haproxy 3.2.26-1) between a client and a server in HTTP/2, and a server that resets a stream.
#
# The guess: a stream that the server resets with INTERNAL_ERROR, before its response, is a 502 for the client, or reset with the same
# code. Clients do not repeat a POST then, as the server may have run it.
#
# What it does, if the connection to the server has served another request: the client gets REFUSED_STREAM, which says that the
# request was not processed and may be sent again (RFC 9113, section 8.7). curl does so five times, and the server gets the same POST
# six times. A client in HTTP/1.1 of the same server gets a 502, and the server one POST. Seen:
#   node, HTTP/2: reset with code 7, requests at the server: 1
#   curl, HTTP/2: status 000, requests at the server: 6
#   curl, HTTP/1.1: status 502, requests at the server: 1
#
# Needs Node 20 or later, curl, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq haproxy=3.2.26-1 libjemalloc2 liblua5.4-0 libopentracing-c-wrapper0t64 libopentracing1
for package in *.deb; do
  dpkg -x "$package" .
done
cat > server.js <<'JS'
const server = require('http2').createServer().on('session', (session) => session.on('error', () => {}))
    .on('stream', (stream, head) => {
      if (head[':path'] === '/ok') {
        stream.respond({':status': 200});
        return stream.end();
      }
      console.log(head[':method'], head[':path']);
      stream.on('error', () => {}).close(require('http2').constants.NGHTTP2_INTERNAL_ERROR);
    }).listen(0, '127.0.0.1', () => console.log(server.address().port));
JS
node server.js > received &
for _ in $(seq 50); do
  [ -s received ] || sleep 0.1
done
port=$(head -n 1 received)
free=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => (console.log(s.address().port), s.close()))')
cat > haproxy.cfg <<HAPROXY
defaults
  mode http
  timeout connect 2s
  timeout client 5s
  timeout server 5s
listen http2
  bind 127.0.0.1:$free proto h2
  server one 127.0.0.1:$port proto h2
listen http1
  bind unix@1.sock
  server one 127.0.0.1:$port proto h2
HAPROXY
LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu usr/sbin/haproxy -q -db -f haproxy.cfg &
for _ in $(seq 50); do
  [ -S 1.sock ] || sleep 0.1
done
cat > client.js <<'JS'
const session = require('http2').connect('http://127.0.0.1:' + process.argv[2]);
session.on('error', () => {});
const stream = session.request({':method': 'POST', ':path': '/node'});
stream.on('error', () => {}).on('close', () => {
  console.log(stream.rstCode);
  process.exit();
}).end('x');
JS
# A connection to the server that is used again.
curl -s --http2-prior-knowledge "http://127.0.0.1:$free/ok"
curl -s --unix-socket 1.sock http://finding/ok
{
  code=$(node client.js "$free")
  echo "node, HTTP/2: reset with code $code, requests at the server: $(grep -c /node received)"
  status=$(curl -s --http2-prior-knowledge -o body -w '%{http_code}' -d x "http://127.0.0.1:$free/curl2") || true
  echo "curl, HTTP/2: status $status, requests at the server: $(grep -c /curl2 received)"
  status=$(curl -s --unix-socket 1.sock -o body -w '%{http_code}' -d x http://finding/curl1) || true
  echo "curl, HTTP/1.1: status $status, requests at the server: $(grep -c /curl1 received)"
} | tee seen
diff seen - <<'EXPECTED'
node, HTTP/2: reset with code 7, requests at the server: 1
curl, HTTP/2: status 000, requests at the server: 6
curl, HTTP/1.1: status 502, requests at the server: 1
EXPECTED
