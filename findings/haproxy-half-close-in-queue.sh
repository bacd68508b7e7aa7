#!/usr/bin/env bash
# HAProxy 3.2.26 (Debian's haproxy 3.2.26-1) in TCP mode, a server whose maxconn is reached, and a client in its queue that has ended
# its half of the connection (nc -N).
#
# The guess: such a client is served when its turn comes, because half of a connection may end, and because "option abortonclose",
# which drops those that have ended from the queue, is off by default.
#
# What it does: it serves the client if that has sent a byte. One that has sent none, as a client that waits for a server's greeting, is
# closed at once, in order, and never gets to the server. Seen:
#   no byte, place free: 220 ready
#   no byte, in the queue: nothing
#   a byte, in the queue: 220 ready
#
# Needs Node 20 or later, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq haproxy=3.2.26-1 libc6 libcap2 libcrypt1 libgcc-s1 libjemalloc2 liblua5.4-0 libopentracing-c-wrapper0t64 \
  libopentracing1 libpcre2-8-0 libssl3t64 libstdc++6 libzstd1 zlib1g
for package in *.deb; do
  dpkg -x "$package" .
done
# With the libraries of sid, also on an older Debian.
with=("$work/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$work/usr/lib/x86_64-linux-gnu")
cat > haproxy.cfg <<'HAPROXY'
defaults
  mode tcp
  timeout connect 5s
  timeout queue 20s
  timeout client 20s
  timeout server 20s
listen l
  bind unix@haproxy.sock
  server s unix@server.sock maxconn 1
HAPROXY
cat > client.js <<'JS'
const net = require('net');
net.createServer({allowHalfOpen: true}, c => {
  c.on('error', () => {}).on('end', () => c.end()).resume().write('220 ready');
}).listen('server.sock');
/** What a client gets; with `begun`, that is called once it has ended its half. */
const ask = (text, begun = () => {}) => new Promise(done => {
  let got = '';
  const c = net.connect({path: 'haproxy.sock', allowHalfOpen: true}, () => c.end(text, () => setTimeout(begun, 500)));
  c.on('data', data => got += data).on('error', e => got += e.code).on('close', () => done(got || 'nothing'));
});
/** Another client has the only place until this one has waited for half a second. */
const queued = text => new Promise(done => {
  const first = net.connect('haproxy.sock').once('data', () => done(ask(text, () => first.end())));
});
(async () => {
  console.log(`no byte, place free: ${await ask('')}`);
  console.log(`no byte, in the queue: ${await queued('')}`);
  console.log(`a byte, in the queue: ${await queued('x')}`);
  process.exit();
})();
JS
"${with[@]}" usr/sbin/haproxy -q -db -f haproxy.cfg &
for _ in $(seq 50); do
  [ -S haproxy.sock ] || sleep 0.1
done
node client.js | tee seen
diff seen - <<'EXPECTED'
no byte, place free: 220 ready
no byte, in the queue: nothing
a byte, in the queue: 220 ready
EXPECTED
