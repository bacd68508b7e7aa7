package dev.activator.ext.console;

import dev.activator.platform.RevisionDetailsSource.EventLine;
import dev.activator.kube.reflector.KubernetesApiException;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads Events for the console's pages. Results are cached for ten seconds, and a refusal for five
 * minutes.
 *
 * <p><b>Threads.</b> Any; no call blocks.
 *
 * <p><b>Errors.</b> Each failure is an {@link Answer}.
 */
public final class EventFetcher {
  public static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final Duration FRESH = Duration.ofSeconds(10);
  private static final Duration REFUSED = Duration.ofMinutes(5);
  private static final int MAX_EVENTS = 20;
  private static final int MAX_CACHED = 100;
  private static final int PAGE = 500;
  /** The limit of pages of each list, since a namespace may have very many Events about Pods. */
  private static final int MAX_PAGES = 4;
  private static final int FORBIDDEN = 403;
  /**
   * The characters of generated suffixes. They include no vowels, so a Job "web-migrate" does not
   * match.
   */
  private static final String RANDOM = "[bcdfghjklmnpqrstvwxz2456789]";

  private final Supplier<@Nullable KubernetesApiClient> api;
  private final LongSupplier nanoTime;
  private final Duration timeout;
  private final Map<Objects, Kept> kept = new HashMap<>();
  private final Map<String, Long> refusedAt = new HashMap<>();

  /**
   * The objects whose Events are read.
   *
   * @param names the names of objects of any kind
   * @param workload a workload whose ReplicaSets and Pods are included
   */
  public record Objects(String namespace, Set<String> names, String workload) {
    public Objects {
      names = Set.copyOf(names);
    }

    /** Matches the names that controllers generate for the workload's ReplicaSets and Pods. */
    private Pattern made() {
      var name = Pattern.quote(workload);
      return Pattern
          .compile(name + "-(" + RANDOM + "{5,10}(-" + RANDOM + "{5})?|\\d{1,5})");
    }
  }

  public sealed interface Answer {
    /** @param events sorted, the newest first */
    record Read(List<EventLine> events) implements Answer {}

    record Forbidden() implements Answer {}

    record Failed(String why) implements Answer {}
  }

  private record Kept(long nanos, CompletableFuture<Answer> answer) {}

  public EventFetcher(Supplier<@Nullable KubernetesApiClient> api, LongSupplier nanoTime,
      Duration timeout) {
    this.api = api;
    this.nanoTime = nanoTime;
    this.timeout = timeout;
  }

  public synchronized CompletableFuture<Answer> read(Objects what) {
    long now = nanoTime.getAsLong();
    var refused = refusedAt.get(what.namespace);
    if (refused != null && now - refused < REFUSED.toNanos()) {
      return CompletableFuture.completedFuture(new Answer.Forbidden());
    }
    kept.values().removeIf(each -> now - each.nanos >= FRESH.toNanos());
    var known = kept.get(what);
    if (known != null) {
      return known.answer;
    }
    var answer = request(what);
    if (kept.size() < MAX_CACHED) {
      kept.put(what, new Kept(now, answer));
    }
    return answer.thenApply(got -> note(what.namespace, got));
  }

  private synchronized Answer note(String namespace, Answer answer) {
    if (answer instanceof Answer.Forbidden) {
      long now = nanoTime.getAsLong();
      refusedAt.values().removeIf(at -> now - at >= REFUSED.toNanos());
      refusedAt.put(namespace, now);
    } else {
      refusedAt.remove(namespace);
    }
    return answer;
  }

  private CompletableFuture<Answer> request(Objects what) {
    var open = api.get();
    if (open == null) {
      return CompletableFuture.completedFuture(new Answer.Failed("not connected"));
    }
    var made = what.made();
    var lists = Stream.concat(
        what.names.stream().sorted().map(name -> list(open, what, "involvedObject.name=" + name)),
        Stream.of("ReplicaSet", "Pod").map(kind -> list(open, what, "involvedObject.kind=" + kind)
            .thenApply(all -> all.stream()
                .filter(each -> made.matcher(each.about().substring(kind.length() + 1)).matches())
                .toList())))
        .toList();
    return CompletableFuture.allOf(lists.toArray(CompletableFuture<?>[]::new))
        .<Answer>thenApply(_ -> new Answer.Read(lists.stream()
            .flatMap(list -> list.join().stream()).distinct()
            .sorted(Comparator.comparing(EventLine::when).reversed()).limit(MAX_EVENTS).toList()))
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(EventFetcher::failed);
  }

  private static Answer failed(Throwable failure) {
    var cause = failure.getCause() == null ? failure : failure.getCause();
    if (cause instanceof KubernetesApiException refusal) {
      return refusal.status() == FORBIDDEN
          ? new Answer.Forbidden()
          : new Answer.Failed(String.valueOf(refusal.getMessage()));
    }
    return new Answer.Failed("no answer from the Kubernetes API");
  }

  private CompletableFuture<List<EventLine>> list(KubernetesApiClient open, Objects what,
      String selector) {
    return pages(open, "api/v1/namespaces/" + what.namespace + "/events?limit=" + PAGE
        + "&fieldSelector=" + encoded(selector), "", 1, new ArrayList<>());
  }

  private CompletableFuture<List<EventLine>> pages(KubernetesApiClient open, String path,
      String next,
      int page, List<EventLine> found) {
    return open.fetch(path + next, timeout).thenCompose(answer -> {
      var list = list(answer);
      list.path("items").values().forEach(event -> found.add(EventLine.of(event)));
      var more = list.at("/metadata/continue").asString("");
      return more.isEmpty() || page == MAX_PAGES
          ? CompletableFuture.completedFuture(found)
          : pages(open, path, "&continue=" + encoded(more), page + 1, found);
    });
  }

  private static JsonNode list(ApiAnswer answer) {
    if (answer.status() != 200) {
      throw new KubernetesApiException(answer.status(), Duration.ZERO);
    }
    // The mapper is not a constant, so that a start does not load data binding.
    return JsonMapper.shared().readTree(answer.body());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
