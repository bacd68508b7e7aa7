#!/usr/bin/env bash
# nginx 1.30.6 (Debian's nginx 1.30.6-2) with "proxy_http_version 2", and interim responses of the server behind it.
#
# The guess: they are all ignored or all passed on, whatever the version of HTTP is in which the server speaks.
#
# What it does: from a server in HTTP/1.1 they are ignored or passed on. From one in HTTP/2 a 103 is ignored, and any other one, such
# as the 102 or the 100 that a server sends early, makes the response a 502. Seen:
#   HTTP/1.1: 100 -> 200, 102 -> 200, 103 -> 200
#   HTTP/2: 100 -> 502, 102 -> 502, 103 -> 200
#
# Needs Node 20 or later, curl, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq nginx=1.30.6-2
dpkg -x nginx_*.deb .
cat > server.js <<'JS'
// Answers /NUMBER with an interim response of this number, and then with 200.
const {createServer} = require('net');
const http2 = require('http2');
createServer((connection) => connection.on('error', () => {}).on('data', (data) => connection.end(
    `HTTP/1.1 ${/GET \/(\d+)/.exec(data)[1]} Interim\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`)))
    .listen(0, '127.0.0.1', function() {
      const http1 = this.address().port;
      const server = http2.createServer().on('stream', (stream, {':path': path}) => {
        stream.additionalHeaders({':status': +path.slice(1)});
        stream.respond({':status': 200});
        stream.end('ok');
      }).listen(0, '127.0.0.1', () => console.log(http1, server.address().port));
    });
JS
node server.js > ports &
for _ in $(seq 50); do
  [ -s ports ] || sleep 0.1
done
read -r http1 http2 < ports
cat > nginx.conf <<NGINX
daemon off;
master_process off;
error_log /dev/null;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;
  server { listen unix:1.sock; location / { proxy_http_version 1.1; proxy_pass http://127.0.0.1:$http1; } }
  server { listen unix:2.sock; location / { proxy_http_version 2; proxy_pass http://127.0.0.1:$http2; } }
}
NGINX
usr/sbin/nginx -p "$work" -c nginx.conf &
for _ in $(seq 50); do
  [ -S 2.sock ] || sleep 0.1
done
status() {
  echo "$2 -> $(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$1.sock" "http://finding/$2")"
}
{
  echo "HTTP/1.1: $(status 1 100), $(status 1 102), $(status 1 103)"
  echo "HTTP/2: $(status 2 100), $(status 2 102), $(status 2 103)"
} | tee seen
diff seen - <<'EXPECTED'
HTTP/1.1: 100 -> 200, 102 -> 200, 103 -> 200
HTTP/2: 100 -> 502, 102 -> 502, 103 -> 200
EXPECTED
