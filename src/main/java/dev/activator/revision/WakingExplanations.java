package dev.activator.revision;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says which starts ahead of requests a revision has had, and which it causes.
 *
 * <p><b>Threads.</b> Any.
 */
@FunctionalInterface
public interface WakingExplanations {
  WakingExplanations NONE = _ -> null;

  /**
   * @param wokenBecause why the revision was last started ahead of its requests, as the end of a
   *     sentence that begins with "because"; null if it never was
   * @param wakes the names that start with it, each with a remark if there is no such revision
   */
  record Waking(@Nullable String wokenBecause, List<String> wakes) {}

  /** Null if there is nothing to say about the revision. */
  @Nullable Waking of(RevisionId revision);
}
