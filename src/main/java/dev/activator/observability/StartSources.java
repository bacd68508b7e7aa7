package dev.activator.observability;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What other stages know of a start.
 *
 * <p><b>Threads.</b> Any.
 */
public interface StartSources {
  StartSources NONE = new StartSources() {
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
