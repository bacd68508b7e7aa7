package dev.activator.ext.actuators;

import dev.activator.ext.actuators.HttpTarget.SecretHeader;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Reads the values of headers from Secrets, again for each call. They are neither kept nor logged. */
record SecretHeaderReader(Supplier<KubernetesApiClient> api, Duration timeout) {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int OK = 200;
  private static final int MAX_LENGTH = 8_192;

  sealed interface Result {
    record Values(Map<String, String> fields) implements Result {
      /** Without the values. */
      @Override
      public String toString() {
        return fields.keySet().toString();
      }
    }

    record Missing(Refused why) implements Result {}
  }

  /** The result never fails. */
  CompletableFuture<Result> read(String namespace, List<SecretHeader> headers) {
    CompletableFuture<Result> all = CompletableFuture
        .completedFuture(new Result.Values(Map.of()));
    for (var header : headers) {
      all = all.thenCompose(before -> before instanceof Result.Values(var fields)
          ? one(namespace, header, fields)
          : CompletableFuture.completedFuture(before));
    }
    return all;
  }

  private CompletableFuture<Result> one(String namespace, SecretHeader header,
      Map<String, String> before) {
    var secret = "the Secret " + header.secret() + " in namespace " + namespace;
    return api.get()
        .fetch("api/v1/namespaces/" + namespace + "/secrets/" + header.secret(), timeout)
        .thenApply(answer -> answer.status() == OK
            ? with(secret, header, answer, before)
            : unread(secret, answer.status()))
        .exceptionally(_ -> missing(Reason.UNAVAILABLE, secret
            + " cannot be read: no answer from the Kubernetes API"));
  }

  private static Result with(String secret, SecretHeader header, ApiAnswer answer,
      Map<String, String> before) {
    var value = value(answer, header.key());
    if (value == null) {
      return missing(Reason.INVALID, secret + " has no key " + header.key()
          + " with a value that a header can have");
    }
    var fields = new HashMap<>(before);
    fields.put(header.name(), value);
    return new Result.Values(fields);
  }

  private static @Nullable String value(ApiAnswer answer, String key) {
    try {
      var data = JSON.readTree(answer.body()).path("data").path(key);
      if (!data.isString()) {
        return null;
      }
      // A file from which a Secret was made often ends with a line feed.
      var value = new String(Base64.getDecoder().decode(data.asString()),
          StandardCharsets.UTF_8).strip();
      return value.length() <= MAX_LENGTH && value.chars().allMatch(c -> c >= ' ' && c < 0x7f)
          ? value
          : null;
    } catch (JacksonException | IllegalArgumentException _) {
      return null;
    }
  }

  private static Result unread(String secret, int status) {
    return switch (status) {
      case 401, 403 -> missing(Reason.FORBIDDEN, secret + " may not be read: the chart's"
          + " standalone.wake.http.secrets does not name it");
      case 404 -> missing(Reason.INVALID, secret + " does not exist");
      default -> missing(Reason.UNAVAILABLE, secret + " cannot be read: " + status);
    };
  }

  private static Result missing(Reason reason, String message) {
    return new Result.Missing(new Refused(reason, "cannot send a header: " + message));
  }
}
