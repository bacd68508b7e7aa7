#!/usr/bin/env bash
# Vert.x 5.2.3 (Maven Central, io.vertx:vertx-core) and Pekko HTTP 1.3.0 (org.apache.pekko:pekko-http_2.13) as servers of HTTP/2, and a HEAD
# that is handled as a GET.
#
# The guess: a handler may answer HEAD as it answers GET: the server sends the head with its Content-Length and drops the body, as both do
# in HTTP/1.1.
#
# What they do: in HTTP/2 they send the body, too, which no response to HEAD has (RFC 9110, section 9.3.2). curl, as all that uses nghttp2, resets
# such a stream with PROTOCOL_ERROR, and has no response. Seen, with curl --head:
#   vert.x: HTTP/1.1 200 (exit code 0), HTTP/2 000 (exit code 92)
#   pekko: HTTP/1.1 200 (exit code 0), HTTP/2 000 (exit code 92)
#   node: HTTP/1.1 200 (exit code 0), HTTP/2 200 (exit code 0)
#
# Needs Node 20 or later, curl, Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.vertx</groupId><artifactId>vertx-core</artifactId><version>5.2.3</version></dependency>
    <dependency><groupId>org.apache.pekko</groupId><artifactId>pekko-http_2.13</artifactId><version>1.3.0</version></dependency>
    <dependency><groupId>org.apache.pekko</groupId><artifactId>pekko-stream_2.13</artifactId><version>1.2.1</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > VertxServer.java <<'JAVA'
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;

public class VertxServer {
  public static void main(String[] args) throws Exception {
    var server = Vertx.vertx().createHttpServer().requestHandler(request -> request.response().end("hello"))
        .listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().get();
    Files.writeString(Path.of("vert.x"), String.valueOf(server.actualPort()));
  }
}
JAVA
cat > PekkoServer.java <<'JAVA'
import com.typesafe.config.ConfigFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.japi.function.Function;

public class PekkoServer {
  public static void main(String[] args) throws Exception {
    var system = ActorSystem.create("finding", ConfigFactory.parseString("pekko.http.server.enable-http2 = on").withFallback(ConfigFactory.load()));
    Function<HttpRequest, CompletionStage<HttpResponse>> handler =
        request -> CompletableFuture.completedStage(HttpResponse.create().withEntity("hello"));
    var binding = Http.get(system).newServerAt("127.0.0.1", 0).bind(handler).toCompletableFuture().get();
    Files.writeString(Path.of("pekko"), String.valueOf(binding.localAddress().getPort()));
  }
}
JAVA
cat > server.js <<'JS'
// Each version of HTTP has its own port.
const { writeFileSync } = require('node:fs');
const hello = (request, response) => response.end('hello');
const http1 = require('node:http').createServer(hello).listen(0, '127.0.0.1', () => {
  const http2 = require('node:http2').createServer(hello).listen(0, '127.0.0.1', () => {
    writeFileSync('node', `${http1.address().port} ${http2.address().port}`);
  });
});
JS
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat classpath)" VertxServer.java > vertx.log 2>&1 &
"$java" -cp "$(cat classpath)" PekkoServer.java > pekko.log 2>&1 &
node server.js &
for _ in $(seq 600); do
  [ -s vert.x ] && [ -s pekko ] && [ -s node ] || sleep 0.1
done
head() {
  local code=0 status
  status=$(curl -s --head -o /dev/null -w '%{http_code}' "$1" "http://127.0.0.1:$2/") || code=$?
  echo "$status (exit code $code)"
}
for name in vert.x pekko node; do
  ports=$(cat "$name") || { cat ./*.log; exit 1; }
  echo "$name: HTTP/1.1 $(head --http1.1 "${ports% *}"), HTTP/2 $(head --http2-prior-knowledge "${ports#* }")"
done > seen
cat seen
diff seen - <<'EXPECTED'
vert.x: HTTP/1.1 200 (exit code 0), HTTP/2 000 (exit code 92)
pekko: HTTP/1.1 200 (exit code 0), HTTP/2 000 (exit code 92)
node: HTTP/1.1 200 (exit code 0), HTTP/2 200 (exit code 0)
EXPECTED
