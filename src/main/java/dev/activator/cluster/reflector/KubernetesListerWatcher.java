package dev.activator.cluster.reflector;

import dev.activator.cluster.decode.ApiMessages;
import dev.activator.cluster.decode.Decoded;
import dev.activator.cluster.decode.ApiMessages.Page;
import dev.activator.cluster.decode.ApiMessages.WatchEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Lists and watches objects of a query in pages and streams, over HTTP. */
final class KubernetesListerWatcher<F> implements ListerWatcher<Decoded<F>> {
  private static final String PAGE = "500";
  /** As in client-go: a random five to ten minutes, so that watches do not all end at once. */
  private static final int LEAST_WATCH_SECONDS = 300;
  private static final int GRACE_SECONDS = 60;

  private final KubernetesApi api;
  private final ResourceQuery<F> query;
  private final RandomGenerator random;

  KubernetesListerWatcher(KubernetesApi api, ResourceQuery<F> query, RandomGenerator random) {
    this.api = api;
    this.query = query;
    this.random = random;
  }

  @Override
  public CompletableFuture<Page<Decoded<F>>> page(String next) {
    var parameters = new LinkedHashMap<>(Map.of("limit", PAGE));
    if (!next.isEmpty()) {
      parameters.put("continue", next);
    }
    return list(parameters);
  }

  @Override
  public CompletableFuture<Page<Decoded<F>>> unpaged() {
    return list(Map.of());
  }

  /** Lists without a resourceVersion, which gives the newest state, not a cached one. */
  private CompletableFuture<Page<Decoded<F>>> list(Map<String, String> parameters) {
    return api.get(query.path(parameters), api.requestTimeout(),
        parser -> ApiMessages.page(query.kind(), parser));
  }

  @Override
  public Watch watch(String resourceVersion, Watcher<Decoded<F>> watcher) {
    int seconds = LEAST_WATCH_SECONDS + random.nextInt(LEAST_WATCH_SECONDS);
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("watch", "true");
    parameters.put("allowWatchBookmarks", "true");
    parameters.put("resourceVersion", resourceVersion);
    parameters.put("timeoutSeconds", Integer.toString(seconds));
    var stream = api.stream(query.path(parameters), Duration.ofSeconds(seconds + GRACE_SECONDS),
        new Decoder(watcher));
    return stream::close;
  }

  /** Decodes where it reads; calls the watcher once a chunk. */
  private final class Decoder implements KubernetesApi.StreamListener {
    private final Watcher<Decoded<F>> watcher;
    private List<WatchEvent<Decoded<F>>> events = new ArrayList<>();

    Decoder(Watcher<Decoded<F>> watcher) {
      this.watcher = watcher;
    }

    @Override
    public void opened() {
      watcher.opened();
    }

    @Override
    public void accept(byte[] bytes, int from, int length) {
      if (length > 0) {
        events.add(ApiMessages.event(query.kind(), () -> api.parser(bytes, from, length)));
      }
    }

    @Override
    public void chunkRead(Runnable more) {
      if (events.isEmpty()) {
        more.run();
      } else {
        var batch = events;
        events = new ArrayList<>();
        watcher.events(batch, more);
      }
    }

    @Override
    public void ended(@Nullable Throwable failure) {
      // Delivers what was decoded before the failure.
      chunkRead(() -> {
      });
      watcher.ended(failure);
    }
  }
}
