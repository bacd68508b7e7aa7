package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Lists and watches the objects of a query through the Kubernetes API, in pages and streams. */
final class KubernetesListerWatcher<F> implements ListerWatcher<ObjectDecodeResult<F>> {
  private static final String PAGE = "500";
  /**
   * The shortest time of a watch. As in client-go, it is a random time from five to ten minutes, so
   * that watches do not all end at once.
   */
  private static final int LEAST_WATCH_SECONDS = 300;
  private static final int GRACE_SECONDS = 60;

  private final KubernetesApiClient api;
  private final InformerQuery<F> query;
  private final RandomGenerator random;

  KubernetesListerWatcher(KubernetesApiClient api, InformerQuery<F> query, RandomGenerator random) {
    this.api = api;
    this.query = query;
    this.random = random;
  }

  @Override
  public CompletableFuture<Page<ObjectDecodeResult<F>>> page(String next) {
    var parameters = new LinkedHashMap<>(Map.of("limit", PAGE));
    if (!next.isEmpty()) {
      parameters.put("continue", next);
    }
    return list(parameters);
  }

  @Override
  public CompletableFuture<Page<ObjectDecodeResult<F>>> unpaged() {
    return list(Map.of());
  }

  /** Lists without a resourceVersion, which returns the newest state instead of a cached one. */
  private CompletableFuture<Page<ObjectDecodeResult<F>>> list(Map<String, String> parameters) {
    return api.get(query.path(parameters), api.requestTimeout(),
        parser -> ListWatchParser.page(query.kind(), parser));
  }

  @Override
  public Watch watch(String resourceVersion, Watcher<ObjectDecodeResult<F>> watcher) {
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

  /** Decodes events on the thread that reads them, and calls the watcher once for each chunk. */
  private final class Decoder implements LineStream.Listener {
    private final Watcher<ObjectDecodeResult<F>> watcher;
    private List<WatchEvent<ObjectDecodeResult<F>>> events = new ArrayList<>();

    Decoder(Watcher<ObjectDecodeResult<F>> watcher) {
      this.watcher = watcher;
    }

    @Override
    public void opened() {
      watcher.opened();
    }

    @Override
    public void line(byte[] bytes, int from, int length) {
      if (length > 0) {
        events.add(ListWatchParser.event(query.kind(), () -> api.parser(bytes, from, length)));
      }
    }

    @Override
    public void chunkRead(Runnable handled) {
      if (events.isEmpty()) {
        handled.run();
      } else {
        var batch = events;
        events = new ArrayList<>();
        watcher.events(batch, handled);
      }
    }

    @Override
    public void ended(@Nullable Throwable failure) {
      // The events that were decoded before the failure are delivered first.
      chunkRead(() -> {
      });
      watcher.ended(failure);
    }
  }
}
