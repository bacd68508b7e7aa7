package dev.activator.standalone.policy;

import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Set;

/**
 * Which workloads may not run while another one does, because they share an accelerator.
 *
 * @param with the ScaledServices of the same namespace that this one names. A conflict is mutual,
 *     whichever of the two names the other
 * @param yieldAfter how long it runs, once it is ready, while requests for one of them wait
 * @param wasStopping whether the previous leader has published that this one stops
 */
public record ConflictSpec(Set<RevisionId> with, Duration yieldAfter, boolean wasStopping) {
  public static final Duration DEFAULT_YIELD_AFTER = Duration.ofSeconds(60);
  public static final ConflictSpec NONE = new ConflictSpec(Set.of(), DEFAULT_YIELD_AFTER);

  public ConflictSpec {
    with = Set.copyOf(with);
  }

  public ConflictSpec(Set<RevisionId> with, Duration yieldAfter) {
    this(with, yieldAfter, false);
  }

  public ConflictSpec published(boolean stopping) {
    return new ConflictSpec(with, yieldAfter, stopping);
  }
}
