package dev.activator.bench;

import com.sun.net.httpserver.HttpServer;
import dev.activator.testing.FreePort;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.activators.ActivatorProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import reactor.netty.resources.LoopResources;

/**
 * What the first callers wait after a start: 400 requests a second from the moment the kubelet would call the
 * process ready, for two seconds, in cluster mode. Each argument is a folder of {@code bin/image-root};
 * they take turns.
 */
final class FirstSecondsBench {
  private static final int PER_SECOND = 400;
  private static final int REQUESTS = 2 * PER_SECOND;
  private static final String REVISION = "hello";
  private static final HttpClient CLIENT = HttpClient.newBuilder()
      .version(HttpClient.Version.HTTP_1_1).executor(Executors.newFixedThreadPool(1)).build();

  /** All in milliseconds. */
  private record Round(double ready, double p50, double p99, double max, int failed) {}

  private FirstSecondsBench() {}

  public static void main(String[] folders) {
    Measurement.runAndExit(() -> measure(folders));
  }

  private static void measure(String[] folders) throws Exception {
    int rounds = Integer.getInteger("rounds", 5);
    var pod = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 1024);
    pod.createContext("/", exchange -> {
      byte[] body = "queue".getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    pod.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    pod.start();
    int podPort = pod.getAddress().getPort();
    // The callers' side must be warm before.
    for (int i = 0; i < 5; i++) {
      ask(podPort);
    }
    System.out.println("| folder | ms until ready | p50 | p99 | max | failed |");
    System.out.println("|---|---|---|---|---|---|");
    var results = new ArrayList<List<Round>>();
    Arrays.stream(folders).forEach(_ -> results.add(new ArrayList<>()));
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < folders.length; i++) {
        results.get(i).add(once(Path.of(folders[i]).toAbsolutePath(), podPort));
      }
    }
    for (int i = 0; i < folders.length; i++) {
      var all = results.get(i);
      System.out.printf(Locale.ROOT, "| %s | %.0f | %.1f | %.1f | %.1f | %d |%n", folders[i],
          median(all.stream().mapToDouble(Round::ready).toArray()),
          median(all.stream().mapToDouble(Round::p50).toArray()),
          median(all.stream().mapToDouble(Round::p99).toArray()),
          median(all.stream().mapToDouble(Round::max).toArray()),
          all.stream().mapToInt(Round::failed).sum());
    }
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private static Round once(Path folder, int podPort) throws Exception {
    var loops = LoopResources.create("autoscaler", 1, true);
    var autoscaler = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", 0), _ -> {
        });
    autoscaler.start();
    try (var api = ActivatorProcess.cluster()) {
      revision(api.store(), podPort);
      int port = FreePort.next();
      long begun = System.nanoTime();
      var process = ActivatorProcess.ofImage(folder, api.url(), port,
          "ws://127.0.0.1:" + autoscaler.port());
      try {
        awaitReady(port, process);
        double ready = (System.nanoTime() - begun) / 1e6;
        var times = ask(port);
        var answered = Arrays.stream(times).filter(time -> time >= 0).sorted().toArray();
        var round = new Round(ready, answered[answered.length / 2] / 1e6,
            answered[answered.length * 99 / 100] / 1e6, answered[answered.length - 1] / 1e6,
            REQUESTS - answered.length);
        System.out.println(folder.getFileName() + " " + round);
        return round;
      } finally {
        process.destroyForcibly().waitFor();
      }
    } finally {
      autoscaler.stop();
      loops.dispose();
    }
  }

  private static void awaitReady(int port, Process process) throws Exception {
    var probe = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
        .header("K-Kubelet-Probe", "activator").build();
    while (process.isAlive()) {
      try {
        if (CLIENT.send(probe, BodyHandlers.discarding()).statusCode() == 200) {
          return;
        }
      } catch (IOException early) {
        // It does not listen yet.
      }
      LockSupport.parkNanos(2_000_000);
    }
    throw new IOException("the activator has ended");
  }

  /** How long each request took, in nanoseconds from when it was due; -1 for a failure. */
  private static long[] ask(int port) throws InterruptedException {
    var times = new long[REQUESTS];
    var left = new CountDownLatch(REQUESTS);
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
        .timeout(Duration.ofSeconds(30)).header("Knative-Serving-Namespace", "bench")
        .header("Knative-Serving-Revision", REVISION).build();
    long begun = System.nanoTime();
    for (int i = 0; i < REQUESTS; i++) {
      int at = i;
      long due = begun + i * (TimeUnit.SECONDS.toNanos(1) / PER_SECOND);
      LockSupport.parkNanos(due - System.nanoTime());
      CLIENT.sendAsync(request, BodyHandlers.discarding()).whenComplete((answer, failure) -> {
        times[at] = failure == null && answer.statusCode() == 200 ? System.nanoTime() - due : -1;
        left.countDown();
      });
    }
    left.await();
    return times;
  }

  private static void revision(dev.activator.embedded.api.store.ApiStore store, int port) {
    store.create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'bench', 'name': '%s'},
         'spec': {'timeoutSeconds': 60, 'containerConcurrency': 0, 'containers': [{'image': 'x'}]}}
        """.formatted(REVISION)));
    store.create(BuiltInKinds.ENDPOINTS, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints',
         'metadata': {'namespace': 'bench', 'name': '%s-private', 'labels':
         {'serving.knative.dev/revision': '%s', 'serving.knative.dev/revisionUID': 'uid',
          'networking.internal.knative.dev/serviceType': 'Private'}},
         'subsets': [{'addresses': [{'ip': '127.0.0.1'}],
                      'ports': [{'name': 'http', 'port': %d}]}]}
        """.formatted(REVISION, REVISION, port)));
  }
}
