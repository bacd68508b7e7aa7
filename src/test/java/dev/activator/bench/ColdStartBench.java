package dev.activator.bench;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Cold starts of one revision, seen from its caller: the packaged classes in a process of their own,
 * against an embedded API and pods in this one. Pods are listed in Endpoints, or in EndpointSlices.
 */
public final class ColdStartBench implements AutoCloseable {
  private static final long MILLI = 1_000_000;
  private static final int LEARNING = 10;
  private static final int ROUNDS = 60;

  /** Where pods are listed. */
  private enum Source {
    ENDPOINTS("Endpoints", Kinds.ENDPOINTS), SLICES("EndpointSlice", Kinds.ENDPOINT_SLICE);

    private final String text;
    private final Kind kind;

    Source(String text, Kind kind) {
      this.text = text;
      this.kind = kind;
    }
  }

  private final Source source;
  private final Random random = new Random(1);
  private final EmbeddedApi api = ActivatorProcess.cluster();
  private final int requests = BenchPod.freePort();
  private final Process activator;
  private String uid = "";

  private ColdStartBench(Source source) throws IOException {
    this.source = source;
    this.activator = ActivatorProcess.start(api.url(),
        List.of("-cp", System.getProperty("java.class.path"), "dev.activator.ActivatorApplication",
            "--activator.endpoints-source="
                + (source == Source.SLICES ? "endpointslices" : "endpoints")),
        List.of(), requests);
  }

  public static void main(String[] args) throws Exception {
    var source = args.length == 0 ? Source.ENDPOINTS : source(args[0]);
    try (var bench = new ColdStartBench(source)) {
      bench.revisionIsListed();
      System.out.printf("%-46s %8s %8s %8s%n", "milliseconds", "median", "p99", "budget");
      bench.listens("a pod starts to listen -> first byte");
      bench.listed(source.text + " written -> first byte");
    }
    System.exit(0);
  }

  private static Source source(String name) {
    return switch (name) {
      case "endpoints" -> Source.ENDPOINTS;
      case "slices" -> Source.SLICES;
      default -> throw new IllegalArgumentException("neither endpoints nor slices: " + name);
    };
  }

  private void revisionIsListed() {
    var revision = api.store().create(Kinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'ns', 'name': 'hello'},
         'spec': {'timeoutSeconds': 60, 'containers': [{'image': 'hello'}]}}"""));
    uid = revision.get("metadata").get("uid").asString();
    api.store().create(source.kind, listing(null));
  }

  /** The revision's pods start after 0.8 to 1.2 s, of which the activator knows nothing at first. */
  private void listens(String what) throws Exception {
    var nanos = new long[ROUNDS];
    for (int i = -LEARNING; i < ROUNDS; i++) {
      int port = BenchPod.freePort();
      write(new Listed("127.0.0.1", port, false));
      try (var caller = ask()) {
        pause(800 + random.nextInt(400));
        try (var pod = BenchPod.listening(port)) {
          long listening = System.nanoTime();
          caller.read(1);
          note(nanos, i, System.nanoTime() - listening);
        }
      }
      scaledToZero();
    }
    print(what, nanos, "15/60");
  }

  /** The pod listens already, at another address each time. */
  private void listed(String what) throws Exception {
    var nanos = new long[ROUNDS];
    try (var pod = BenchPod.listening(0)) {
      for (int i = -LEARNING; i < ROUNDS; i++) {
        try (var caller = ask()) {
          pause(300);
          var ip = "127.0.1." + (i + LEARNING + 1);
          long written = System.nanoTime();
          write(new Listed(ip, pod.port(), true));
          caller.read(1);
          note(nanos, i, System.nanoTime() - written);
        }
        scaledToZero();
      }
    }
    print(what, nanos, "12");
  }

  private static void note(long[] nanos, int round, long took) {
    if (round >= 0) {
      nanos[round] = took;
    }
  }

  private static void print(String what, long[] nanos, String budget) {
    Arrays.sort(nanos);
    System.out.printf(Locale.ROOT, "%-46s %8.1f %8.1f %8s%n", what,
        nanos[nanos.length / 2] / (double) MILLI,
        nanos[(int) Math.ceil(nanos.length * 0.99) - 1] / (double) MILLI, budget);
  }

  private void scaledToZero() {
    write(null);
    pause(200);
  }

  /** The pod that is listed. */
  private record Listed(String ip, int port, boolean ready) {
    /** As the subsets of Endpoints say it. */
    String asSubsets() {
      return "'subsets': [{'" + (ready ? "addresses" : "notReadyAddresses") + "': [{'ip': '" + ip
          + "'}], 'ports': [{'name': 'http', 'port': " + port + "}]}]";
    }

    /** As an EndpointSlice says it. */
    String asSlice() {
      return "'endpoints': [{'addresses': ['" + ip + "'], 'conditions': {'ready': " + ready
          + "}}], 'ports': [{'name': 'http', 'port': " + port + "}]";
    }
  }

  private void write(@Nullable Listed pod) {
    api.store().update(source.kind, listing(pod));
  }

  /** An object that lists this pod, or none. */
  private ObjectNode listing(@Nullable Listed pod) {
    return switch (source) {
      case ENDPOINTS -> object("v1", pod == null ? "'subsets': []" : pod.asSubsets());
      case SLICES -> object("discovery.k8s.io/v1", "'addressType': 'IPv4', "
          + (pod == null ? "'endpoints': [], 'ports': []" : pod.asSlice()));
    };
  }

  private ObjectNode object(String version, String body) {
    return Objects.parse("""
        {'apiVersion': '%s', 'kind': '%s', 'metadata': {'namespace': 'ns',
         'name': 'hello-private', 'labels': {'serving.knative.dev/revision': 'hello',
         'serving.knative.dev/revisionUID': '%s', 'kubernetes.io/service-name': 'hello-private',
         'networking.internal.knative.dev/serviceType': 'Private'}}, %s}
        """.formatted(version, source.text, uid, body));
  }

  /** Sends a request as soon as the activator takes one; it is held. */
  private RawPeer ask() throws IOException {
    var caller = connected();
    caller.sendHead("GET / HTTP/1.1", "Host: hello.ns.example", "Knative-Serving-Namespace: ns",
        "Knative-Serving-Revision: hello");
    return caller;
  }

  private RawPeer connected() throws IOException {
    for (int i = 0; i < 600; i++) {
      try {
        return RawPeer.connect(requests);
      } catch (IOException notYet) {
        pause(100);
      }
    }
    throw new IOException("the activator does not listen on " + requests);
  }

  private static void pause(long millis) {
    LockSupport.parkNanos(millis * MILLI);
  }

  @Override
  public void close() {
    activator.destroyForcibly();
    api.close();
  }
}
