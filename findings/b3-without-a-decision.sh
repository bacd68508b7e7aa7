#!/usr/bin/env bash
# B3 in OpenTelemetry for Java (Maven Central, io.opentelemetry: opentelemetry-extension-trace-propagators 1.68.0, with its SDK) and in
# Zipkin's own Brave 6.3.1 (io.zipkin.brave), both set to record what nothing else decides.
#
# The guess: they agree on B3's four states, as gateways and meshes send all of them: "1" is recorded, "0" is not, also where there is no
# trace yet (so a prober keeps its requests out of all traces), and a trace without a state leaves the decision to its receiver.
#
# What OpenTelemetry does: it keeps the state as a bit of the trace's context. There is none for "0" alone, so the request is recorded, as a
# trace of its own. A trace without a state has the bit unset, which is "not sampled": it is not recorded here, and the
# next service gets 0, as if that had been decided. Seen (recorded, and what is sent on, ids left out):
#   b3 of the caller: OpenTelemetry; Brave
#   0: recorded, sends 1; not recorded, sends 0
#   ids: not recorded, sends 0; recorded, sends 1
#   ids-0: not recorded, sends 0; not recorded, sends 0
#   ids-1: recorded, sends 1; recorded, sends 1
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
    <dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-extension-trace-propagators</artifactId><version>1.68.0</version></dependency>
    <dependency><groupId>io.zipkin.brave</groupId><artifactId>brave</artifactId><version>6.3.1</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import brave.Tracing;
import brave.propagation.B3Propagation;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.extension.trace.propagation.B3Propagator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Finding {
  static final String IDS = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";

  public static void main(String[] args) {
    System.out.println("b3 of the caller: OpenTelemetry; Brave");
    for (var b3 : List.of("0", IDS, IDS + "-0", IDS + "-1")) {
      System.out.println(b3.replace(IDS, "ids") + ": " + openTelemetry(Map.of("b3", b3)) + "; " + brave(Map.of("b3", b3)));
    }
  }

  static String openTelemetry(Map<String, String> received) {
    var propagator = B3Propagator.injectingSingleHeader();
    try (var tracers = SdkTracerProvider.builder().setSampler(Sampler.parentBased(Sampler.alwaysOn()))
        .addSpanProcessor(SimpleSpanProcessor.create(SpanExporter.composite())).build()) {
      var parent = propagator.extract(Context.root(), received, new TextMapGetter<Map<String, String>>() {
        @Override
        public Iterable<String> keys(Map<String, String> fields) {
          return fields.keySet();
        }

        @Override
        public String get(Map<String, String> fields, String name) {
          return fields.get(name);
        }
      });
      var span = tracers.get("finding").spanBuilder("request").setParent(parent).startSpan();
      var sent = new HashMap<String, String>();
      propagator.inject(parent.with(span), sent, Map::put);
      return text(span.isRecording(), sent.get("b3"));
    }
  }

  static String brave(Map<String, String> received) {
    var single = B3Propagation.newFactoryBuilder().injectFormat(B3Propagation.Format.SINGLE).build();
    try (var tracing = Tracing.newBuilder().propagationFactory(single).sampler(brave.sampler.Sampler.ALWAYS_SAMPLE).build()) {
      var span = tracing.tracer().nextSpan(tracing.propagation().<Map<String, String>>extractor(Map::get).extract(received));
      var sent = new HashMap<String, String>();
      tracing.propagation().<Map<String, String>>injector(Map::put).inject(span.context(), sent);
      return text(!span.isNoop(), sent.get("b3"));
    }
  }

  static String text(boolean isRecorded, String b3) {
    return (isRecorded ? "recorded" : "not recorded") + ", sends " + (b3.length() == 1 ? b3 : b3.split("-")[2]);
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen || { cat errors >&2; exit 1; }
diff seen - <<'EXPECTED'
b3 of the caller: OpenTelemetry; Brave
0: recorded, sends 1; not recorded, sends 0
ids: not recorded, sends 0; recorded, sends 1
ids-0: not recorded, sends 0; not recorded, sends 0
ids-1: recorded, sends 1; recorded, sends 1
EXPECTED
