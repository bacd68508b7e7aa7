#!/usr/bin/env bash
# Kubernetes' client for Java 25.0.0 (Maven Central, io.kubernetes:client-java-extended), and an Event that occurs again.
#
# The guess: as client-go's recorder, LegacyEventBroadcaster creates an Event once, and counts it up with a patch each time it occurs again,
# whatever its message says.
#
# What it does: the message is put into the text of the patch as it is. With a quote, as in most messages that name something
# (Successfully pulled image "nginx"), or a line break, the patch is no JSON. API servers answer 400, which is dropped without a line of log,
# so the count stays 1 and the time is that of the first occurrence. Seen, for two messages that occur three times each (patches, and
# whether each is JSON):
#   pulled image x: count 2 true, count 3 true
#   pulled image "x": count 2 false, count 3 false
#
# Needs Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.kubernetes</groupId><artifactId>client-java-extended</artifactId><version>25.0.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.TypeAdapter;
import com.sun.net.httpserver.HttpServer;
import io.kubernetes.client.extended.event.EventType;
import io.kubernetes.client.extended.event.legacy.LegacyEventBroadcaster;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1EventSource;
import io.kubernetes.client.openapi.models.V1ObjectReference;
import io.kubernetes.client.util.ClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

public class Finding {
  public static void main(String[] args) throws Exception {
    var patches = new LinkedBlockingQueue<String>();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/api/v1/namespaces/n/events", exchange -> {
      String body = new String(exchange.getRequestBody().readAllBytes());
      boolean creates = exchange.getRequestMethod().equals("POST");
      byte[] answer = (creates ? body : "{}").getBytes();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(creates ? 201 : isJson(body) ? 200 : 400, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
      if (!creates) {
        patches.add(body);
      }
    });
    server.start();
    var client = new ClientBuilder().setBasePath("http://127.0.0.1:" + server.getAddress().getPort()).build();
    var broadcaster = new LegacyEventBroadcaster(new CoreV1Api(client));
    broadcaster.startRecording();
    var recorder = broadcaster.newRecorder(new V1EventSource().component("it").host("here"));
    var pod = new V1ObjectReference().apiVersion("v1").kind("Pod").namespace("n").name("p").uid("u").fieldPath("spec");
    for (String message : new String[] {"pulled image x", "pulled image \"x\""}) {
      var seen = new ArrayList<String>();
      for (int i = 0; i < 3; i++) {
        recorder.event(pod, EventType.Normal, "Pulled", message);
      }
      for (int i = 0; i < 2; i++) {
        String patch = String.valueOf(patches.poll(20, TimeUnit.SECONDS));
        seen.add(patch.replaceAll(".*\"(count)\":(\\d).*", "$1 $2 ") + isJson(patch));
      }
      System.out.println(message + ": " + String.join(", ", seen));
    }
    System.exit(0);
  }

  static boolean isJson(String text) {
    TypeAdapter<JsonElement> strict = new Gson().getAdapter(JsonElement.class);
    try {
      strict.fromJson(text);
      return true;
    } catch (IOException | JsonParseException e) {
      return false;
    }
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen || cat errors
diff seen - <<'EXPECTED'
pulled image x: count 2 true, count 3 true
pulled image "x": count 2 false, count 3 false
EXPECTED
