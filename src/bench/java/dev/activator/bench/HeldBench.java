package dev.activator.bench;

import dev.activator.testing.FreePort;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.activators.ActivatorProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import tools.jackson.databind.node.ObjectNode;

/**
 * Two thousand requests that wait for a revision at zero, until four pods appear that take ten each
 * at once for 20 ms; next to callers that know the pods, and ask them directly as many at once.
 */
public final class HeldBench {
  private static final int HELD = 2_000;
  private static final int PODS = 4;
  private static final int CONTAINER_CONCURRENCY = 10;
  private static final int SERVICE_MILLIS = 20;
  private static final double IDEAL_MILLIS = (double) HELD / PODS / CONTAINER_CONCURRENCY
      * SERVICE_MILLIS;
  private static final int LEARNING = 4;
  private static final int ROUNDS = 15;

  private final EmbeddedApi api = ActivatorProcess.cluster();
  private final SlowPods pods = new SlowPods(SERVICE_MILLIS);
  private final String reference = System.getenv("REFERENCE");
  private final int port = reference == null ? FreePort.next() : ActivatorProcess.REFERENCE_PORT;
  private final double[] held = new double[ROUNDS];
  private final double[] sinceWritten = new double[ROUNDS];
  private final double[] direct = new double[ROUNDS];
  private int errors;

  private final Path program;

  /** @param program a jar, or a folder that {@code bin/image-root} made */
  private HeldBench(Path program) throws IOException {
    this.program = program;
  }

  public static void main(String[] args) {
    Measurement.runAndExit(
        () -> new HeldBench(Path.of(args.length == 0 ? "target/activator.jar" : args[0])).run());
  }

  private void run() throws IOException {
    api.store().create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'ns', 'name': 'held'},
         'spec': {'timeoutSeconds': 300, 'containerConcurrency': %d,
                  'containers': [{'image': 'held'}]}}""".formatted(CONTAINER_CONCURRENCY)));
    api.store().create(BuiltInKinds.ENDPOINTS, endpoints("[]"));
    var kubeconfig = ActivatorProcess.kubeconfig(api.url());
    if (reference == null) {
      ActivatorProcess.of(program, List.of(), kubeconfig, port, "ws://127.0.0.1:1");
    } else {
      ActivatorProcess.reference(Path.of(reference), kubeconfig);
    }
    for (int i = -LEARNING; i < ROUNDS; i++) {
      round(i);
    }
    System.out.printf("%n%-52s %9s %9s %9s %8s%n", HELD + " requests of " + SERVICE_MILLIS
        + " ms, 4 pods x 10; times the ideal", "median", "best", "worst", "budget");
    print("asked directly, as many at once", direct, "");
    print("held, from the first request at a pod to the last answer", held, "1.05");
    print("held, from Endpoints written to the last answer", sinceWritten, "");
    System.out.printf("%-52s %9d%n", "answers that were not 200", errors);
    System.out.printf("%-52s %9d%n", "most requests at once at a pod", pods.mostAtOnce());
  }

  private void round(int number) throws IOException {
    var callers = new Callers("""
        GET / HTTP/1.1\r
        Host: held\r
        Knative-Serving-Namespace: ns\r
        Knative-Serving-Revision: held\r
        \r
        """, HELD);
    awaitListening();
    for (int i = 0; i < HELD; i++) {
      callers.open("127.0.0.1", port, 1);
    }
    pause(1_000);
    pods.forget();
    long written = System.nanoTime();
    write(IntStream.rangeClosed(1, PODS).mapToObj(pod -> "{'ip': '127.0.2." + pod + "'}").toList());
    long last = callers.awaitLast();
    long first = pods.firstNanos();
    errors += callers.errors();
    write(List.of());
    double peer = direct();
    if (number >= 0) {
      held[number] = (last - first) / 1e6 / IDEAL_MILLIS;
      sinceWritten[number] = (last - written) / 1e6 / IDEAL_MILLIS;
      direct[number] = peer;
    }
    pause(500);
  }

  private double direct() throws IOException {
    var callers = new Callers("GET / HTTP/1.1\r\nHost: held\r\n\r\n", HELD);
    int connections = PODS * CONTAINER_CONCURRENCY;
    pods.forget();
    for (int i = 0; i < connections; i++) {
      callers.open("127.0.2." + (1 + i % PODS), pods.port(), HELD / connections);
    }
    return (callers.awaitLast() - pods.firstNanos()) / 1e6 / IDEAL_MILLIS;
  }

  private void awaitListening() throws IOException {
    for (int i = 0; i < 1_200; i++) {
      try (var _ = new java.net.Socket("127.0.0.1", port)) {
        return;
      } catch (IOException notYet) {
        pause(100);
      }
    }
    throw new IOException("the activator does not listen on " + port);
  }

  private static void print(String what, double[] ratios, String budget) {
    var sorted = Arrays.stream(ratios).sorted().toArray();
    System.out.printf(Locale.ROOT, "%-52s %9.3f %9.3f %9.3f %8s%n", what,
        sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1], budget);
  }

  private void write(List<String> addresses) {
    api.store().writes().update(BuiltInKinds.ENDPOINTS, endpoints(addresses.isEmpty()
        ? "[]"
        : "[{'addresses': " + addresses + ", 'ports': [{'name': 'http', 'port': " + pods.port()
            + "}]}]"));
  }

  private static ObjectNode endpoints(String subsets) {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints', 'metadata': {'namespace': 'ns',
         'name': 'held-private', 'labels': {'serving.knative.dev/revision': 'held',
         'serving.knative.dev/revisionUID': 'u',
         'networking.internal.knative.dev/serviceType': 'Private'}}, 'subsets': %s}
        """.formatted(subsets));
  }

  private static void pause(long millis) {
    LockSupport.parkNanos(millis * 1_000_000);
  }
}
