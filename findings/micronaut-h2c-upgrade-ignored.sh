#!/usr/bin/env bash
# Micronaut's client 4.10.15 (Maven Central, io.micronaut:micronaut-http-client) with plaintext-mode h2c, and a server that ignores the upgrade.
#
# The guess: the response in HTTP/1.1 is returned. A server that does not know h2c answers as if the field were not there (RFC 7540, section
# 3.2), and since RFC 9113 removed this upgrade, that is what to expect. Vert.x' client 5.2.3 (io.vertx:vertx-core) returns it.
#
# What it does: before the first request it sends one of its own, GET /, with the upgrade. The server's answer to that, a 200, has no effect:
# the request is never sent, and ends with the read timeout (5 s here). Seen, with Node's server for HTTP/1.1 and Vert.x' for h2c:
#   micronaut, h2c known: 200 /path; the server saw /, /path
#   micronaut, h2c ignored: Read Timeout; the server saw /
#   vert.x, h2c ignored: 200 /path; the server saw /path
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
  <dependencies><dependency></dependency></dependencies>
</project>
POM
classpath() {
  mkdir "$1"
  sed "s|<dependency>|&$2|" pom.xml > "$1/pom.xml"
  mvn -B -ntp -q -f "$1/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
}
classpath micronaut '<groupId>io.micronaut</groupId><artifactId>micronaut-http-client</artifactId><version>4.10.15</version></dependency>'\
'<dependency><groupId>io.micronaut</groupId><artifactId>micronaut-jackson-databind</artifactId><version>4.10.15</version>'
classpath vertx '<groupId>io.vertx</groupId><artifactId>vertx-core</artifactId><version>5.2.3</version>'
cat > server.js <<'JS'
// Answers with the path, and keeps the connection, as a server does that has no upgrades.
const { appendFileSync, writeFileSync } = require('node:fs');
require('node:http').createServer((request, response) => {
  appendFileSync('saw', `${request.url} `);
  response.end(request.url);
}).listen(0, '127.0.0.1', function () { writeFileSync('port', String(this.address().port)); });
JS
cat > Micronaut.java <<'JAVA'
import io.micronaut.http.HttpRequest;
import io.micronaut.http.client.DefaultHttpClientConfiguration;
import io.micronaut.http.client.HttpClient;
import io.micronaut.http.client.HttpVersionSelection.PlaintextMode;
import java.net.URI;
import java.time.Duration;

public class Micronaut {
  public static void main(String[] args) throws Exception {
    var configuration = new DefaultHttpClientConfiguration();
    configuration.setPlaintextMode(PlaintextMode.H2C);
    configuration.setReadTimeout(Duration.ofSeconds(5));
    String seen;
    try {
      var response = HttpClient.create(URI.create("http://127.0.0.1:" + args[0]).toURL(), configuration).toBlocking()
          .exchange(HttpRequest.GET("/path"), String.class);
      seen = response.code() + " " + response.body();
    } catch (RuntimeException e) {
      seen = e.getMessage();
    }
    System.out.print("micronaut, " + args[1] + ": " + seen);
    System.exit(0);
  }
}
JAVA
cat > VertxClient.java <<'JAVA'
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;

public class VertxClient {
  public static void main(String[] args) throws Exception {
    var options = new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setDefaultHost("127.0.0.1").setDefaultPort(Integer.parseInt(args[0]));
    var seen = Vertx.vertx().createHttpClient(options).request(HttpMethod.GET, "/path").compose(request -> request.send())
        .compose(response -> response.body().map(body -> response.statusCode() + " " + body)).toCompletionStage().toCompletableFuture().get();
    System.out.print("vert.x, " + args[1] + ": " + seen);
    System.exit(0);
  }
}
JAVA
cat > VertxServer.java <<'JAVA'
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

public class VertxServer {
  public static void main(String[] args) throws Exception {
    var server = Vertx.vertx().createHttpServer().requestHandler(request -> {
      try {
        Files.writeString(Path.of("saw"), request.path() + " ", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      } catch (java.io.IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
      request.response().end(request.path());
    }).listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().get();
    Files.writeString(Path.of("port"), String.valueOf(server.actualPort()));
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
try() {
  rm -f port saw
  "${@:4}" > log 2>&1 &
  server=$!
  while [ ! -s port ] && kill -0 "$server"; do sleep 0.1; done
  "$java" -cp "$(cat "$1/classpath")" "$2.java" "$(cat port)" "$3" 2> errors || { cat log errors >&2; exit 1; }
  echo "; the server saw $(sed 's| $||; s| |, |g' saw)"
  kill "$server"
}
{
  try micronaut Micronaut 'h2c known' "$java" -cp "$(cat vertx/classpath)" VertxServer.java
  try micronaut Micronaut 'h2c ignored' node server.js
  try vertx VertxClient 'h2c ignored' node server.js
} > seen
cat seen
diff seen - <<'EXPECTED'
micronaut, h2c known: 200 /path; the server saw /, /path
micronaut, h2c ignored: Read Timeout; the server saw /
vert.x, h2c ignored: 200 /path; the server saw /path
EXPECTED
