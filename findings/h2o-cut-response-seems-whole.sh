#!/usr/bin/env bash
# h2o 2.2.5 (Debian's h2o 2.2.5+dfsg2-7) as a reverse proxy, and a server that closes the connection in the middle of a response.
#
# The guess: the client sees that the body is cut, by its missing last chunk or bytes in HTTP/1.1, and a reset stream in HTTP/2. RFC 9112,
# section 8, calls a body in chunks incomplete without its last chunk, and h2o is told so by the connection's end.
#
# What it does: a body in chunks is ended as if it were whole, so that the client sees no error. A body with a length is seen to be cut. Seen,
# by curl, for a body that is cut behind "hello" (18 is a partial file, 92 an error of a stream):
#   chunks, the server itself: hello, exit code 18
#   chunks, h2o, HTTP/1.1: hello, exit code 0
#   chunks, h2o, HTTP/2: hello, exit code 0
#   length, the server itself: hello, exit code 18
#   length, h2o, HTTP/1.1: hello, exit code 18
#   length, h2o, HTTP/2: hello, exit code 92
#
# Needs Node 20 or later, curl, and apt with Debian bookworm. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq h2o=2.2.5+dfsg2-7 libc6 libgcc-s1 libssl3 libstdc++6 libyaml-0-2 zlib1g
for package in *.deb; do
  dpkg -x "$package" .
done
cat > server.js <<'JS'
require('node:http').createServer((request, response) => {
  response.writeHead(200, request.url === '/length' ? { 'content-length': 11 } : {});
  response.write('hello');
  setTimeout(() => response.destroy(), 300);
}).listen('server.sock');
JS
cat > h2o.conf <<CONF
listen: {port: $work/h2o.sock, type: unix}
pid-file: $work/pid
hosts: {"*": {paths: {"/": {proxy.reverse.url: "http://[unix:$work/server.sock]/"}}}}
CONF
[ "$(id -u)" -ne 0 ] || sed -i '1i user: root' h2o.conf
node server.js &
lib=$(dirname "$(find "$work" -name libc.so.6)")
"$lib/ld-linux-x86-64.so.2" --library-path "$lib:$work/usr/lib/x86_64-linux-gnu" usr/bin/h2o -c h2o.conf > log 2>&1 &
for _ in $(seq 50); do
  if [ -S h2o.sock ] && [ -S server.sock ]; then break; fi
  sleep 0.1
done
[ -S h2o.sock ] && [ -S server.sock ] || { cat log; echo 'The servers have not started.'; exit 1; }
get() {
  code=0
  body=$(curl -s -m 10 --unix-socket "$2" ${4:+"$4"} "http://finding/$3") || code=$?
  echo "$1: $body, exit code $code"
}
for framing in chunks length; do
  get "$framing, the server itself" server.sock "$framing"
  get "$framing, h2o, HTTP/1.1" h2o.sock "$framing"
  get "$framing, h2o, HTTP/2" h2o.sock "$framing" --http2-prior-knowledge
done > seen
cat seen
diff seen - <<'EXPECTED' || { cat log; exit 1; }
chunks, the server itself: hello, exit code 18
chunks, h2o, HTTP/1.1: hello, exit code 0
chunks, h2o, HTTP/2: hello, exit code 0
length, the server itself: hello, exit code 18
length, h2o, HTTP/1.1: hello, exit code 18
length, h2o, HTTP/2: hello, exit code 92
EXPECTED
