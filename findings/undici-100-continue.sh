#!/usr/bin/env bash
# undici 7.16.0 (npm), which is also Node's fetch, and interim responses that it did not request.
#
# The guess: a client ignores every 1xx before the response, as RFC 9110, section 15.2, requires, 100 among them; node:http does.
#
# What it does: 102 and 103 are ignored. A 100, which servers also send to requests without "Expect" and proxies pass on, ends the
# connection: the response behind it is lost. Seen:
#   node:http: 100 -> 200, 102 -> 200, 103 -> 200
#   undici: 100 -> UND_ERR_SOCKET bad response, 102 -> 200, 103 -> 200
#
# Needs npm and Node 20 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . undici@7.16.0
cat > finding.js <<'JS'
const http = require('http');
const {createServer} = require('net');
const {request} = require('undici');
const server = createServer((connection) => connection.on('error', () => {}).on('data', (data) => connection.write(
    `HTTP/1.1 ${/GET \/(\d+)/.exec(data)[1]} Interim\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`)));
const clients = {
  'node:http': (url) => new Promise((done) => http.get(url, {agent: false}, (response) => response.resume()
      .on('end', () => done(response.statusCode))).on('error', (e) => done(e.message))),
  undici: (url) => request(url).then(async ({statusCode, body}) => (await body.text(), statusCode), (e) => `${e.code} ${e.message}`),
};
server.listen(0, async () => {
  for (const [name, get] of Object.entries(clients)) {
    const seen = [];
    for (const status of [100, 102, 103]) {
      seen.push(`${status} -> ${await get(`http://127.0.0.1:${server.address().port}/${status}`)}`);
    }
    console.log(`${name}: ${seen.join(', ')}`);
  }
  process.exit();
});
JS
node finding.js | tee seen
diff seen - <<'EXPECTED'
node:http: 100 -> 200, 102 -> 200, 103 -> 200
undici: 100 -> UND_ERR_SOCKET bad response, 102 -> 200, 103 -> 200
EXPECTED
