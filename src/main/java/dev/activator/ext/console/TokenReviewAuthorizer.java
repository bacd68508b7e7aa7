package dev.activator.ext.console;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.loop.policy.RateLimit;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checks with the Kubernetes API whether the bearer of a token may get a non-resource URL: with a
 * TokenReview, then a SubjectAccessReview. A permission is cached for half a minute, a refusal for
 * five seconds.
 *
 * <p><b>Threads.</b> Any; no call blocks.
 *
 * <p><b>Errors.</b> Each failure is an {@link Answer}.
 *
 * <p><b>Source.</b> {@code WithAuthenticationAndAuthorization} of controller-runtime's metrics
 * server.
 */
public final class TokenReviewAuthorizer {
  public static final Duration TIMEOUT = Duration.ofSeconds(5);
  static final Duration ALLOWED = Duration.ofSeconds(30);
  static final Duration REFUSED = Duration.ofSeconds(5);
  private static final int MAX_CACHED = 1000;
  /**
   * The limit of reviews. It is necessary because anyone who reaches the port can cause requests to
   * the API.
   */
  private static final int REVIEWS_A_SECOND = 10;
  static final int BURST = 50;
  private static final int CREATED = 201;
  private static final int OK = 200;
  private static final String JSON = "application/json";
  private static final String REVIEWS = "apis/authentication.k8s.io/v1/tokenreviews";
  private static final String ACCESS = "apis/authorization.k8s.io/v1/subjectaccessreviews";

  private final Supplier<@Nullable KubernetesApiClient> api;
  private final String url;
  private final LongSupplier nanoTime;
  private final Duration timeout;
  private final RateLimit rate;
  /** The cached answers by the hash of the token, the oldest first. */
  private final LinkedHashMap<String, Kept> kept = new LinkedHashMap<>();

  public sealed interface Answer {
    record Allowed(String user) implements Answer {}

    /** The token does not belong to this cluster. */
    record Unauthenticated() implements Answer {}

    record Forbidden(String user) implements Answer {}

    /** Too many tokens have been checked in the last second. */
    record Busy() implements Answer {}

    record Failed(String why) implements Answer {}
  }

  private record Kept(long nanos, CompletableFuture<Answer> answer) {
    boolean isFresh(long now) {
      var known = answer.getNow(new Answer.Busy());
      var limit = switch (known) {
        case Answer.Failed _ -> Duration.ZERO;
        case Answer.Allowed _ -> ALLOWED;
        // Here, Busy means that the review is not answered yet. It will be within the timeout.
        case Answer.Busy _ -> ALLOWED;
        case Answer.Unauthenticated _,Answer.Forbidden _ -> REFUSED;
      };
      return now - nanos < limit.toNanos();
    }
  }

  public TokenReviewAuthorizer(Supplier<@Nullable KubernetesApiClient> api, String url,
      LongSupplier nanoTime, Duration timeout) {
    this.api = api;
    this.url = url;
    this.nanoTime = nanoTime;
    this.timeout = timeout;
    this.rate = RateLimit.withBurst(REVIEWS_A_SECOND, BURST, nanoTime.getAsLong());
  }

  public synchronized CompletableFuture<Answer> check(String token) {
    long now = nanoTime.getAsLong();
    var hash = hash(token);
    var known = kept.get(hash);
    if (known != null && known.isFresh(now)) {
      return known.answer;
    }
    if (!rate.tryTake(now)) {
      return CompletableFuture.completedFuture(new Answer.Busy());
    }
    var answer = review(token);
    kept.remove(hash);
    kept.put(hash, new Kept(now, answer));
    if (kept.size() > MAX_CACHED) {
      kept.pollFirstEntry();
    }
    return answer;
  }

  /** The hash of a token. The cache has hashes, so that no token stays in memory. */
  private static String hash(String token) {
    try {
      return HexFormat.of().formatHex(
          MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private CompletableFuture<Answer> review(String token) {
    var open = api.get();
    if (open == null) {
      return CompletableFuture.completedFuture(new Answer.Failed("not connected"));
    }
    var review = JsonMapper.shared().createObjectNode()
        .put("apiVersion", "authentication.k8s.io/v1").put("kind", "TokenReview");
    review.putObject("spec").put("token", token);
    return open.send("POST", REVIEWS, JSON, review.toString(), timeout)
        .thenCompose(answer -> reviewed(open, answer)).exceptionally(TokenReviewAuthorizer::failed);
  }

  private CompletableFuture<Answer> reviewed(KubernetesApiClient open, ApiAnswer answer) {
    if (!isAnswered(answer)) {
      return CompletableFuture.completedFuture(refused("tokenreviews", answer));
    }
    var status = JsonMapper.shared().readTree(answer.body()).path("status");
    var user = status.path("user");
    if (!status.path("authenticated").asBoolean(false) || name(user).isEmpty()) {
      return CompletableFuture.completedFuture(new Answer.Unauthenticated());
    }
    return open.send("POST", ACCESS, JSON, access(user), timeout)
        .thenApply(access -> decided(name(user), access));
  }

  private String access(JsonNode user) {
    var review = JsonMapper.shared().createObjectNode()
        .put("apiVersion", "authorization.k8s.io/v1").put("kind", "SubjectAccessReview");
    var spec = review.putObject("spec").put("user", name(user));
    for (var field : new String[]{"uid", "groups", "extra"}) {
      if (user.has(field)) {
        spec.set(field, user.get(field));
      }
    }
    spec.putObject("nonResourceAttributes").put("path", url).put("verb", "get");
    return review.toString();
  }

  private static Answer decided(String user, ApiAnswer answer) {
    if (!isAnswered(answer)) {
      return refused("subjectaccessreviews", answer);
    }
    return JsonMapper.shared().readTree(answer.body()).at("/status/allowed").asBoolean(false)
        ? new Answer.Allowed(user)
        : new Answer.Forbidden(user);
  }

  private static boolean isAnswered(ApiAnswer answer) {
    return answer.status() == CREATED || answer.status() == OK;
  }

  private static Answer refused(String resource, ApiAnswer answer) {
    return new Answer.Failed("creating " + resource + " was answered with " + answer.status()
        + (answer.message().isEmpty() ? "" : ": " + answer.message()));
  }

  private static Answer failed(Throwable failure) {
    var cause = failure.getCause() == null ? failure : failure.getCause();
    return new Answer.Failed(cause instanceof JacksonException
        ? "the answer of the Kubernetes API cannot be read"
        : "no answer from the Kubernetes API");
  }

  private static String name(JsonNode user) {
    return user.path("username").asString("");
  }
}
