package dev.activator.ext.actuators;

import dev.activator.ext.actuators.policy.WakeState;
import dev.activator.ext.actuators.policy.WakeState.Phase;
import dev.activator.http.UrlCaller;
import dev.activator.http.UrlCaller.Outcome;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.platform.StatusField;
import dev.activator.platform.StatusField.Stored;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleClient;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Objects;
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
  private static final JsonMapper JSON = new JsonMapper();

  private final Collection<HttpUrl> prefixes;
  private final InstantSource clock;
  private final StatusField<WakeState> states;
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
    this.states = StatusField.of(api, "wake", UrlClient::parse, UrlClient::format);
    this.headers = new SecretHeaderReader(api, timeout);
    this.urls = urls;
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, HttpTarget target) {
    var refused = refusal(target);
    return refused != null
        ? CompletableFuture.completedFuture(refused)
        : states.get(id).thenApply(stored -> stored.refusal() != null
            ? stored.refusal()
            : state(stored).result(version(stored), clock.instant()));
  }

  private static WakeState parse(JsonNode field) {
    return WakeState.of(field.path("state").asString(""), field.path("since").asString(""));
  }

  private static JsonNode format(WakeState state) {
    return JSON.createObjectNode().put("state", state.phase().text())
        .put("since", state.since().toString());
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
      case SecretHeaderReader.Result.Values(var fields) -> begin(id, read, starts)
          .thenCompose(before -> before.refusal() != null
              ? CompletableFuture.completedFuture(before.refusal())
              : urls.call(call.method(), call.url(), fields, target.timeout(), 0)
                  .thenCompose(outcome -> called(id, before, call, starts, outcome)));
    });
  }

  /** Stores that the call may have been sent, unless another leader has called since. */
  private CompletableFuture<Stored<WakeState>> begin(RevisionId id, Found read, boolean starts) {
    return states.get(id).thenCompose(stored -> {
      if (stored.refusal() != null) {
        return CompletableFuture.completedFuture(stored);
      }
      return version(stored).equals(read.resourceVersion())
          ? states.replace(id, stored, now(starts ? Phase.STARTING : Phase.STOPPING))
          : CompletableFuture.completedFuture(Stored.refused(new Refused(Reason.CONFLICT,
              "cannot " + (starts ? "start" : "stop") + ": its status.wake has changed")));
    });
  }

  private WakeState now(Phase phase) {
    return new WakeState(phase, clock.instant().truncatedTo(ChronoUnit.MILLIS));
  }

  private CompletableFuture<ScaleApiResult> called(RevisionId id, Stored<WakeState> before,
      HttpTarget.Call call, boolean starts, Outcome outcome) {
    int replicas = starts ? 1 : 0;
    return switch (outcome) {
      case Outcome.Answered(var status, _, _) when status / 100 == 2 -> states
          .replace(id, before, now(starts ? Phase.RUNNING : Phase.STOPPED))
          .thenApply(after -> after.refusal() != null
              ? after.refusal()
              : new Found(replicas, replicas, version(after)));
      case Outcome.Answered(var status, var retryAfter, _) -> CompletableFuture
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

  private static WakeState state(Stored<WakeState> stored) {
    return Objects.requireNonNull(stored.value());
  }

  /** Does not change with the rest of the status. */
  private static String version(Stored<WakeState> stored) {
    return stored.uid() + state(stored);
  }
}
