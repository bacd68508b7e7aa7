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
 */
public record ConflictSpec(Set<RevisionId> with, Duration yieldAfter) {
  public static final Duration DEFAULT_YIELD_AFTER = Duration.ofSeconds(60);
  public static final ConflictSpec NONE = new ConflictSpec(Set.of(), DEFAULT_YIELD_AFTER);

  public ConflictSpec {
    with = Set.copyOf(with);
  }
}
