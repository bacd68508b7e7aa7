package dev.activator.proxy.policy;

/**
 * The limit of the memory of held requests. A revision may hold as many bytes as are free, so the
 * first revision takes half of the limit, and the second one half of the rest. Only the small part
 * that each revision has for itself, and bytes that are already read, can exceed the limit.
 *
 * <p><b>Source.</b> Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches" (1998).
 */
public record HeldMemoryLimit(long bytes) {
  /** A complete head that costs no more is never refused because of other held bytes. */
  public static final int LARGE_HEAD_BYTES = 32 << 10;
  /** Each revision may always hold one of these parts of the limit. */
  static final int PARTS = 256;

  /** What callers may send, beyond the windows with which streams begin, before memory gets tight. */
  public long windows() {
    return bytes / 2;
  }

  public boolean isFull(long all, long ofRevision) {
    return ofRevision > Math.max(bytes - all, bytes / PARTS);
  }

  /**
   * Whether bodies of queued requests are left unread. They may take half of the limit, shared in
   * the same way.
   */
  public boolean leavesBodiesUnread(long all, long ofRevision) {
    return isTight(all) || ofRevision > bytes / 2 - all;
  }

  /**
   * Whether a head is refused. A large head is refused if it would make all held bytes exceed half
   * of the limit.
   */
  public boolean refusesHead(long all, int head) {
    return head > LARGE_HEAD_BYTES && head > bytes / 2 - all;
  }

  /**
   * Whether incomplete heads are refused. They may take a quarter of the limit. Each loop has an
   * equal part of that, so that a flood on one loop does not affect others.
   */
  public boolean refusesPartialHeads(long ofLoop, int loops) {
    return ofLoop > bytes / 4 / loops;
  }

  public boolean isTight(long all) {
    return all >= bytes / 2;
  }

  /** Whether so little is held that callers may send more at once again. */
  public boolean isRelaxed(long all) {
    return all < bytes / 4;
  }

  /** Whether no further part of a body is held that was read against a window. */
  public boolean refusesBodies(long all) {
    return all >= bytes;
  }
}
