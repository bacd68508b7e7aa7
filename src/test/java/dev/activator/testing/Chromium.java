package dev.activator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A headless browser with one page, driven by its DevTools protocol. */
public final class Chromium implements AutoCloseable, WebSocket.Listener {
  private static final List<Path> PLACES = Stream.of("chromium", "chromium-browser",
      "google-chrome").map(name -> Path.of("/usr/bin", name)).toList();

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Process process;
  private final HttpClient http = HttpClient.newHttpClient();
  private final WebSocket socket;
  private final AtomicInteger commands = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final Queue<String> problems = new ConcurrentLinkedQueue<>();
  private final StringBuilder message = new StringBuilder();

  /** Also outside of JUnit, whose extension sets such times. */
  private static ConditionFactory await() {
    return Awaitility.await().atMost(PATIENCE).pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(50));
  }

  public static boolean isInstalled() {
    return PLACES.stream().anyMatch(Files::isExecutable);
  }

  /** @param profile an empty folder */
  public Chromium(Path profile) throws Exception {
    var program = PLACES.stream().filter(Files::isExecutable).findFirst().orElseThrow();
    process = new ProcessBuilder(program.toString(), "--headless=new", "--no-sandbox",
        "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
        "--remote-debugging-port=0", "--user-data-dir=" + profile, "about:blank")
        .redirectErrorStream(true).start();
    var browser = devTools();
    var page = await().until(() -> page(browser), found -> !found.isEmpty());
    socket = http.newWebSocketBuilder().buildAsync(URI.create(page), this)
        .get(120, TimeUnit.SECONDS);
    for (var domain : List.of("Page", "Runtime", "Log", "Network")) {
      command(domain + ".enable", "{}");
    }
  }

  private URI devTools() throws IOException {
    var lines = new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("DevTools listening on ")) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(_ -> {
        }));
        return URI.create(line.substring("DevTools listening on ".length()));
      }
    }
    throw new IOException("the browser ended");
  }

  private String page(URI browser) throws Exception {
    var list = http.send(HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + browser.getPort() + "/json/list")).build(),
        BodyHandlers.ofString());
    return JsonMapper.shared().readTree(list.body()).valueStream()
        .filter(each -> each.path("type").asString("").equals("page"))
        .map(each -> each.path("webSocketDebuggerUrl").asString("")).findFirst().orElse("");
  }

  @Override
  public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
    message.append(part);
    if (last) {
      received(JsonMapper.shared().readTree(message.toString()));
      message.setLength(0);
    }
    from.request(1);
    return CompletableFuture.completedFuture(null);
  }

  private void received(JsonNode now) {
    var answer = answers.remove(now.path("id").asInt(-1));
    if (answer != null) {
      answer.complete(now);
    }
    switch (now.path("method").asString("")) {
      case "Runtime.exceptionThrown" -> problems.add(now.path("params").toString());
      case "Log.entryAdded" -> {
        var entry = now.at("/params/entry");
        // A failed load is what some tests are about.
        if (entry.path("level").asString("").equals("error")
            && !entry.path("source").asString("").equals("network")) {
          problems.add(entry.path("text").asString(""));
        }
      }
      default -> {
        // Of no interest.
      }
    }
  }

  private JsonNode command(String method, String parameters) {
    int id = commands.incrementAndGet();
    var answer = new CompletableFuture<JsonNode>();
    answers.put(id, answer);
    socket.sendText("{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + parameters
        + "}", true).join();
    var result = answer.orTimeout(120, TimeUnit.SECONDS).join();
    assertThat(result.has("error")).as("%s: %s", method, result).isFalse();
    return result.path("result");
  }

  /** Returns once the navigation has been answered. */
  public void open(String url) {
    command("Page.navigate", "{\"url\":\"" + url + "\"}");
  }

  public void size(int width, int height) {
    command("Emulation.setDeviceMetricsOverride", "{\"width\":" + width + ",\"height\":" + height
        + ",\"deviceScaleFactor\":1,\"mobile\":false}");
  }

  public void dark() {
    prefers("dark");
  }

  public void light() {
    prefers("light");
  }

  private void prefers(String scheme) {
    command("Emulation.setEmulatedMedia",
        "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"" + scheme + "\"}]}");
  }

  /** The value of an expression, as text. */
  public String value(String expression) {
    return evaluate("String(" + expression + ")");
  }

  private String evaluate(String script) {
    var result = command("Runtime.evaluate", "{\"returnByValue\":true,\"awaitPromise\":true,"
        + "\"expression\":" + JsonMapper.shared().writeValueAsString(script) + "}");
    return result.at("/result/value").asString("");
  }

  /** What axe-core finds on the page, a line each. */
  public List<String> violations(Path axe) throws IOException {
    evaluate(Files.readString(axe));
    assertThat(value("typeof axe")).isEqualTo("object");
    return evaluate(
        "axe.run().then(found => found.violations.map(each => each.id + ': ' + each.help"
            + " + ': ' + each.nodes.map(node => node.target.join(' ')).join(', ')).join('\\n'))")
        .lines().toList();
  }

  public void awaitTrue(String expression) {
    await().until(() -> value(expression).equals("true"));
  }

  /** @param meanwhile before each look */
  public void awaitTrue(String expression, Runnable meanwhile) {
    await().until(() -> {
      meanwhile.run();
      return value(expression).equals("true");
    });
  }

  /** Errors of scripts and of the content policy. */
  public List<String> problems() {
    return List.copyOf(problems);
  }

  /** Of the whole page, which may be longer than the window. */
  public void screenshot(Path to) {
    var picture = command("Page.captureScreenshot",
        "{\"format\":\"png\",\"captureBeyondViewport\":true}");
    try {
      Files.write(to, Base64.getDecoder().decode(picture.path("data").asString("")));
    } catch (IOException cannot) {
      throw new UncheckedIOException(cannot);
    }
  }

  @Override
  public void close() {
    socket.abort();
    http.shutdownNow();
    // Its children write to the profile, which is deleted next, and may outlive it; while it runs, it starts others.
    var all = Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(one -> one.onExit().join());
  }
}
