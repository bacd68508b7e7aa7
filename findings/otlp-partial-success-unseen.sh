#!/usr/bin/env bash
# OTLP over HTTP of OpenTelemetry for Java 1.68.0 (Maven Central, io.opentelemetry: opentelemetry-exporter-otlp), and a partial success.
#
# The guess: a collector that takes a request and rejects some of its spans says so in the answer (200, with partial_success: how many, and
# why). The exporter does not send them again, but it is seen: OpenTelemetry's table of what its languages implement has a row for partial
# successes that are "handled and logged", and the exporter's own metrics separate spans that were exported from those that failed.
#
# What it does: nothing reads the answer. The export is a success, the message is in no line of the log, at any level, and the metric
# counts every span as exported, the same as for an empty answer. Spans over a quota are missing, and nothing says so. Seen:
#   full success: success true, exported 3, failed 0, logged 0
#   2 of 3 rejected: success true, exported 3, failed 0, logged 0
#   400: success false, exported 0, failed 3, logged 1
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
    <dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-sdk</artifactId><version>1.68.0</version></dependency>
    <dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-exporter-otlp</artifactId><version>1.68.0</version></dependency>
    <dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-sdk-testing</artifactId><version>1.68.0</version></dependency>
    <dependency><groupId>org.assertj</groupId><artifactId>assertj-core</artifactId><version>3.27.6</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.InternalTelemetryVersion;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.api.trace.SpanKind;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

public class Finding {
  static final AtomicInteger LOGGED = new AtomicInteger();

  public static void main(String[] args) throws Exception {
    var root = Logger.getLogger("");
    for (var handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    root.addHandler(new Handler() {
      @Override
      public void publish(LogRecord record) {
        if (record.getMessage().contains("quota") || record.getLevel().intValue() >= Level.INFO.intValue()) {
          LOGGED.incrementAndGet();
        }
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    });
    Logger.getLogger("io.opentelemetry").setLevel(Level.ALL);
    export("full success", 200, new byte[0]);
    // ExportTraceServiceResponse: partial_success (1) with rejected_spans (1) and error_message (2).
    var partial = new ByteArrayOutputStream();
    var message = "over the quota".getBytes();
    partial.writeBytes(new byte[]{0x0a, (byte) (4 + message.length), 0x08, 2, 0x12, (byte) message.length});
    partial.writeBytes(message);
    export("2 of 3 rejected", 200, partial.toByteArray());
    export("400", 400, new byte[0]);
  }

  static void export(String what, int code, byte[] answer) throws Exception {
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      exchange.getRequestBody().readAllBytes();
      exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
      exchange.sendResponseHeaders(code, answer.length == 0 ? -1 : answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.start();
    var reader = InMemoryMetricReader.create();
    var meters = SdkMeterProvider.builder().registerMetricReader(reader).build();
    var exporter = OtlpHttpSpanExporter.builder().setEndpoint("http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces")
        .setMeterProvider(meters).setInternalTelemetryVersion(InternalTelemetryVersion.LATEST).build();
    var span = TestSpanData.builder().setName("request").setKind(SpanKind.SERVER).setStatus(StatusData.ok()).setHasEnded(true)
        .setStartEpochNanos(1).setEndEpochNanos(2).build();
    LOGGED.set(0);
    boolean success = exporter.export(Collections.nCopies(3, span)).join(1, TimeUnit.MINUTES).isSuccess();
    long exported = 0;
    long failed = 0;
    for (var metric : reader.collectAllMetrics()) {
      if (metric.getName().equals("otel.sdk.exporter.span.exported")) {
        for (var point : metric.getLongSumData().getPoints()) {
          if (point.getAttributes().get(AttributeKey.stringKey("error.type")) == null) {
            exported += point.getValue();
          } else {
            failed += point.getValue();
          }
        }
      }
    }
    System.out.println(what + ": success " + success + ", exported " + exported + ", failed " + failed + ", logged " + LOGGED.get());
    exporter.close();
    meters.close();
    server.stop(0);
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen || { cat errors >&2; exit 1; }
diff seen - <<'EXPECTED'
full success: success true, exported 3, failed 0, logged 0
2 of 3 rejected: success true, exported 3, failed 0, logged 0
400: success false, exported 0, failed 3, logged 1
EXPECTED
