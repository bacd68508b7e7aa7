package dev.activator.observability;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Supplies the record of a cold start with two durations: how long ago a revision was scaled from zero, and how long a pod has
 * accepted connections.
 *
 * <p><b>Threads.</b> Any.
 */
public interface ColdStartTimingSource {
  ColdStartTimingSource NONE = new ColdStartTimingSource() {
    @Override
    public @Nullable Duration scaledFromZero(RevisionId id) {
      return null;
    }

    @Override
    public @Nullable Duration accepts(RevisionId id, Destination pod) {
      return null;
    }
  };

  /** How long ago this process scaled it from zero; null if it did not. */
  @Nullable Duration scaledFromZero(RevisionId id);

  /** How long a pod has accepted connections; null if it does not. */
  @Nullable Duration accepts(RevisionId id, Destination pod);
}
