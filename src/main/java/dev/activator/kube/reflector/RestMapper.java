package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser;
import dev.activator.kube.decode.ListWatchParser.ServedResource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;

/**
 * Finds the API path of a kind by discovery, instead of guessing its plural.
 *
 * <p><b>Threads.</b> Any.
 */
public final class RestMapper {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int NOT_FOUND = 404;
  /**
   * The valid form of an apiVersion. It is checked because users write it, and it becomes part of a
   * path.
   */
  private static final Pattern VERSION = Pattern.compile("([a-z0-9.-]+/)?v[a-z0-9]+");

  private RestMapper() {}

  public sealed interface Served {
    /**
     * @param groupPath a path without slashes at its ends, such as {@code apis/apps/v1}
     * @param isScalable whether the kind has a {@code scale} subresource
     */
    record Here(String groupPath, String plural, boolean isNamespaced,
        boolean isScalable) implements Served {}

    /** The API does not serve the version, or it has no such kind. */
    record NotServed() implements Served {}
  }

  /** The path of an apiVersion, such as {@code apis/apps/v1}, or {@code api/v1}. */
  public static String groupPath(String apiVersion) {
    return (apiVersion.contains("/") ? "apis/" : "api/") + apiVersion;
  }

  /** Finds a kind in the API. Fails if the API does not answer. Results are not cached. */
  public static CompletableFuture<Served> find(KubernetesApiClient api, String apiVersion,
      String kind) {
    if (!VERSION.matcher(apiVersion).matches()) {
      return CompletableFuture.completedFuture(new Served.NotServed());
    }
    var groupPath = groupPath(apiVersion);
    return api.get(groupPath, TIMEOUT, ListWatchParser::resources)
        .thenApply(all -> served(groupPath, kind, all)).exceptionally(failure -> {
          if (failure.getCause() instanceof KubernetesApiException answer
              && answer.status() == NOT_FOUND) {
            return new Served.NotServed();
          }
          throw new CompletionException(failure.getCause());
        });
  }

  private static Served served(String groupPath, String kind, List<ServedResource> all) {
    return all.stream().filter(one -> one.kind().equals(kind) && !one.plural().contains("/"))
        .findFirst().<Served>map(found -> new Served.Here(groupPath, found.plural(),
            found.isNamespaced(),
            all.stream().anyMatch(one -> one.plural().equals(found.plural() + "/scale"))))
        .orElseGet(Served.NotServed::new);
  }
}
