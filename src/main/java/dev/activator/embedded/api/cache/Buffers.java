package dev.activator.embedded.api.cache;

/**
 * How many events may wait for one watcher: about those of a second, within bounds.
 *
 * <p>
 * <b>Source.</b> {@code suggestedWatchChannelSize} in {@code cacher/watch_cache.go} of Kubernetes'
 * apiserver.
 *
 * @param smallest for all
 * @param largest where the kind has no index
 * @param triggered where an index finds the watcher: few events are for it
 * @param untriggered largest where the kind has an index, but it does not help this watcher
 */
public record Buffers(int smallest, int largest, int triggered, int untriggered) {
  public static final Buffers DEFAULT = new Buffers(10, 100, 10, 1_000);

  /** How long a full window lasts, about, when it is as large as it needs to be. */
  private static final int WINDOW_SECONDS = 75;

  /** Whether an index finds a watcher. */
  enum Trigger {
    NO_INDEX, USED, UNUSED
  }

  /** How many, while the window has room for so many. */
  int size(int window, Trigger trigger) {
    int most = switch (trigger) {
      case NO_INDEX -> largest;
      case USED -> triggered;
      case UNUSED -> untriggered;
    };
    return Math.clamp(Math.ceilDiv(window, WINDOW_SECONDS), Math.min(smallest, most), most);
  }
}
