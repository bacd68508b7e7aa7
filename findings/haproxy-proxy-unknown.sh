#!/usr/bin/env bash
# HAProxy 3.2.26 (Debian's haproxy 3.2.26-1) with "accept-proxy", and PROXY headers of version 1 with UNKNOWN. nginx 1.30.6 (Debian's
# nginx 1.30.6-2) with "proxy_protocol" beside it.
#
# The guess: HAProxy, whose author wrote the protocol, ignores what follows UNKNOWN. The protocol (section 2.1) says that the sender may
# leave that out, that the receiver must ignore it, and gives a line with addresses as the longest one.
#
# What it does: it resets each connection whose line does not end right behind UNKNOWN. nginx takes them all. Seen:
#   haproxy: "PROXY UNKNOWN" served
#   haproxy: "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535" reset
#   haproxy: "PROXY UNKNOWN 192.0.2.1 192.0.2.2 1 2" reset
#   nginx: "PROXY UNKNOWN" served
#   nginx: "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535" served
#   nginx: "PROXY UNKNOWN 192.0.2.1 192.0.2.2 1 2" served
#
# Needs Node 20 or later, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq haproxy=3.2.26-1 nginx=1.30.6-2 libc6 libcap2 libcrypt1 libgcc-s1 libjemalloc2 liblua5.4-0 \
  libopentracing-c-wrapper0t64 libopentracing1 libpcre2-8-0 libssl3t64 libstdc++6 libzstd1 zlib1g
for package in *.deb; do
  dpkg -x "$package" .
done
# With the libraries of sid, also on an older Debian.
with=("$work/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$work/usr/lib/x86_64-linux-gnu")
cat > haproxy.cfg <<'HAPROXY'
defaults
  mode http
  timeout connect 2s
  timeout client 5s
  timeout server 5s
frontend f
  bind unix@haproxy.sock accept-proxy
  http-request return status 200
HAPROXY
cat > nginx.conf <<NGINX
daemon off;
master_process off;
pid pid;
error_log errors;
events {}
http {
  access_log off;
  client_body_temp_path 1;
  proxy_temp_path 2;
  fastcgi_temp_path 3;
  uwsgi_temp_path 4;
  scgi_temp_path 5;
  server {
    listen unix:$work/nginx.sock proxy_protocol;
    return 200;
  }
}
NGINX
"${with[@]}" usr/sbin/haproxy -q -db -f haproxy.cfg &
"${with[@]}" usr/sbin/nginx -p "$work" -c nginx.conf -e errors &
for _ in $(seq 50); do
  [ -S haproxy.sock ] && [ -S nginx.sock ] || sleep 0.1
done
cat > client.js <<'JS'
const [server, header] = process.argv.slice(2);
let got = '';
const socket = require('net').connect(server + '.sock').on('error', () => {}).on('data', (data) => got += data)
    .on('close', () => console.log(`${server}: "${header}" ${got.startsWith('HTTP/1.1 200') ? 'served' : 'reset'}`));
socket.write(header + '\r\nGET / HTTP/1.1\r\nHost: finding\r\nConnection: close\r\n\r\n');
JS
all=ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
for server in haproxy nginx; do
  for rest in "" " $all $all 65535 65535" " 192.0.2.1 192.0.2.2 1 2"; do
    node client.js $server "PROXY UNKNOWN$rest"
  done
done | tee seen
diff seen - <<'EXPECTED'
haproxy: "PROXY UNKNOWN" served
haproxy: "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535" reset
haproxy: "PROXY UNKNOWN 192.0.2.1 192.0.2.2 1 2" reset
nginx: "PROXY UNKNOWN" served
nginx: "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535" served
nginx: "PROXY UNKNOWN 192.0.2.1 192.0.2.2 1 2" served
EXPECTED
