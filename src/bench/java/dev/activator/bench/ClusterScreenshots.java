package dev.activator.bench;

import com.sun.net.httpserver.HttpServer;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Chromium;
import dev.activator.testing.EmbeddedApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Takes the pictures of {@code bench/console/screenshots} that need a cluster, without and with Knative. */
public final class ClusterScreenshots {
  private static final int STATS = 28180;

  private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
      .build();
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final Path out;
  private final Chromium browser;
  private final List<Process> activators = new ArrayList<>();
  private final HttpServer pod = HttpServer
      .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);

  private ClusterScreenshots(Path out) throws Exception {
    this.out = out;
    this.browser = new Chromium(Files.createTempDirectory("chromium"));
    pod.createContext("/", exchange -> {
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    pod.start();
  }

  public static void main(String[] args) throws Exception {
    System.setProperty("jdk.httpclient.allowRestrictedHeaders", "host");
    var pictures = new ClusterScreenshots(Path.of(args[0]));
    try {
      pictures.take();
    } finally {
      pictures.activators.forEach(Process::destroyForcibly);
      pictures.browser.close();
      pictures.http.shutdownNow();
      pictures.pod.stop(0);
      pictures.api.close();
    }
  }

  private void take() throws Exception {
    ScaledServiceCrd.createIn(store);
    scaledService("front", "hosts: ['front.example.com', '*.shop.example.com'], maxReplicas: 5");
    slice("front", "kubernetes.io/service-name", "front");
    scaledService("reports", "hosts: ['reports.example.com']");
    store.delete(BuiltInKinds.SERVICE, "shop", "reports");
    scaledService("api", "maxReplicas: 3");
    browser.size(1200, 900);

    start("standalone", 1);
    String leader = console(1);
    open(leader, "document.querySelectorAll('#rows tr').length === 3");
    send(1, "front.example.com");
    send(1, "api.shop");
    picture("standalone", leader, "document.querySelector('.running') !== null"
        + " && document.querySelector('.state.good') !== null");
    picture("standalone-page", leader + "/shop/reports",
        "/condition Ready/.test(document.body.textContent)");
    // The other one follows.
    start("standalone", 2);
    picture("standalone-other", console(2) + "/shop/front",
        "/scaled byactivator-1/.test(document.body.textContent)");
    // While its Lease is still valid, no other one may scale.
    open(console(2), "document.querySelectorAll('#rows tr').length === 3");
    activators.getFirst().destroyForcibly();
    send(2, "api.shop");
    picture("leader-lost", "1 request waits[^]*link to the activator that scales is down");
    picture("leader-new", "this activator scales");

    store.create(BuiltInKinds.REVISION, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'cart-00001', 'uid': 'u', 'labels':
         {'serving.knative.dev/service': 'cart'}}, 'spec': {'containerConcurrency': 10}}"""));
    store.create(BuiltInKinds.EVENT, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'cart.1'}, 'involvedObject': {'kind': 'Pod',
         'namespace': 'shop', 'name': 'cart-00001-deployment-6c5f8d9b7-x2k4p'}, 'type': 'Warning',
         'reason': 'FailedScheduling', 'message': '0/3 nodes are available: 3 Insufficient cpu.',
         'lastTimestamp': '2026-11-22T12:00:00Z'}"""));
    DefaultConfigMapCreator.createIn(store);
    store.edit(BuiltInKinds.CONFIG_MAP, "knative-serving", "config-observability", map -> {
      map.putObject("data");
      return map;
    });
    store.create(BuiltInKinds.CONFIG_MAP, Objects.parse("""
        {'metadata': {'namespace': 'knative-serving', 'name': 'config-autoscaler'}, 'data':
         {'max-scale': '20', 'stable-window': '90s'}}"""));
    start("cluster", 3);
    send(3, "cart.shop");
    picture("cluster", console(3) + "/shop/cart-00001",
        "/FailedScheduling/.test(document.body.textContent)");
    api.disruptions().refuse(Duration.ofMinutes(2));
    picture("api-away", console(3),
        "/news from the Kubernetes API may be missing/.test(document.body.textContent)");
  }

  private void scaledService(String name, String spec) {
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%s'}, 'spec': {'replicas': 0}}"""
        .formatted(name)));
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%s'}, 'spec': {'selector': {'app': '%s'},
         'ports': [{'name': 'http', 'port': 80}]}}""".formatted(name, name)));
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%s'}, 'spec': {'scaleTargetRef':
         {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': '%s'}, 'serviceRef':
         {'name': '%s', 'port': 'http'}, 'target': {'concurrency': 20}, %s}}"""
        .formatted(name, name, name, spec.replaceAll("(\\w+):", "'$1':"))));
  }

  private void slice(String name, String label, String value) {
    store.create(BuiltInKinds.ENDPOINT_SLICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%s', 'labels': {'%s': '%s'}},
         'addressType': 'IPv4', 'ports': [{'name': 'http', 'port': %d}],
         'endpoints': [{'addresses': ['127.0.0.1'], 'conditions': {'ready': true}}]}"""
        .formatted(name, label, value, pod.getAddress().getPort())));
  }

  private static String console(int activator) {
    return "http://127.0.0.1:" + (29200 + activator) + "/console";
  }

  /** Returns when it has a console with something on it. */
  private void start(String mode, int number) throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("--sun-misc-unsafe-memory-access=allow",
        "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
        "dev.activator.ActivatorApplication", "--activator.cluster.server=" + api.url(),
        "--activator.port.http1=" + (28200 + number), "--activator.port.h2c=0",
        "--activator.port.https=0", "--activator.profiling.port=0",
        "--activator.standalone.stats-port=" + STATS, "--server.port=" + (29200 + number),
        "--activator.console.port=" + (29200 + number)));
    var builder = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(out.resolve(mode + number + ".log").toFile());
    builder.environment().putAll(Map.of("ACTIVATOR_MODE", mode, "POD_NAME", "activator-" + number,
        "POD_IP", "127.0.0." + number, "SYSTEM_NAMESPACE", "knative-serving"));
    var process = builder.start();
    activators.add(process);
    while (!hasArticles(number)) {
      if (process.waitFor(200, TimeUnit.MILLISECONDS)) {
        throw new IOException("the activator has ended");
      }
    }
  }

  private boolean hasArticles(int activator) throws InterruptedException {
    try {
      return http.send(HttpRequest.newBuilder(URI.create(console(activator))).build(),
          BodyHandlers.ofString()).body().contains("<tr id=\"r.");
    } catch (IOException early) {
      return false;
    }
  }

  private void open(String url, String when) {
    browser.open("about:blank");
    browser.awaitTrue(when, () -> {
      if (browser.value("document.getElementById('parts') === null").equals("true")) {
        browser.open(url);
      }
    });
  }

  private void picture(String name, String url, String when) throws IOException {
    open(url, when);
    picture(name);
  }

  /** Of the open page, once it has a text. */
  private void picture(String name, String pattern) throws IOException {
    browser.awaitTrue("/" + pattern + "/.test(document.getElementById('summary').textContent)");
    picture(name);
  }

  private void picture(String name) throws IOException {
    browser.awaitTrue("document.documentElement.scrollWidth > 0");
    browser.screenshot(out.resolve(name + ".png"));
    System.out.println(out.resolve(name + ".png") + ", "
        + browser.value("document.documentElement.outerHTML.length") + " characters");
    var axe = System.getenv("AXE");
    if (axe != null) {
      browser.violations(Path.of(axe)).forEach(each -> System.out.println("  " + each));
    }
  }

  /** Nobody waits for the answer. */
  private void send(int activator, String host) {
    var _ = http.sendAsync(HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + (28200 + activator) + "/"))
        .header("Host", host).build(), BodyHandlers.discarding());
  }
}
