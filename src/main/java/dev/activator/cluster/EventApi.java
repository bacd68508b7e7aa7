package dev.activator.cluster;

import dev.activator.cluster.reflector.KubernetesApi;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** Writes Events about revisions; one that cannot be written is logged. */
public final class EventApi {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final JsonMapper JSON = new JsonMapper();
  private static final Logger log = LoggerFactory.getLogger(EventApi.class);

  private final KubernetesApi api;
  private final InstantSource clock;

  EventApi(KubernetesApi api, InstantSource clock) {
    this.api = api;
    this.clock = clock;
  }

  public void write(RevisionId revision, boolean warning, String reason, String message) {
    var now = clock.instant();
    var time = now.truncatedTo(ChronoUnit.SECONDS).toString();
    var event = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Event");
    event.putObject("metadata").put("namespace", revision.namespace()).put("name",
        revision.name() + "." + Long.toHexString(now.toEpochMilli()));
    event.putObject("involvedObject").put("apiVersion", "serving.knative.dev/v1")
        .put("kind", "Revision").put("namespace", revision.namespace())
        .put("name", revision.name());
    event.put("type", warning ? "Warning" : "Normal").put("reason", reason)
        .put("message", message).put("count", 1).put("firstTimestamp", time)
        .put("lastTimestamp", time);
    event.putObject("source").put("component", "activator");
    var _ = api.send("POST", "api/v1/namespaces/" + revision.namespace() + "/events",
        "application/json", event.toString(), TIMEOUT).whenComplete((answer, failure) -> {
          if (answer == null || answer.status() >= 300) {
            log.warn("An Event of {} is lost: {} ({})", revision, message,
                answer == null ? "no answer" : answer.status() + " " + answer.message());
          }
        });
  }
}
