package dev.activator.ext.coldstarts;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Supplies two durations for the records of cold starts: how long ago a revision was scaled from
 * zero, and for how long a pod has accepted connections.
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

  /** How long ago this process scaled the revision from zero; null if it did not. */
  @Nullable Duration scaledFromZero(RevisionId id);

  /** For how long a pod has accepted connections; null if it does not. */
  @Nullable Duration accepts(RevisionId id, Destination pod);
}
