#!/usr/bin/env bash
# Finagle's client for HTTP/1.1 24.2.0 (Maven Central, com.twitter:finagle-http_2.13), and a server that sends 103 (Early Hints), as Node's
# does with writeEarlyHints.
#
# The guess: a client that has no use for an interim response ignores it, and returns the response that follows (RFC 9110, section 15.2).
# A client that took it for the response would at least not use the connection again, on which another response is still to come.
#
# What it does: it returns the 103, keeps the connection, and the request after it gets the response that is left over. From then on each
# request gets the response of the one before it, with its status and body, until the connection ends. Vert.x' client 5.2.3 (io.vertx:vertx-core)
# ignores a 103. Seen, with the path of a request, and the status and body that it got:
#   finagle: /first -> 200 /first, /hints -> 103, /second -> 200 /hints, /third -> 200 /second, /fourth -> 200 /third
#   vert.x: /first -> 200 /first, /hints -> 200 /hints, /second -> 200 /second, /third -> 200 /third, /fourth -> 200 /fourth
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
    <dependency></dependency>
  </dependencies>
</project>
POM
classpath() {
  mkdir "$1"
  sed "s|<dependency>|&$2|" pom.xml > "$1/pom.xml"
  mvn -B -ntp -q -f "$1/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
}
classpath finagle '<groupId>com.twitter</groupId><artifactId>finagle-http_2.13</artifactId><version>24.2.0</version>'
classpath vertx '<groupId>io.vertx</groupId><artifactId>vertx-core</artifactId><version>5.2.3</version>'
cat > server.js <<'JS'
// Answers each request with its path; /hints with a 103 first.
require('node:http').createServer((request, response) => {
  if (request.url === '/hints') response.writeEarlyHints({ link: '</style.css>; rel=preload' });
  response.end(request.url);
}).listen(0, '127.0.0.1', function () { require('node:fs').writeFileSync('port', String(this.address().port)); });
JS
node server.js &
server=$!
while [ ! -s port ] && kill -0 "$server"; do sleep 0.1; done
cat > Finagle.java <<'JAVA'
import com.twitter.finagle.Http;
import com.twitter.finagle.http.Method;
import com.twitter.finagle.http.Request;
import com.twitter.util.Await;
import com.twitter.util.Duration;
import java.util.ArrayList;

public class Finagle {
  public static void main(String[] args) throws Exception {
    var service = Http.client().newService("127.0.0.1:" + args[0]);
    var seen = new ArrayList<String>();
    for (var path : args[1].split(" ")) {
      var request = Request.apply(Method.Get(), path);
      request.host_$eq("finding");
      var response = Await.result(service.apply(request), Duration.fromSeconds(20));
      seen.add((path + " -> " + response.statusCode() + " " + response.contentString()).trim());
    }
    System.out.println("finagle: " + String.join(", ", seen));
    System.exit(0);
  }
}
JAVA
cat > Vertx.java <<'JAVA'
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;

public class Vertx {
  public static void main(String[] args) throws Exception {
    var client = io.vertx.core.Vertx.vertx().createHttpClient(new HttpClientOptions().setDefaultHost("127.0.0.1").setDefaultPort(Integer.parseInt(args[0])));
    var seen = new ArrayList<String>();
    for (var path : args[1].split(" ")) {
      seen.add(client.request(HttpMethod.GET, path).compose(request -> request.send())
          .compose(response -> response.body().map(body -> (path + " -> " + response.statusCode() + " " + body).trim()))
          .toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS));
    }
    System.out.println("vert.x: " + String.join(", ", seen));
    System.exit(0);
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
paths='/first /hints /second /third /fourth'
"$java" -cp "$(cat finagle/classpath)" Finagle.java "$(cat port)" "$paths" > seen 2> errors || { cat errors; exit 1; }
"$java" -cp "$(cat vertx/classpath)" Vertx.java "$(cat port)" "$paths" >> seen 2> errors || { cat errors; exit 1; }
cat seen
diff seen - <<'EXPECTED'
finagle: /first -> 200 /first, /hints -> 103, /second -> 200 /hints, /third -> 200 /second, /fourth -> 200 /third
vert.x: /first -> 200 /first, /hints -> 200 /hints, /second -> 200 /second, /third -> 200 /third, /fourth -> 200 /fourth
EXPECTED
