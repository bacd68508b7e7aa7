package dev.activator.proxy.exchange;

import dev.activator.revision.RevisionId;

/**
 * Says to callers why their requests wait.
 *
 * <p><b>Threads.</b> Any; it must not wait for a revision's loop.
 */
@FunctionalInterface
public interface WaitReasons {
  /** The reason as a sentence without a full stop and without addresses; empty if unknown. */
  String of(RevisionId id);
}
