package dev.activator.proxy.policy;

/**
 * How many bytes held requests may take: a revision's as many as are left free, so the first may hold half of the
 * bound, the second half of the rest. Exceeded only by each revision's small own part and by bytes that were read
 * already.
 *
 * <p><b>Source.</b> Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches" (1998).
 *
 * @param bytes more than 0
 */
public record MemoryBound(long bytes) {
  /** Smaller heads are never refused for what others hold. */
  public static final int LARGE_HEAD_BYTES = 32 << 10;
  /** One of these parts is a revision's own. */
  static final int PARTS = 256;

  /**
   * Whether no request may be queued.
   *
   * @param ofRevision held by its queued requests
   */
  public boolean isFull(long all, long ofRevision) {
    return ofRevision > Math.max(bytes - all, bytes / PARTS);
  }

  /** Whether bodies of queued requests are not read. They may take half of the bound, shared in the same way. */
  public boolean leavesBodiesUnread(long all, long ofRevision) {
    return isTight(all) || ofRevision > bytes / 2 - all;
  }

  /** Large heads may take half of the bound together. */
  public boolean refusesHead(long all, int head) {
    return head > LARGE_HEAD_BYTES && head > bytes / 2 - all;
  }

  /**
   * Incomplete heads may take a quarter of the bound, split evenly so that a flood on one loop does not reach the
   * others.
   */
  public boolean refusesPartialHeads(long ofLoop, int loops) {
    return ofLoop > bytes / 4 / loops;
  }

  /** Whether bodies are read only as needed. */
  public boolean isTight(long all) {
    return all >= bytes / 2;
  }
}
