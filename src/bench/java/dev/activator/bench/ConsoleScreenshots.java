package dev.activator.bench;

import dev.activator.testing.Chromium;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;

/** Takes the pictures of {@code bench/console/screenshots}. */
public final class ConsoleScreenshots {
  private final HttpClient http = HttpClient.newHttpClient();
  private final String console;
  private final String requests;
  private final Path out;
  private final Chromium browser;

  private ConsoleScreenshots(String console, String requests, Path out) throws Exception {
    this.console = console;
    this.requests = requests;
    this.out = out;
    this.browser = new Chromium(Files.createTempDirectory("chromium"));
  }

  public static void main(String[] args) throws Exception {
    var pictures = new ConsoleScreenshots("http://127.0.0.1:" + args[0] + "/console",
        "http://127.0.0.1:" + args[1] + "/", Path.of(args[5]));
    try {
      pictures.take("http://127.0.0.1:" + args[2], args[1], Long.parseLong(args[3]),
          Path.of(args[4]));
    } finally {
      pictures.browser.close();
      pictures.http.shutdownNow();
    }
  }

  private void take(String api, String port, long activator, Path services) throws Exception {
    awaitConsole();
    // kubectl applies lists, the API takes objects one by one.
    for (var service : Files.readString(services).split("---\n")) {
      post(api + "/apis/serving.knative.dev/v1/namespaces/shop/services", service);
    }
    browser.size(1200, 900);
    picture("calm", console, isAtZero("slow") + " && " + isAtZero("slow2"));

    // A second start, so that the usual one is known.
    send("slow");
    browser.awaitTrue("document.querySelector('#starts .first-byte') !== null");
    act("slow", "zero");
    browser.awaitTrue(isAtZero("slow"));
    send("slow");
    picture("cold-start", console, "document.querySelector('.running .usual') !== null"
        + " && /requested [34][.]. s ago/.test(document.body.textContent)");
    picture("cold-start-page", console + "/shop/slow-00001",
        "document.querySelector('.running') !== null");
    picture("waiting-page", "http://slow2.shop.localhost:" + port + "/",
        "document.getElementById('probe-time').textContent > '2'");
    browser.awaitTrue("!document.title.startsWith('Starting')");
    browser.screenshot(out.resolve("waiting-page-answer.png"));

    send("crash");
    send("hang");
    picture("refused-404", "http://nothing.shop.localhost:" + port + "/",
        "document.title.startsWith('404')");
    picture("refused-503", "http://crash.shop.localhost:" + port + "/",
        "document.title.startsWith('503')");
    picture("crash", console + "/shop/crash-00001",
        "document.querySelector('.failed') !== null && document.querySelector('pre') !== null");
    picture("hang", console + "/shop/hang-00001",
        "/requested [1-9][0-9][.]/.test(document.body.textContent)");
    IntStream.range(0, 60).forEach(_ -> send("one"));
    picture("overload-page", console + "/shop/one-00001",
        "/in flight1queued[1-4]./.test(document.body.textContent)");
    picture("overload", console, "document.querySelector('.state.warn, .state.bad') !== null");
    picture("sorted", console + "?sort=queued&q=shop",
        "document.querySelector('th[aria-sort]') !== null");
    picture("waiting-page-late", "http://hang.shop.localhost:" + port + "/",
        "/longer than usual/.test(document.getElementById('state').textContent)");
    browser.dark();
    picture("dark", console, "true");
    browser.size(375, 1200);
    picture("phone-dark", console, "true");
    browser.light();
    picture("phone", console, "true");
    browser.size(1200, 900);
    for (int i = 0; i < 500; i++) {
      post(api + "/apis/serving.knative.dev/v1/namespaces/many/services",
          """
              {apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: s%03d, namespace: many},
               spec: {template: {metadata: {annotations: {autoscaling.knative.dev/initial-scale: "0"}},
                spec: {containers: [{command: [sleep, '1']}]}}}}"""
              .formatted(i));
    }
    picture("500", console, "/50[0-9] Services/.test(document.body.textContent)"
        + " && document.querySelectorAll('#rows tr').length === 100");
    IntStream.range(0, 60).forEach(_ -> send("one"));
    ProcessHandle.of(activator).orElseThrow().destroy();
    picture("draining", console, "document.body.textContent.includes('drains')");
  }

  private void awaitConsole() {
    browser.open("about:blank");
    browser.awaitTrue("true", () -> browser.open(console));
    browser.awaitTrue("document.querySelector('#rows .state') !== null", () -> {
      if (browser.value("document.getElementById('parts') === null").equals("true")) {
        browser.open(console);
      }
    });
  }

  private void picture(String name, String url, String when) throws IOException {
    browser.open(url);
    browser.awaitTrue(when);
    browser.awaitTrue("document.documentElement.scrollWidth > 0");
    browser.screenshot(out.resolve(name + ".png"));
    System.out.println(out.resolve(name + ".png") + ", "
        + browser.value("document.documentElement.outerHTML.length") + " characters");
    var axe = System.getenv("AXE");
    if (axe != null) {
      browser.violations(Path.of(axe)).forEach(each -> System.out.println("  " + each));
    }
  }

  private static String isAtZero(String service) {
    return "document.getElementById('r.shop." + service + "')"
        + "?.querySelector('.state.idle') != null";
  }

  private void act(String service, String action) throws IOException, InterruptedException {
    http.send(HttpRequest.newBuilder(
        URI.create(console + "/shop/" + service + "-00001/" + action))
        .POST(HttpRequest.BodyPublishers.noBody()).build(), BodyHandlers.discarding());
  }

  private void post(String url, String yaml) throws IOException, InterruptedException {
    var answer = http.send(HttpRequest.newBuilder(URI.create(url))
        .header("Content-Type", "application/yaml")
        .POST(HttpRequest.BodyPublishers.ofString(yaml)).build(), BodyHandlers.ofString());
    if (answer.statusCode() >= 300) {
      throw new IOException(answer.body());
    }
  }

  /** Nobody waits for the answer. */
  private void send(String service) {
    var _ = http.sendAsync(HttpRequest.newBuilder(URI.create(requests))
        .version(HttpClient.Version.HTTP_1_1).header("Knative-Serving-Namespace", "shop")
        .header("Knative-Serving-Revision", service + "-00001").build(), BodyHandlers.discarding());
  }
}
