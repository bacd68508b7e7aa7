#!/usr/bin/env bash
# com.sun.net.httpserver of JDK 25 (25.0.3), and a request whose chunked body has trailers.
#
# The guess: trailers that a server has no use for are dropped, as by Node's server when they are not read. RFC 9112, section 7.1.2, lets a
# recipient ignore them, and its grammar of chunks has them behind every last chunk.
#
# What it does: the body ends with "invalid chunk end" for whatever reads it, after all of its bytes, and the connection is closed without
# a response. With Node's client, which sends them after addTrailers. Seen:
#   node: without trailers 200 hello, with trailers 200 hello
#   JDK: without trailers 200 hello, with trailers socket hang up, the handler read hello and then: invalid chunk end
#
# Needs Node 20 or later, and a JDK 25. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;

public class Finding {
  public static void main(String[] args) throws IOException {
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      var body = new ByteArrayOutputStream();
      try {
        exchange.getRequestBody().transferTo(body);
      } catch (IOException e) {
        Files.writeString(Path.of("failure"), ", the handler read " + body + " and then: " + e.getMessage());
        throw e;
      }
      exchange.sendResponseHeaders(200, body.size());
      exchange.getResponseBody().write(body.toByteArray());
      exchange.close();
    });
    server.start();
    Files.writeString(Path.of("jdk.port"), String.valueOf(server.getAddress().getPort()));
  }
}
JAVA
cat > server.js <<'JS'
require('node:http').createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  response.end(body);
}).listen(0, '127.0.0.1', function () { require('node:fs').writeFileSync('node.port', String(this.address().port)); });
JS
cat > client.js <<'JS'
const http = require('node:http');
const send = trailers => new Promise(resolve => {
  const headers = { 'Transfer-Encoding': 'chunked', ...(trailers ? { Trailer: 'Checksum' } : {}) };
  const request = http.request({ host: '127.0.0.1', port: process.argv[2], method: 'POST', agent: false, headers }, async response => {
    let body = '';
    for await (const part of response) body += part;
    resolve(`${response.statusCode} ${body}`);
  });
  request.on('error', error => resolve(error.message));
  request.write('hello');
  if (trailers) request.addTrailers({ Checksum: '1' });
  request.end();
});
(async () => process.stdout.write(`without trailers ${await send(false)}, with trailers ${await send(true)}`))();
JS
"${JAVA_HOME:+$JAVA_HOME/bin/}java" Finding.java 2> errors &
node server.js &
for _ in $(seq 300); do
  [ -s jdk.port ] && [ -s node.port ] || sleep 0.1
done
{
  echo "node: $(node client.js "$(cat node.port)")"
  echo "JDK: $(node client.js "$(cat jdk.port)")$(cat failure)"
} > seen || { cat errors; exit 1; }
cat seen
diff seen - <<'EXPECTED'
node: without trailers 200 hello, with trailers 200 hello
JDK: without trailers 200 hello, with trailers socket hang up, the handler read hello and then: invalid chunk end
EXPECTED
