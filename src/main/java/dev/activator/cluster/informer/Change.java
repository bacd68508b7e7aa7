package dev.activator.cluster.informer;

import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Deleted;
import dev.activator.cluster.informer.Notification.FinalState;
import dev.activator.cluster.informer.Notification.Updated;
import org.jspecify.annotations.Nullable;

/**
 * One or more changes of a key in a row, as one.
 *
 * @param before what listeners were told last, which a deletion does not show; null for nothing
 * @param what the last of the changes, as told to one who heard of {@code before}
 */
public record Change<T>(@Nullable VersionedObject<T> before, Notification<T> what) {
  public String key() {
    return what.key();
  }

  /**
   * This one and then that one, for a listener that has heard of neither.
   *
   * @return null if there is nothing to tell any more: it came and went
   */
  @Nullable Change<T> then(Change<T> next) {
    return switch (next.what) {
      case Deleted<T>(var last, var finalState) -> gone(last, finalState);
      case Added<T>(var now, var moment) -> is(now, new Added<>(now, moment));
      case Updated<T>(_, var now) when what instanceof Added<T>(_, var moment) ->
        is(now, new Added<>(now, moment));
      case Updated<T>(_, var now) -> is(now, next.what);
    };
  }

  private Change<T> is(VersionedObject<T> now, Notification<T> ifNew) {
    return new Change<>(before, before == null ? ifNew : new Updated<>(before, now));
  }

  /** Whoever heard of another incarnation hears of the end of that one; nobody saw how it ended. */
  private @Nullable Change<T> gone(VersionedObject<T> last, FinalState finalState) {
    if (before == null) {
      return null;
    }
    return new Change<>(before, before.uid().equals(last.uid())
        ? new Deleted<>(last, finalState)
        : new Deleted<>(before, FinalState.UNKNOWN));
  }
}
