package dev.activator.proxy.policy;

/**
 * How many bytes all held requests may take, and those of one revision: as many as are left free. So
 * one revision alone may hold half of the bound, a second one half of the rest, and there is always
 * room for another. A small part is each revision's own whatever others hold, and bytes that were
 * read already are kept: the bound can be exceeded by these two.
 *
 * <p>
 * <b>Source.</b> The dynamic threshold of shared buffers: Choudhury and Hahne, "Dynamic queue length
 * thresholds for shared-memory packet switches" (1998).
 *
 * @param bytes that all requests may hold; more than 0
 */
public record MemoryBound(long bytes) {
  /** Heads that cost no more than this are never refused for what others hold. */
  public static final int LARGE_HEAD_BYTES = 32 << 10;
  /** One of these parts is a revision's own. */
  static final int PARTS = 256;

  /**
   * Whether no further request may be queued.
   *
   * @param all what all requests hold
   * @param ofRevision what queued requests of this revision hold
   */
  public boolean isFull(long all, long ofRevision) {
    return ofRevision > Math.max(bytes - all, bytes / PARTS);
  }

  /**
   * Whether bodies of queued requests are left unread, in the kernel or with their callers. Bodies
   * may take half of the bound, shared in the same way.
   */
  public boolean leavesBodiesUnread(long all, long ofRevision) {
    return isTight(all) || ofRevision > bytes / 2 - all;
  }

  /** Whether a head of this cost is refused: large heads may take half of the bound, all together. */
  public boolean refusesHead(long all, int head) {
    return head > LARGE_HEAD_BYTES && head > bytes / 2 - all;
  }

  /**
   * Whether the oldest head that is not whole yet is refused: such heads may take a quarter of the
   * bound, on each loop an equal part, so that a flood on one does not reach the others.
   */
  public boolean refusesPartialHeads(long ofLoop, int loops) {
    return ofLoop > bytes / 4 / loops;
  }

  /** Whether half of the bound is used: of any body only what is needed should be read. */
  public boolean isTight(long all) {
    return all >= bytes / 2;
  }
}
