#!/usr/bin/env bash
# lighttpd 1.4.85 (Debian's lighttpd 1.4.85-1) as a proxy with server.stream-request-body = 1, and an upload in chunks.
#
# The guess: the server behind it gets the chunks in their order, and the last one last. If it reads slowly, lighttpd keeps the rest, in memory
# or in a file, as its documentation says of this setting.
#
# What it does: once the client's body is complete, the last chunk ("0") is sent before the data that still waits. The server has a valid
# request whose body is cut, and answers 200; what comes behind it is lost, since lighttpd sends "Connection: close". Uploads with a length are
# whole, and so are those without the setting. Seen, for five uploads of 10,000,000 bytes to a server that begins to read them after a
# second; nearly all are cut:
#   stream-request-body 0, chunks: all bodies are whole
#   stream-request-body 1, length: all bodies are whole
#   stream-request-body 1, chunks: a body is cut, and more than 1,000,000 bytes come behind its end
#
# Needs Node 20 or later, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq lighttpd=1.4.85-1 libc6 libnettle8t64 libpcre2-8-0
for package in *.deb; do
  dpkg -x "$package" .
done
# With the libraries of sid, also on an older Debian.
with=("$work/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$work/usr/lib/x86_64-linux-gnu")
free() {
  node -e 'const server = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close(); })'
}
server=$(free)
port=("$(free)" "$(free)")
for stream in 0 1; do
  cat > "$stream.conf" <<LIGHTTPD
server.document-root = "$work"
server.modules = ("mod_proxy")
server.bind = "127.0.0.1"
server.port = ${port[stream]}
server.upload-dirs = ("$work")
server.stream-request-body = $stream
proxy.server = ("" => (("host" => "127.0.0.1", "port" => $server)))
LIGHTTPD
  "${with[@]}" usr/sbin/lighttpd -D -m usr/lib/lighttpd -f "$stream.conf" > "$stream.log" 2>&1 &
  process[stream]=$!
done
cat > finding.js <<'JS'
const net = require('node:net');
const SIZE = 10_000_000;
const WHOLE = 'all bodies are whole';
let seen;
/** Reads a request from the first byte after a second on, and where its body ends. */
net.createServer(connection => {
  const parts = [];
  const judge = () => {
    const all = Buffer.concat(parts);
    const head = all.indexOf('\r\n\r\n') + 4;
    const length = /content-length: (\d+)/i.exec(all.subarray(0, head));
    let size = length ? +length[1] : 0;
    let position = head + size;
    for (let chunk = length ? 0 : 1; chunk > 0; size += chunk) {
      const data = all.indexOf('\r\n', position) + 2;
      chunk = parseInt(all.subarray(position, data), 16);
      position = data + chunk + 2;
    }
    const rest = all.length - position;
    seen(size === SIZE && rest === 0 ? WHOLE : `${size < SIZE ? 'a body is cut' : 'other'}, and ${rest > 1_000_000 ? 'more than 1,000,000' : 'few'} bytes come behind its end`);
    connection.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  };
  connection.on('error', () => {});
  setTimeout(() => {
    connection.on('data', data => {
      parts.push(data);
      if (parts.reduce((sum, part) => sum + part.length, 0) >= SIZE) setTimeout(judge, 1000);
    });
  }, 1000);
}).listen(+process.argv[2], '127.0.0.1');
const upload = (port, framing) => new Promise(resolve => {
  const client = net.connect(port, '127.0.0.1');
  let settled = false;
  seen = what => {
    if (!settled) resolve(what);
    settled = true;
  };
  client.on('error', () => {}).on('data', () => client.end());
  client.write(`POST / HTTP/1.1\r\nHost: finding\r\n${framing === 'length' ? `Content-Length: ${SIZE}` : 'Transfer-Encoding: chunked'}\r\n\r\n`);
  const data = Buffer.alloc(20_000, 'x');
  for (let sent = 0; sent < SIZE; sent += data.length) {
    if (framing === 'chunks') client.write(`${data.length.toString(16)}\r\n`);
    client.write(data);
    if (framing === 'chunks') client.write('\r\n');
  }
  if (framing === 'chunks') client.write('0\r\n\r\n');
});
(async () => {
  for (const [stream, framing] of [[0, 'chunks'], [1, 'length'], [1, 'chunks']]) {
    const results = [];
    for (let i = 0; i < 5; i++) results.push(await upload(+process.argv[3 + stream], framing));
    console.log(`stream-request-body ${stream}, ${framing}: ${results.find(result => result !== WHOLE) ?? WHOLE}`);
  }
  process.exit();
})();
JS
for stream in 0 1; do
  until (: < "/dev/tcp/127.0.0.1/${port[stream]}") 2> /dev/null; do
    kill -0 "${process[stream]}" || { cat ./*.log; exit 1; }
    sleep 0.1
  done
done
node finding.js "$server" "${port[@]}" > seen || { cat ./*.log; exit 1; }
cat seen
diff seen - <<'EXPECTED'
stream-request-body 0, chunks: all bodies are whole
stream-request-body 1, length: all bodies are whole
stream-request-body 1, chunks: a body is cut, and more than 1,000,000 bytes come behind its end
EXPECTED
