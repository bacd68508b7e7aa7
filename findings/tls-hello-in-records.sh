#!/usr/bin/env bash
# read-tls-client-hello 2.0.0 (npm), and a ClientHello that OpenSSL sends in several records.
#
# The guess: TLS may split a handshake message over records (RFC 8446, section 5.1), and small devices do; whatever reads a
# hello to route by its server name or to make a fingerprint joins them first, as the TLS server behind it does.
#
# What it does: it takes the first record for the whole hello. OpenSSL's client splits with -max_send_frag. A server of Node, on the
# same bytes, is content. Seen:
#   one record: shop.example.com; Node's server: shop.example.com
#   records of 512 bytes: Error: Unexpected client hello length: … (of 512); Node's server: shop.example.com
#
# Needs Node 20 or later, npm, and openssl 3. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . read-tls-client-hello@2.0.0
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 -subj /CN=shop.example.com 2> /dev/null
cat > finding.mjs <<'JS'
import {execFile} from 'node:child_process';
import {readFileSync} from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import {readTlsClientHello} from 'read-tls-client-hello';

const listen = (server) => new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(server.address().port)));

/** What `answer` makes of a connection of OpenSSL's client, whose hello is longer than 1,000 bytes. */
async function connect(server, answer, fragment) {
  const seen = new Promise((done) => server.once(server instanceof tls.Server ? 'secureConnection' : 'connection',
      (connection) => done(answer(connection).finally(() => connection.destroy()))));
  const port = await listen(server);
  const protocols = Array.from({length: 60}, (_, i) => `proto-number-${i}`).join(',');
  const client = execFile('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', 'shop.example.com',
    '-alpn', protocols, '-max_send_frag', String(fragment)], () => {});
  const result = await seen;
  client.kill();
  server.close();
  return result;
}

const read = (connection) => {
  connection.on('error', () => {});
  return readTlsClientHello(connection).then((hello) => hello.extensions?.find(({id}) => id === 0)?.data?.serverName
      ?? hello.serverName ?? JSON.stringify(hello), (e) => `Error: ${e.message.replace(/[0-9]+ /, '… ')}`);
};
const credentials = {key: readFileSync('key.pem'), cert: readFileSync('certificate.pem'), ALPNCallback: ({protocols}) => protocols[0]};

for (const [what, fragment] of [['one record', 16384], ['records of 512 bytes', 512]]) {
  console.log(`${what}: ${await connect(net.createServer(), read, fragment)}; Node's server: `
      + await connect(tls.createServer(credentials), async (connection) => connection.servername, fragment));
}
JS
node finding.mjs | tee seen
diff seen - <<'EXPECTED'
one record: shop.example.com; Node's server: shop.example.com
records of 512 bytes: Error: Unexpected client hello length: … (of 512); Node's server: shop.example.com
EXPECTED
