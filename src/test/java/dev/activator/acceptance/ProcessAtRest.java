package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.regex.Pattern;

/** The gauges of a packaged process that must be zero when its callers are gone. */
final class ProcessAtRest {
  private static final Pattern GAUGES = Pattern
      .compile("(activator_queue_depth|activator_held_memory"
          + "|activator_unread_memory|activator_informer_queued|kn_revision_request_queued"
          + "|kn_revision_request_active).*");

  private ProcessAtRest() {}

  /** @param port for operators; one that shows no metrics is not checked */
  static void check(int port) throws IOException, InterruptedException {
    try (var http = HttpClient.newHttpClient()) {
      var metrics = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
          .build();
      if (http.send(metrics, BodyHandlers.discarding()).statusCode() == 200) {
        await().untilAsserted(() -> assertThat(left(http.send(metrics, BodyHandlers.ofString())
            .body())).as("what the process still counts").isEmpty());
      }
    }
  }

  static List<String> left(String metrics) {
    return metrics.lines().filter(line -> GAUGES.matcher(line).matches())
        .filter(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))) != 0).toList();
  }
}
