package dev.activator.ext.actuators;

import dev.activator.ext.actuators.UrlCaller.Outcome;
import dev.activator.ext.actuators.policy.WakeState;
import dev.activator.ext.actuators.policy.WakeState.Phase;
import dev.activator.kube.NamedObjectClient;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import okhttp3.HttpUrl;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Starts and stops by requests to URLs. What was last done is in the status of the ScaledService:
 * it is written before and after each call, and only if it is what was read, so that a leader that
 * was replaced sends no call.
 */
final class UrlClient implements ScaleClient<HttpTarget> {
  /** The status has other writers, too. */
  private static final int MAX_TRIES = 5;
  private static final JsonMapper JSON = new JsonMapper();

  private final Collection<HttpUrl> prefixes;
  private final InstantSource clock;
  private final NamedObjectClient statuses;
  private final SecretHeaderReader headers;
  private final UrlCaller urls;

  /**
   * @param timeout of each request to the Kubernetes API
   * @param prefixes of the URLs that may be called
   */
  UrlClient(Supplier<KubernetesApiClient> api, Duration timeout, Collection<HttpUrl> prefixes,
      UrlCaller urls, InstantSource clock) {
    this.prefixes = prefixes;
    this.clock = clock;
    this.statuses = new NamedObjectClient(api, timeout, "/status", _ -> null);
    this.headers = new SecretHeaderReader(api, timeout);
    this.urls = urls;
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, HttpTarget target) {
    var refused = refusal(target);
    return refused != null
        ? CompletableFuture.completedFuture(refused)
        : statuses.get(id.namespace(), object(id), (_, object) -> state(object)
            .result(version(object), clock.instant()));
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, HttpTarget target, Found read,
      int replicas) {
    var refused = refusal(target);
    if (refused != null) {
      return CompletableFuture.completedFuture(refused);
    }
    boolean starts = replicas > 0;
    var call = starts ? target.start() : target.stop();
    return headers.read(id.namespace(), call.headers()).thenCompose(values -> switch (values) {
      case SecretHeaderReader.Result.Missing(var why) -> CompletableFuture.completedFuture(why);
      case SecretHeaderReader.Result.Values(var fields) -> set(id, read.resourceVersion(),
          starts ? Phase.STARTING : Phase.STOPPING, MAX_TRIES)
          .thenCompose(before -> before instanceof Found found
              ? urls.call(call.method(), call.url(), fields, target.timeout())
                  .thenCompose(outcome -> called(id, found, call, starts, outcome))
              : CompletableFuture.completedFuture(before));
    });
  }

  private CompletableFuture<ScaleApiResult> called(RevisionId id, Found before,
      HttpTarget.Call call, boolean starts, Outcome outcome) {
    return switch (outcome) {
      case Outcome.Answered(var status, _) when status / 100 == 2 -> set(id,
          before.resourceVersion(), starts ? Phase.RUNNING : Phase.STOPPED, MAX_TRIES);
      case Outcome.Answered(var status, var retryAfter) -> CompletableFuture
          .completedFuture(new Refused(Reason.FAILED, "cannot " + (starts ? "start" : "stop")
              + ": " + call + " was answered with " + status
              + (status / 100 == 3 ? ", and redirects are not followed" : ""),
              retryAfter(retryAfter)));
      case Outcome.Failed(var why, boolean refused) -> CompletableFuture
          .completedFuture(new Refused(refused ? Reason.FORBIDDEN : Reason.FAILED,
              "cannot " + (starts ? "start" : "stop") + ": " + call + " failed: " + why));
    };
  }

  /** <b>Source.</b> RFC 9110, section 10.2.3: seconds, or a date. */
  private Duration retryAfter(String header) {
    if (header.matches("\\d{1,9}")) {
      return Duration.ofSeconds(Long.parseLong(header));
    }
    try {
      var pause = Duration.between(clock.instant(),
          DateTimeFormatter.RFC_1123_DATE_TIME.parse(header, Instant::from));
      return pause.isNegative() ? Duration.ZERO : pause;
    } catch (DateTimeParseException _) {
      return Duration.ZERO;
    }
  }

  /** Why the URLs may not be called; null if they may. */
  private @Nullable Refused refusal(HttpTarget target) {
    return Stream.of(target.start(), target.stop())
        .filter(call -> prefixes.stream().noneMatch(prefix -> WakeUrl.begins(prefix, call.url())))
        .findFirst().map(call -> new Refused(Reason.FORBIDDEN, call + " may not be sent by this"
            + " installation: the chart's standalone.wake.http.prefixes (activator.actuators.http)"
            + " has none that it begins with"))
        .orElse(null);
  }

  /**
   * Writes a state over the one that was read. The result's version is that of the new state, and
   * does not change with the rest of the status.
   */
  private CompletableFuture<ScaleApiResult> set(RevisionId id, String read, Phase phase,
      int tries) {
    var next = new WakeState(phase, clock.instant().truncatedTo(ChronoUnit.MILLIS));
    int replicas = phase == Phase.STARTING || phase == Phase.RUNNING ? 1 : 0;
    return statuses.get(id.namespace(), object(id), (what, object) -> version(object).equals(read)
        ? new Found(replicas, replicas, object.at("/metadata/resourceVersion").asString(""))
        : new Refused(Reason.CONFLICT, "cannot " + what + ": its status.wake has changed"))
        .thenCompose(found -> found instanceof Found(_, _, var resourceVersion)
            ? statuses.patch(id.namespace(), object(id), patch(resourceVersion, next),
                (what, stored) -> stored(what, stored, next, replicas))
                .thenCompose(result -> tries > 1 && result instanceof Refused refused
                    && refused.reason() == Reason.CONFLICT
                        ? set(id, read, phase, tries - 1)
                        : CompletableFuture.completedFuture(result))
            : CompletableFuture.completedFuture(found));
  }

  private static ScaleApiResult stored(String what, JsonNode object, WakeState next,
      int replicas) {
    return state(object).equals(next)
        ? new Found(replicas, replicas, version(object))
        : new Refused(Reason.INVALID, "cannot " + what + ": the CustomResourceDefinition of"
            + " ScaledServices has no status.wake, and is older than the activator");
  }

  private static JsonNode patch(String resourceVersion, WakeState next) {
    var patch = JSON.createObjectNode();
    patch.putObject("metadata").put("resourceVersion", resourceVersion);
    patch.putObject("status").putObject("wake").put("state", next.phase().text())
        .put("since", next.since().toString());
    return patch;
  }

  private static ScaleTargetRef object(RevisionId id) {
    return new ScaleTargetRef("activator.dev/v1alpha1", "ScaledService", id.name());
  }

  private static WakeState state(JsonNode object) {
    return WakeState.of(object.at("/status/wake/state").asString(""),
        object.at("/status/wake/since").asString(""));
  }

  private static String version(JsonNode object) {
    return object.at("/metadata/uid").asString("") + state(object);
  }
}
