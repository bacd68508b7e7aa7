package dev.activator.bench.partitions;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.testing.SecureApi;
import dev.activator.testing.activators.ActivatorProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import reactor.netty.resources.LoopResources;

/** A revision with a limit of one request for each pod, its pods, API and autoscaler, and activators in namespaces of their own. */
final class PartitionedCluster implements AutoCloseable {
  static final String NAMESPACE = "shop";
  static final String NAME = "cart";
  static final int PORT = 8012;
  static final int PODS = 6;
  private static final int POD_PORT = 8080;
  private static final String AUTOSCALER = "autoscaler.knative-serving.svc.cluster.local";
  private static final int AUTOSCALER_PORT = 8080;
  private static final String PROBE = "K-Network-Probe";

  private final Network network;
  private final SecureApi api = Certificate.rsa().api();
  private final LoopResources loops = LoopResources.create("autoscaler", 1, true);
  private final StatsServer autoscaler;
  private final List<HttpServer> pods = new ArrayList<>();
  private final List<Process> activators = new ArrayList<>();
  private final AtomicInteger most = new AtomicInteger();
  private final ServerSocket forwarder;
  private final int port;

  /** @param exact whether the pods have no queue-proxy, so that activators alone keep the limit */
  PartitionedCluster(Network network, boolean exact) throws Exception {
    this.network = network;
    autoscaler = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress(
            InetAddress.getByAddress(AUTOSCALER,
                InetAddress.getByName(network.address(".2")).getAddress()),
            AUTOSCALER_PORT),
        _ -> {
        });
    autoscaler.start();
    DefaultConfigMapCreator.createIn(api.store());
    port = api.request("/").build().uri().getPort();
    forwarder = new ServerSocket(port, 50, InetAddress.getByName(network.address(".1")));
    Thread.ofVirtual().start(this::forward);
    var addresses = new ArrayList<String>();
    for (int i = 1; i <= PODS; i++) {
      var address = network.address("." + (16 + i));
      addresses.add(address);
      pods.add(pod(address, exact));
    }
    api.store().create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': '%s', 'name': '%s', 'annotations': {%s}},
         'spec': {'containerConcurrency': 1, 'timeoutSeconds': 60, 'containers': [{'image': 'i'}]}}
        """.formatted(NAMESPACE, NAME, exact ? "'activator.dev/probe': 'container'" : "")));
    list(NAME + "-private", "Private", POD_PORT, addresses);
  }

  /** A pod whose requests run one after the other; the path says for how many milliseconds each runs. */
  private HttpServer pod(String address, boolean exact) throws IOException {
    var server = HttpServer.create(new InetSocketAddress(address, POD_PORT), 0);
    var queue = new Semaphore(exact ? Integer.MAX_VALUE : 1, true);
    var running = new AtomicInteger();
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> {
      var probe = exchange.getRequestHeaders().getFirst(PROBE);
      if (probe != null) {
        answer(exchange, probe);
      } else if (!exchange.getRequestURI().getPath().startsWith("/busy/")) {
        answer(exchange, "ok");
      } else {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        queue.acquireUninterruptibly();
        try {
          Thread.sleep(Long.parseLong(exchange.getRequestURI().getPath().substring(6)));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        } finally {
          queue.release();
          running.decrementAndGet();
        }
        answer(exchange, "ok");
      }
    });
    server.start();
    return server;
  }

  private static void answer(HttpExchange exchange, String text) throws IOException {
    try (exchange) {
      exchange.sendResponseHeaders(200, text.length());
      exchange.getResponseBody().write(text.getBytes());
    }
  }

  /** The API itself listens on loopback; it is {@code localhost} to activators, as it accepts no other name. */
  private void forward() {
    while (!forwarder.isClosed()) {
      try {
        var in = forwarder.accept();
        var out = new Socket("127.0.0.1", port);
        Thread.ofVirtual().start(() -> copy(in, out));
        Thread.ofVirtual().start(() -> copy(out, in));
      } catch (IOException e) {
        // The next one, unless this was the end.
      }
    }
  }

  private static void copy(Socket from, Socket to) {
    try (from; to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException e) {
      // Both are closed.
    }
  }

  private void list(String name, String type, int port, List<String> addresses) {
    var listed = addresses.stream().map("{'ip': '%s'}"::formatted)
        .collect(Collectors.joining(", "));
    api.store().create(BuiltInKinds.ENDPOINTS, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints',
         'metadata': {'namespace': '%s', 'name': '%s', 'labels': {
           'networking.internal.knative.dev/serviceType': '%s',
           'serving.knative.dev/revision': '%s', 'serving.knative.dev/revisionUID': 'u'}},
         'subsets': [{'addresses': [%s], 'ports': [{'name': 'http', 'port': %d}]}]}
        """.formatted(NAMESPACE, name, type, NAME, listed, port)));
  }

  /** @param program a jar, a folder of {@code bin/image-root}, or the binary of Knative's activator */
  void start(Path program, int count) throws Exception {
    var kubeconfig = api.kubeconfig();
    boolean isOurs = Files.isDirectory(program) || program.toString().endsWith(".jar");
    int links = FreePort.next();
    for (int number = 1; number <= count; number++) {
      var address = network.activator(number);
      activators.add(isOurs
          ? ActivatorProcess.of(network.in(number), program, List.of(
              "-Dactivator.identity.pod-name=activator-" + number,
              "-Dactivator.identity.pod-ip=" + address, "-Dactivator.lending.port=" + links),
              kubeconfig, PORT, "ws://" + AUTOSCALER + ":" + AUTOSCALER_PORT)
          : ActivatorProcess.reference(network.in(number), program, kubeconfig, address));
    }
    for (int number = 1; number <= count; number++) {
      ActivatorProcess.awaitReady(network.activator(number), PORT, activators.get(number - 1));
    }
    list(NAME, "Public", PORT,
        IntStream.rangeClosed(1, count).mapToObj(network::activator).toList());
  }

  /** The highest number of requests that a pod had at once. */
  int highestConcurrency() {
    return most.get();
  }

  @Override
  public void close() throws Exception {
    for (var one : activators) {
      one.destroyForcibly().waitFor();
    }
    pods.forEach(pod -> pod.stop(0));
    autoscaler.stop();
    forwarder.close();
    api.close();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block(Duration.ofSeconds(10));
  }
}
