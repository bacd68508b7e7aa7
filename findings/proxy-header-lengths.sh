#!/usr/bin/env bash
# nginx 1.30.6 (Debian's nginx 1.30.6-2) with "proxy_protocol", HAProxy 3.2.26 (Debian's haproxy 3.2.26-1) with "accept-proxy", and PROXY
# headers of version 2 that are long, such as with a client's certificate.
#
# The guess: a header has a 16 bit length, and what a server takes of that is one number, whatever port it comes to.
#
# What they do: nginx takes 4,097 bytes on a port with "ssl", but without it only what client_header_buffer_size has room for, by default
# 1,024 bytes, and resets the connection otherwise. HAProxy looks at each extension (TLV): one of more than 1,024 bytes resets the
# connection, although it reads none of them; several that are shorter may be far longer in all. Seen:
#   nginx: 1024 bytes served, 1025 bytes reset
#   nginx, client_header_buffer_size 2k: 1025 bytes served, 2049 bytes reset
#   nginx, ssl: 4097 bytes served, 4098 bytes reset
#   haproxy: one TLV of 1024 bytes served, of 1025 bytes reset, ten of 1024 bytes served
#
# Needs Node 20 or later, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq haproxy=3.2.26-1 nginx=1.30.6-2 openssl libc6 libcap2 libcrypt1 libgcc-s1 libjemalloc2 liblua5.4-0 \
  libopentracing-c-wrapper0t64 libopentracing1 libpcre2-8-0 libssl3t64 libstdc++6 libzstd1 zlib1g
for package in *.deb; do
  dpkg -x "$package" .
done
# With the libraries of sid, also on an older Debian.
with=("$work/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$work/usr/lib/x86_64-linux-gnu")
OPENSSL_CONF=/dev/null "${with[@]}" usr/bin/openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -subj /CN=finding 2> /dev/null
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
    listen unix:$work/plain.sock proxy_protocol;
    return 200;
  }
  server {
    listen unix:$work/larger.sock proxy_protocol;
    client_header_buffer_size 2k;
    return 200;
  }
  server {
    listen unix:$work/ssl.sock ssl proxy_protocol;
    ssl_certificate certificate;
    ssl_certificate_key key;
    return 200;
  }
}
NGINX
"${with[@]}" usr/sbin/haproxy -q -db -f haproxy.cfg &
"${with[@]}" usr/sbin/nginx -p "$work" -c nginx.conf -e errors &
for _ in $(seq 50); do
  [ -S haproxy.sock ] && [ -S ssl.sock ] || sleep 0.1
done
cat > client.js <<'JS'
const net = require('net');
const tls = require('tls');
/** The type is one for experiments. */
function tlv(bytes) {
  const all = Buffer.alloc(3 + bytes);
  all[0] = 0xf0;
  all.writeUInt16BE(bytes, 1);
  return all;
}
function header(...tlvs) {
  const rest = Buffer.concat([Buffer.from([192, 0, 2, 1, 192, 0, 2, 2, 0, 1, 0, 2]), ...tlvs]);
  return Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11', 'latin1'), Buffer.from([rest.length >> 8, rest.length & 255]), rest]);
}
const ofLength = (bytes) => header(tlv(bytes - 31));
const answer = (server, head) => new Promise((done) => {
  let got = '';
  const socket = net.connect(`${server}.sock`);
  socket.write(head);
  const over = server === 'ssl' ? tls.connect({socket, rejectUnauthorized: false}) : socket;
  over.write('GET / HTTP/1.1\r\nHost: finding\r\nConnection: close\r\n\r\n');
  over.on('data', (data) => got += data).on('error', () => {}).on('close', () => done(got.startsWith('HTTP/1.1 200') ? 'served' : 'reset'));
  socket.on('error', () => {});
});
(async () => {
  console.log(`nginx: 1024 bytes ${await answer('plain', ofLength(1024))}, 1025 bytes ${await answer('plain', ofLength(1025))}`);
  console.log(`nginx, client_header_buffer_size 2k: 1025 bytes ${await answer('larger', ofLength(1025))}, 2049 bytes ${await answer('larger', ofLength(2049))}`);
  console.log(`nginx, ssl: 4097 bytes ${await answer('ssl', ofLength(4097))}, 4098 bytes ${await answer('ssl', ofLength(4098))}`);
  console.log(`haproxy: one TLV of 1024 bytes ${await answer('haproxy', header(tlv(1024)))}, of 1025 bytes ${await answer('haproxy', header(tlv(1025)))}, ` +
      `ten of 1024 bytes ${await answer('haproxy', header(...Array(10).fill(tlv(1024))))}`);
  process.exit();
})();
JS
node client.js | tee seen
diff seen - <<'EXPECTED'
nginx: 1024 bytes served, 1025 bytes reset
nginx, client_header_buffer_size 2k: 1025 bytes served, 2049 bytes reset
nginx, ssl: 4097 bytes served, 4098 bytes reset
haproxy: one TLV of 1024 bytes served, of 1025 bytes reset, ten of 1024 bytes served
EXPECTED
