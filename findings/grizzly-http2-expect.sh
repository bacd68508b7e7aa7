#!/usr/bin/env bash
# Grizzly 4.0.2 (Maven Central, org.glassfish.grizzly:grizzly-http2) as a server of HTTP/2, and a request with "Expect: 100-continue".
#
# The guess: the server sends 100, or only the final response, as RFC 9110, section 10.1.1, lets it; in HTTP/1.1 it sends 100. At worst
# the request with Expect fails, since in HTTP/2 each stream has its own errors.
#
# What it does: it resets the stream with PROTOCOL_ERROR, and the next request, an ordinary one, ends the whole connection with GOAWAY and
# COMPRESSION_ERROR (9). It seems that the fields of the refused request are not added to the table of HPACK, which RFC 9113, section 4.3,
# asks for also if they are discarded. Seen, for two requests on one connection, in turn:
#   HTTP/1.1: POST with Expect 200, GET 200
#   HTTP/2: POST 200, GET 200
#   HTTP/2: POST with Expect Stream closed with error code NGHTTP2_PROTOCOL_ERROR, GET Session closed with error code 9
#
# Needs Node 20 or later, Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.glassfish.grizzly</groupId><artifactId>grizzly-http2</artifactId><version>4.0.2</version></dependency>
    <dependency><groupId>org.glassfish.grizzly</groupId><artifactId>grizzly-http-server</artifactId><version>4.0.2</version></dependency>
    <dependency><groupId>org.glassfish.grizzly</groupId><artifactId>grizzly-npn-api</artifactId><version>2.0.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import java.nio.file.Files;
import java.nio.file.Path;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;
import org.glassfish.grizzly.http2.Http2AddOn;
import org.glassfish.grizzly.http2.Http2Configuration;

public class Finding {
  public static void main(String[] args) throws Exception {
    var server = new HttpServer();
    String ports = "";
    for (boolean http2 : new boolean[] {false, true}) {
      var listener = new NetworkListener("http2 " + http2, "127.0.0.1", 0);
      if (http2) {
        listener.registerAddOn(new Http2AddOn(Http2Configuration.builder().priorKnowledge(true).build()));
      }
      server.addListener(listener);
    }
    server.getServerConfiguration().addHttpHandler(new HttpHandler() {
      @Override
      public void service(Request request, Response response) throws Exception {
        response.getWriter().write(new String(request.getInputStream().readAllBytes()));
      }
    }, "/");
    server.start();
    for (var listener : server.getListeners()) {
      ports += listener.getName() + "=" + listener.getPort() + "\n";
    }
    Files.writeString(Path.of("ports.new"), ports);
    Files.move(Path.of("ports.new"), Path.of("ports"));
    Thread.currentThread().join();
  }
}
JAVA
"${JAVA_HOME:+$JAVA_HOME/bin/}java" -cp "$(cat classpath)" Finding.java > log 2>&1 &
server=$!
for _ in $(seq 300); do
  if [ -s ports ] || ! kill -0 "$server" 2> /dev/null; then break; fi
  sleep 0.1
done
[ -s ports ] || { cat log; echo 'The server has not started.'; exit 1; }
cat > client.js <<'JS'
const http = require('node:http');
const http2 = require('node:http2');
const ports = Object.fromEntries(require('node:fs').readFileSync('ports', 'utf8').trim().split('\n').map(line => line.split('=')));
const seconds = 1000;
const one = (agent, method, expect) => new Promise(resolve => {
  const headers = expect ? { expect: '100-continue', 'content-length': 5 } : {};
  const request = http.request({ host: '127.0.0.1', port: ports['http2 false'], agent, method, headers });
  request.on('response', response => response.resume().on('end', () => resolve(response.statusCode))).on('error', e => resolve(e.message));
  request.on('continue', () => request.end('hello')).setTimeout(10 * seconds, () => request.destroy(new Error('no response')));
  if (!expect) request.end();
});
const two = (session, method, expect) => new Promise(resolve => {
  const stream = session.request({ ':method': method, ':path': '/', ...(expect ? { expect: '100-continue' } : {}) }, { endStream: method === 'GET' });
  stream.on('response', head => stream.resume().on('end', () => resolve(head[':status']))).on('error', e => resolve(e.message));
  stream.on('continue', () => stream.end('hello')).setTimeout(10 * seconds, () => stream.destroy(new Error('no response')));
  if (!expect && method === 'POST') stream.end('hello');
});
const inTurn = async (what, send, expect) => {
  console.log(`${what}: POST ${expect ? 'with Expect ' : ''}${await send('POST', expect)}, GET ${await send('GET', false)}`);
};
(async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  await inTurn('HTTP/1.1', (method, expect) => one(agent, method, expect), true);
  agent.destroy();
  for (const expect of [false, true]) {
    const session = http2.connect(`http://127.0.0.1:${ports['http2 true']}`).on('error', () => {});
    await inTurn('HTTP/2', (method, expect) => two(session, method, expect), expect);
    session.destroy();
  }
})();
JS
node client.js > seen || { cat log; exit 1; }
cat seen
diff seen - <<'EXPECTED'
HTTP/1.1: POST with Expect 200, GET 200
HTTP/2: POST 200, GET 200
HTTP/2: POST with Expect Stream closed with error code NGHTTP2_PROTOCOL_ERROR, GET Session closed with error code 9
EXPECTED
