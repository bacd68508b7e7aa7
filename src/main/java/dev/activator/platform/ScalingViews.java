package dev.activator.platform;

import dev.activator.revision.RevisionId;
import dev.activator.revision.ScalingView;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the autoscaler in this process shows of its work. All is empty while another activator leads.
 *
 * <p><b>Threads.</b> Any.
 */
public interface ScalingViews {
  /** The current view of each workload. */
  Map<RevisionId, ScalingView> views();

  /** The current view of a workload, for a revision of any of its ports; null if there is none. */
  @Nullable ScalingView view(RevisionId id);

  /** How long ago this process scaled the workload from zero; null if it did not. */
  @Nullable Duration scaledFromZero(RevisionId id);
}
