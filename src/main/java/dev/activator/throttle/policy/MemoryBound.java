package dev.activator.throttle.policy;

/**
 * How many bytes of requests may be held, and how many of them for one revision: as many as it
 * leaves free. So one alone may hold half of it, a second one a half of the rest, and there is always
 * room for another. Whatever others hold, a small part is each revision's own, and what came before
 * that was known is kept: the bound is passed by these two.
 *
 * <p>
 * <b>Source.</b> The dynamic threshold of shared buffers: Choudhury and Hahne, "Dynamic queue length
 * thresholds for shared-memory packet switches" (1998).
 *
 * @param bytes that all requests may hold; more than 0
 */
public record MemoryBound(long bytes) {
  /** Of these parts one is a revision's own. */
  static final int PARTS = 256;

  /**
   * Whether no further request may be queued.
   *
   * @param all what all requests hold
   * @param ofRevision what those of this revision that wait do
   */
  public boolean isFull(long all, long ofRevision) {
    return ofRevision > Math.max(bytes - all, bytes / PARTS);
  }

  /**
   * Whether bodies of requests that wait are left unread: they wait in the kernel, or at their
   * callers. For them there is half of the bound, to be shared in the same way.
   */
  public boolean leavesBodiesUnread(long all, long ofRevision) {
    return isTight(all) || ofRevision > bytes / 2 - all;
  }

  /** Whether half of the bound is used: no more than needed should be read of any body. */
  public boolean isTight(long all) {
    return all >= bytes / 2;
  }
}
