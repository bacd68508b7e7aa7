package dev.activator.proxy.policy;

/**
 * The limit of the bytes that held requests may take. A revision may hold as many bytes as are
 * left free, so the first takes half of the bound, the second half of the rest. The bound is
 * exceeded only by each revision's small own part, and by bytes that were already read.
 *
 * <p><b>Source.</b> Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches" (1998).
 */
public record HeldMemoryLimit(long bytes) {
  /** Complete heads that cost no more are never refused for what others hold. */
  public static final int LARGE_HEAD_BYTES = 32 << 10;
  /** One of these parts is a revision's own. */
  static final int PARTS = 256;

  public boolean isFull(long all, long ofRevision) {
    return ofRevision > Math.max(bytes - all, bytes / PARTS);
  }

  /** Whether bodies are not read now. They may take half of the bound, shared in the same way. */
  public boolean leavesBodiesUnread(long all, long ofRevision) {
    return isTight(all) || ofRevision > bytes / 2 - all;
  }

  /** Whether a head is refused. A large one is if all held bytes would then exceed half of the bound. */
  public boolean refusesHead(long all, int head) {
    return head > LARGE_HEAD_BYTES && head > bytes / 2 - all;
  }

  /**
   * Whether incomplete heads are refused. They may take a quarter of the bound, divided by loop, so
   * that a flood on one does not reach others.
   */
  public boolean refusesPartialHeads(long ofLoop, int loops) {
    return ofLoop > bytes / 4 / loops;
  }

  public boolean isTight(long all) {
    return all >= bytes / 2;
  }
}
