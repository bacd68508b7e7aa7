package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.Sessions;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.activator.platform.RevisionDetailsSource.EventLine;
import dev.activator.ext.console.EventFetcher.Answer;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EventFetcherTest {
  private static final Duration LONG = Duration.ofSeconds(120);
  private static final EventFetcher.Objects HELLO = new EventFetcher.Objects("default",
      Set.of("hello-00001", "hello-00001-deployment"), "hello-00001-deployment");
  private static final String POD = "hello-00001-deployment-6c5f8d9b7-x2k4p";

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<String> queries = new CopyOnWriteArrayList<>();
  private final Map<String, String> events = new ConcurrentHashMap<>();
  private volatile int status = 200;
  private HttpServer server;
  private KubernetesApiClient api;
  private EventFetcher reader;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/api/v1/namespaces/default/events", this::answer);
    server.start();
    api = Sessions.api("http://127.0.0.1:" + server.getAddress().getPort());
    reader = new EventFetcher(() -> api, loop::nanoTime, LONG);
  }

  @AfterEach
  void stop() {
    api.close();
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    var query = exchange.getRequestURI().getQuery();
    queries.add(query);
    var body = ("{\"items\":[" + events.getOrDefault(query, "") + "]"
        + (query.endsWith("involvedObject.kind=Pod") && events.containsKey("second")
            ? ",\"metadata\":{\"continue\":\"second-page\"}}"
            : "}"))
        .getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static String selected(String selector) {
    return "limit=500&fieldSelector=involvedObject." + selector;
  }

  private static String event(String time, String kind, String name) {
    return """
        {"involvedObject": {"kind": "%s", "name": "%s"}, %s, "type": "Warning",
         "reason": "BackOff", "message": "no image"}""".formatted(kind, name, time);
  }

  private Answer read() throws Exception {
    return reader.read(HELLO).get(120, TimeUnit.SECONDS);
  }

  @Test
  void readsThoseOfTheRevisionItsDeploymentItsReplicaSetsAndItsPods() throws Exception {
    events.put(selected("name=hello-00001"),
        event("\"lastTimestamp\": \"2026-11-22T12:00:01Z\"", "Revision", "hello-00001"));
    events.put(selected("kind=Pod"),
        event("\"lastTimestamp\": null, \"eventTime\": \"2026-11-22T12:00:03.5Z\"", "Pod", POD)
            + "," + event("\"lastTimestamp\": \"2026-11-22T12:00:04Z\"", "Pod",
                "hello-00001-deployment-other-6c5f8d9b7-x2k4p")
            + "," + event("\"lastTimestamp\": \"2026-11-22T12:00:05Z\"", "Pod",
                "hello-00001-deployment-migrate-x2k4p"));
    events.put(selected("kind=ReplicaSet"),
        event("\"series\": {\"lastObservedTime\": \"2026-11-22T12:00:02Z\"}", "ReplicaSet",
            "hello-00001-deployment-6c5f8d9b7"));
    // the Events of Pods come in pages
    events.put("second", "");
    events.put(selected("kind=Pod") + "&continue=second-page",
        event("\"firstTimestamp\": \"nonsense\"", "Pod", "hello-00001-deployment-0"));

    assertThat(read()).isInstanceOfSatisfying(Answer.Read.class, found -> assertThat(found.events())
        .extracting(EventLine::about).containsExactly("Pod " + POD,
            "ReplicaSet hello-00001-deployment-6c5f8d9b7", "Revision hello-00001",
            "Pod hello-00001-deployment-0"));
    assertThat(((Answer.Read) read()).events()).first().isEqualTo(
        new EventLine(Instant.parse("2026-11-22T12:00:03.5Z"), "Warning", "BackOff", "Pod " + POD,
            "no image"));
  }

  @Test
  void readsThemOnceInTenSeconds_howeverOftenThePageIsLoaded() throws Exception {
    read();
    int lists = queries.size();
    loop.advance(Duration.ofSeconds(9));
    read();
    assertThat(queries).hasSize(lists);

    loop.advance(Duration.ofSeconds(1));
    read();
    assertThat(queries).hasSize(2 * lists);
  }

  @Test
  void remembersARefusalForFiveMinutes() throws Exception {
    status = 403;
    assertThat(read()).isEqualTo(new Answer.Forbidden());
    int lists = queries.size();
    loop.advance(Duration.ofMinutes(5).minusSeconds(1));
    assertThat(read()).isEqualTo(new Answer.Forbidden());
    assertThat(queries).hasSize(lists);

    status = 200;
    loop.advance(Duration.ofSeconds(1));
    assertThat(read()).isEqualTo(new Answer.Read(List.of()));
  }

  @Test
  void saysWhyItHasNone() throws Exception {
    status = 500;
    assertThat(read()).isEqualTo(new Answer.Failed("HTTP status 500"));

    assertThat(new EventFetcher(() -> null, loop::nanoTime, LONG).read(HELLO).join())
        .isEqualTo(new Answer.Failed("not connected"));
  }
}
