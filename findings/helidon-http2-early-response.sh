#!/usr/bin/env bash
# Helidon's client for HTTP/2 4.5.0 (Maven Central, helidon-webclient-http2), and a server that answers before it has read the body.
#
# The guess: RFC 9113, section 8.1, lets a server send its whole response, and then RST_STREAM with NO_ERROR, which says that the rest of
# the body is not needed; clients must not discard such a response. So an upload that is too large, or not allowed, gets its 413 or 401.
#
# What it does: the reset does not wake the thread that waits for the window of the stream. It waits for 15 s (flowControlTimeout), and
# throws; the response, which came at once, is lost. Bodies that the window has room for get the response, and so does Node's client. Seen:
#   helidon, 30000 bytes: 413
#   helidon, 300000 bytes: Flow control update wait time-out., after more than 10 s
#   node, 300000 bytes: 413
#
# Needs Node 20 or later, Maven and a JDK 21 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
server=
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.helidon.webclient</groupId><artifactId>helidon-webclient-http2</artifactId><version>4.5.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > server.js <<'JS'
// Node ends a stream whose request was not read with RST_STREAM and NO_ERROR.
const http2 = require('node:http2');
const server = http2.createServer();
server.on('stream', stream => {
  stream.on('error', () => {});
  stream.respond({ ':status': 413 });
  stream.end('too large');
});
server.listen(0, '127.0.0.1', () => require('node:fs').writeFileSync('port', String(server.address().port)));
JS
node server.js &
server=$!
while [ ! -s port ]; do kill -0 $server || exit 1; sleep 0.1; done
cat > client.js <<'JS'
const client = require('node:http2').connect(`http://127.0.0.1:${require('node:fs').readFileSync('port')}`);
const stream = client.request({ ':method': 'POST', ':path': '/' });
stream.on('error', () => {});
stream.on('response', head => {
  console.log(`node, 300000 bytes: ${head[':status']}`);
  client.destroy();
});
stream.end(Buffer.alloc(300000));
JS
cat > Finding.java <<'JAVA'
import io.helidon.webclient.http2.Http2Client;

public class Finding {
  public static void main(String[] args) throws Exception {
    var url = "http://127.0.0.1:" + args[0];
    for (int bytes : new int[] {30_000, 300_000}) {
      var helidon = Http2Client.builder().baseUri(url).protocolConfig(config -> config.priorKnowledge(true)).build();
      long begin = System.nanoTime();
      String seen;
      try (var response = helidon.post("/").submit(new byte[bytes])) {
        seen = String.valueOf(response.status().code());
      } catch (RuntimeException e) {
        seen = e.getMessage() + ", after " + (System.nanoTime() - begin > 10e9 ? "more" : "less") + " than 10 s";
      }
      System.out.println("helidon, " + bytes + " bytes: " + seen);
    }
    System.exit(0);
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat classpath)" Finding.java "$(cat port)" 2> errors > seen || { cat errors; exit 1; }
node client.js >> seen
cat seen
diff seen - <<'EXPECTED'
helidon, 30000 bytes: 413
helidon, 300000 bytes: Flow control update wait time-out., after more than 10 s
node, 300000 bytes: 413
EXPECTED
