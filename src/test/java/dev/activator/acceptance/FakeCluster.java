package dev.activator.acceptance;

import dev.activator.ClusterActivator;
import dev.activator.testing.FreePort;
import dev.activator.testing.SpringProduct;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.node.ObjectNode;

/**
 * As much of a cluster as an activator needs: an API with Knative's ConfigMaps, an autoscaler, and a
 * pod that answers probes, requests at once, and those for {@code /slow} when it is let.
 */
public final class FakeCluster implements AutoCloseable {
  public static final String SYSTEM = "knative-serving";

  public final EmbeddedApi api = EmbeddedApi.start();
  final CountDownLatch slow = new CountDownLatch(1);
  /** The request for {@code /slow} is at the pod. */
  final CountDownLatch slowArrived = new CountDownLatch(1);
  /** The revisions the autoscaler heard of. */
  final Set<String> received = ConcurrentHashMap.newKeySet();
  private final LoopResources threads = LoopResources.create("fake-cluster", 1, true);
  private final HttpServer pod;
  // Of its own: while the autoscaler is away, no other may come to listen or to call from there.
  private final int autoscalerPort = FreePort.next();
  private StatsServer autoscaler;

  public FakeCluster() throws IOException {
    // As the ClusterRole of Knative's activator has it.
    api.faults().add(Match.requests().of(BuiltInKinds.ENDPOINT_SLICE), Fault.Answer.status(403));
    for (var name : List.of("config-network", "config-logging", "config-observability")) {
      configMap(name, Map.of());
    }
    pod = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    pod.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    pod.createContext("/", this::answer);
    pod.start();
    autoscaler = autoscaler();
  }

  private StatsServer autoscaler() {
    var fresh = new StatsServer(threads.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", autoscalerPort),
        batch -> batch.entries().forEach(one -> received.add(one.revision().name())));
    fresh.start();
    return fresh;
  }

  private void answer(HttpExchange exchange) throws IOException {
    boolean probe = "queue".equals(exchange.getRequestHeaders().getFirst("K-Network-Probe"));
    if (exchange.getRequestURI().getPath().equals("/slow")) {
      slowArrived.countDown();
      try {
        slow.await();
      } catch (InterruptedException hurried) {
        throw new IOException(hurried);
      }
    }
    byte[] body = (probe ? "queue" : "hello").getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  /** An activator of this cluster, in this process. Settings replace those of the same name. */
  public ConfigurableApplicationContext start(Collection<Class<?>> extensions,
      String... settings) {
    var all = Stream.concat(
        Stream.of("--activator.cluster.server=" + api.url(),
            "--activator.cluster.autoscaler=" + autoscalerUrl(),
            "--activator.identity.pod-name=activator-0", "--activator.identity.pod-ip=127.0.0.1",
            "--activator.identity.system-namespace=" + SYSTEM, "--server.port=0",
            "--activator.port.http1=0", "--activator.port.h2c=0", "--activator.profiling.port=0",
            "--activator.console.port=0", "--activator.lending.port=0",
            "--activator.serving.propagation-delay=0s")
            .filter(usual -> Stream.of(settings)
                .noneMatch(own -> own.startsWith(usual.substring(0, usual.indexOf('=') + 1)))),
        Stream.of(settings));
    return SpringProduct.of(ClusterActivator.class, extensions.stream()).profiles("cluster")
        .run(all.toArray(String[]::new));
  }

  String autoscalerUrl() {
    return "ws://127.0.0.1:" + autoscalerPort;
  }

  public void autoscalerGoes() {
    autoscaler.stop();
  }

  public void autoscalerComes() {
    received.clear();
    autoscaler = autoscaler();
  }

  public void configMap(String name, Map<String, String> data) {
    if (api.store().find(BuiltInKinds.CONFIG_MAP, SYSTEM, name) == null) {
      api.store().create(BuiltInKinds.CONFIG_MAP, named(SYSTEM, name));
    }
    api.store().edit(BuiltInKinds.CONFIG_MAP, SYSTEM, name, map -> {
      var texts = map.putObject("data");
      data.forEach(texts::put);
      return map;
    });
  }

  /** A revision that is scaled to zero. */
  public void revision(String name) {
    var revision = named("default", name);
    revision.putObject("spec").put("timeoutSeconds", 300).put("containerConcurrency", 0)
        .putArray("containers").addObject().put("image", "x");
    api.store().create(BuiltInKinds.REVISION, revision);
  }

  /** The pod becomes one of the revision's. */
  public void scaleUp(String name) {
    var endpoints = named("default", name + "-private");
    ObjectMeta.of(endpoints).putObject("labels").put("serving.knative.dev/revision", name)
        .put("serving.knative.dev/revisionUID", "u")
        .put("networking.internal.knative.dev/serviceType", "Private");
    var subset = endpoints.putArray("subsets").addObject();
    subset.putArray("addresses").addObject().put("ip", "127.0.0.1");
    subset.putArray("ports").addObject().put("name", "http").put("port",
        pod.getAddress().getPort());
    api.store().create(BuiltInKinds.ENDPOINTS, endpoints);
  }

  private static ObjectNode named(String namespace, String name) {
    var object = Json.object();
    ObjectMeta.of(object).put("namespace", namespace).put("name", name);
    return object;
  }

  @Override
  public void close() {
    slow.countDown();
    autoscaler.stop();
    pod.stop(0);
    api.close();
    threads.disposeLater(Duration.ZERO, Duration.ofSeconds(10)).block(Duration.ofSeconds(30));
  }
}
