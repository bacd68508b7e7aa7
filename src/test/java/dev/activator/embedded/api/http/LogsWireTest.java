package dev.activator.embedded.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ContainerLog;
import dev.activator.testing.EmbeddedApi;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What pods print, over HTTP. */
class LogsWireTest {
  private final EmbeddedApi api = EmbeddedApi.start();
  private final HttpClient http = HttpClient.newHttpClient();
  private final Instant now = api.store().now();
  private ContainerLog log;

  @BeforeEach
  void aPodThatPrintedThreeLines() {
    api.store().create(BuiltInKinds.POD, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'p'}, 'spec': {'containers': [{'name': 'c'}]},
         'status': {}}"""));
    log = api.store().podLogs().begin("default", "p");
    log.append(now.minusSeconds(3600), "old");
    log.append(now, "zwei €");
    log.append(now, "three");
  }

  @AfterEach
  void stop() {
    http.shutdownNow();
    api.close();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {"'' | old,zwei €,three", "tailLines=2 | zwei €,three",
      "tailLines=0 | ''", "tailLines=9 | old,zwei €,three", "sinceSeconds=600 | zwei €,three",
      "sinceSeconds=600&tailLines=1 | three", "limitBytes=6 | old,zw",
      "container=c | old,zwei €,three"})
  void answersTheRequestedLines(String query, String lines) throws Exception {
    var answer = get(query);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/plain");
    assertThat(answer.body().strip().replace('\n', ',')).isEqualTo(lines);
  }

  @Test
  void putsTheTimeBeforeEachLineOnRequest() throws Exception {
    assertThat(get("timestamps=true&tailLines=1").body()).isEqualTo(now + " three\n");
  }

  @Test
  void followsARunUntilItEnds() throws Exception {
    var answer = http.send(request("follow=true&tailLines=1"), BodyHandlers.ofInputStream());
    try (var lines = new BufferedReader(new InputStreamReader(answer.body()))) {
      assertThat(lines.readLine()).isEqualTo("three");
      log.append(now, "four");
      assertThat(lines.readLine()).isEqualTo("four");
      log.append(now, "five");
      log.end();
      assertThat(lines.readLine()).isEqualTo("five");
      assertThat(lines.readLine()).isNull();
    }
  }

  @Test
  void answersTheRunBeforeTheLastStart() throws Exception {
    api.store().podLogs().begin("default", "p").append(now, "again");

    assertThat(get("").body()).isEqualTo("again\n");
    assertThat(get("previous=true&tailLines=1").body()).isEqualTo("three\n");
  }

  /** Reads the pod before its log. Other clients wait until a pod is gone. */
  @Test
  void kubectlLogsReadsAPodThatIsGone() throws Exception {
    var pod = api.store().find(BuiltInKinds.POD, "default", "p");
    api.store().delete(BuiltInKinds.POD, "default", "p");
    api.store().podLogs().end("default", "p", pod);

    var read = HttpRequest.newBuilder(URI.create(api.url() + "/api/v1/namespaces/default/pods/p"));
    assertThat(http.send(read.build(), BodyHandlers.ofString()).statusCode()).isEqualTo(404);
    var kubectl = read.header("Kubectl-Command", "kubectl logs").build();
    assertThat(http.send(kubectl, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    assertThat(get("tailLines=1").body()).isEqualTo("three\n");

    api.store().podLogs().forget("default", "p");
    assertThat(http.send(kubectl, BodyHandlers.ofString()).statusCode()).isEqualTo(404);
    assertThat(get("tailLines=1").statusCode()).isEqualTo(404);
  }

  @ParameterizedTest(name = "{0}?{1}: {2} {3}")
  @CsvSource(delimiter = '|', value = {
      "p | previous=true | 400 | previous terminated container \"c\" in pod \"p\" not found",
      "p | container=x | 400 | container x is not valid for pod p",
      "p | tailLines=x | 400 | the parameter 'tailLines' is not a number: \"x\"",
      "p | sinceSeconds=0 | 422 | sinceSeconds: Invalid value: 0: must be greater than or equal to 1",
      "p | sinceTime=noon | 400 | the parameter 'sinceTime' is not a time: \"noon\"",
      "q | '' | 404 | pods \"q\" not found",
      "r | '' | 400 | container \"c\" in pod \"r\" is waiting to start: ErrImagePull"})
  void refusesWithAReason(String pod, String query, int code, String message) throws Exception {
    api.store().create(BuiltInKinds.POD, Objects.parse(
        """
            {'metadata': {'namespace': 'default', 'name': 'r'}, 'spec': {'containers': [{'name': 'c'}]},
             'status': {'containerStatuses': [{'state': {'waiting': {'reason': 'ErrImagePull'}}}]}}"""));

    var answer = http.send(request(pod, query), BodyHandlers.ofString());

    assertThat(answer.statusCode()).isEqualTo(code);
    assertThat(Json.MAPPER.readTree(answer.body()).path("message").asString())
        .isEqualTo(message);
  }

  @Test
  void keepsTheNewestLinesAndNotMoreThanItsBounds() {
    var bounded = new ContainerLog();
    for (int i = 1; i <= 6_000; i++) {
      bounded.append(now, "line " + i);
    }
    assertThat(bounded.lines()).hasSize(5_000).last().extracting(ContainerLog.Line::text)
        .isEqualTo("line 6000");
    bounded.append(now, "x".repeat(512 * 1024));
    assertThat(bounded.lines()).hasSize(1);
  }

  private HttpResponse<String> get(String query) throws Exception {
    return http.send(request(query), BodyHandlers.ofString());
  }

  private HttpRequest request(String query) {
    return request("p", query);
  }

  private HttpRequest request(String pod, String query) {
    return HttpRequest.newBuilder(URI.create(
        api.url() + "/api/v1/namespaces/default/pods/" + pod + "/log?" + query))
        .timeout(Duration.ofSeconds(120)).build();
  }
}
