package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.loop.ThreadLoop;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.stats.AutoscalerLink;
import dev.activator.testing.Make;
import dev.activator.testing.SpringProduct;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page over HTTP, as it is asked by people and programs. */
class ActivatorActuatorEndpointTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");

  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Pages {
    @Bean
    ThreadLoop loop() {
      return new ThreadLoop("revisions");
    }

    @Bean
    ActivatorActuatorEndpoint endpoint(ThreadLoop loop) {
      var hello = Revision.of(HELLO, 0);
      var revisions = new TestRevisions(loop);
      var backends = Quiescence.watch(Make.backends(revisions.live, loop, (on, request, done) -> on
          .execute(() -> done.accept(new ProbeResult.Refused("connection refused")))));
      var throttler = Quiescence
          .watch(Make.throttler(revisions.live, 10));
      backends.revision(revisions.put(hello));
      throttler.onRevision(revisions.put(hello));
      var link = new AutoscalerLink.View("ws://autoscaler:8080", true, Duration.ofSeconds(9), 0,
          null);
      return new ActivatorActuatorEndpoint(new RevisionInspector(backends, throttler,
          new InspectorSources(loop, () -> link)),
          () -> List.of(new ColdStart(HELLO, Instant.EPOCH,
              new RequestPhases(1_000_000, 2_000_000, 0, 500_000, 0),
              Map.of(StartPhase.POD, 1_000_000L, StartPhase.ANSWER, 2_000_000L),
              RequestOutcome.ANSWERED, 200)));
    }
  }

  private final ConfigurableApplicationContext context = SpringProduct
      .of(Pages.class, Stream.empty()).web(WebApplicationType.REACTIVE).profiles("endpoint-test")
      .run("--server.port=0", "--spring.config.location=optional:file:/nonexistent/",
          "--management.endpoints.web.exposure.include=activator", "--spring.main.banner-mode=off");
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    http.shutdownNow();
    context.close();
  }

  private HttpResponse<String> get(String path) throws Exception {
    int port = Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
    return http.send(
        HttpRequest
            .newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/activator" + path))
            .build(),
        BodyHandlers.ofString());
  }

  private static JsonNode json(HttpResponse<String> response) {
    return JsonMapper.shared().readTree(response.body());
  }

  @Test
  void answersWithTheSentenceFirst() throws Exception {
    var all = get("");
    assertThat(all.statusCode()).isEqualTo(200);
    assertThat(all.body())
        .startsWith("{\"summary\":\"No request waits; the autoscaler link is up.\"");
    assertThat(json(all).at("/revisions").asInt()).isOne();

    var one = get("/default/hello-00001");
    assertThat(one.statusCode()).isEqualTo(200);
    assertThat(one.headers().firstValue("Content-Type").orElse("")).contains("json");
    assertThat(one.body()).startsWith(
        "{\"summary\":\"No request waits for default/hello-00001: it is at zero.\",\"state\":\"AT_ZERO\"");
    assertThat(json(one).at("/autoscaler/url").asString()).isEqualTo("ws://autoscaler:8080");

    var starts = get("/cold-starts");
    assertThat(starts.body()).isEqualTo("[{\"revision\":\"default/hello-00001\","
        + "\"when\":\"1970-01-01T00:00:00Z\",\"totalMillis\":3.5,\"phaseMillis\":{\"pod\":1.0,"
        + "\"probe\":2.0,\"queue\":0.0,\"dial\":0.5,\"first-byte\":0.0},"
        + "\"startMillis\":{\"pod\":1.0,\"answer\":2.0},"
        + "\"outcome\":\"" + RequestOutcome.ANSWERED + "\",\"status\":200}]");
    assertThat(get("/hot-starts").statusCode()).isEqualTo(404);

    var none = get("/default/nope");
    assertThat(none.statusCode()).isEqualTo(404);
    assertThat(json(none).at("/summary").asString())
        .isEqualTo("There is no revision or Service default/nope.");
  }

  @Test
  void answersAsText_whenATerminalRequests() throws Exception {
    var one = get("/default/hello-00001?format=text");
    assertThat(one.statusCode()).isEqualTo(200);
    assertThat(one.headers().firstValue("Content-Type")).hasValue("text/plain;charset=UTF-8");
    assertThat(one.body()).startsWith("default/hello-00001: ")
        .contains("Requests   0 in flight, 0 queued of at most 10");
    assertThat(get("/default/other?format=text")).satisfies(unknown -> {
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(unknown.body()).startsWith("default/other: ");
    });
    assertThat(get("?format=text").body())
        .isEqualTo("No request waits; the autoscaler link is up.\n");
    assertThat(get("/revisions?format=text").body().lines())
        .satisfiesExactly(head -> assertThat(head).startsWith("REVISION"),
            row -> assertThat(row).startsWith("default/hello-00001 "));

    var unknown = get("?format=yaml");
    assertThat(unknown.statusCode()).isEqualTo(400);
    assertThat(json(unknown).at("/summary").asString())
        .isEqualTo("There is no format yaml, only json and text.");
  }
}
