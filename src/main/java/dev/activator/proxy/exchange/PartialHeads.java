package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.MemoryBound;
import java.util.LinkedHashSet;

/**
 * The incomplete heads of one event loop's connections, counted as held bytes. When they exceed their
 * share the oldest is refused, since a normal caller sends its head within a few round trips. Large
 * heads are refused before small ones, since normal heads are small.
 *
 * <p>
 * <b>Threads.</b> Only the loop may call.
 */
public final class PartialHeads {
  /** The head that a connection is reading, one after the other. */
  public final class Head {
    private final Runnable refuse;
    private int cost;

    private Head(Runnable refuse) {
      this.refuse = refuse;
    }

    /** The head costs this much now. It, or another, may be refused inside this call. */
    public void grew(int newCost) {
      if (newCost > MemoryBound.LARGE_HEAD_BYTES) {
        small.remove(this);
        large.add(this);
      } else {
        small.add(this);
      }
      count(newCost);
      refuseOldest();
    }

    /** The head is complete, or no more of it will come. Idempotent. */
    public void ended() {
      if (cost > 0) {
        small.remove(this);
        large.remove(this);
        count(0);
      }
    }

    private void count(int newCost) {
      bytes += newCost - cost;
      held.add(newCost - cost);
      cost = newCost;
    }
  }

  private final HeldBytes.Share held;
  /** Oldest first, as the others. */
  private final LinkedHashSet<Head> small = new LinkedHashSet<>();
  private final LinkedHashSet<Head> large = new LinkedHashSet<>();
  private long bytes;

  PartialHeads(HeldBytes.Share held) {
    this.held = held;
  }

  /** For one more connection; {@code refuse} refuses its head. */
  public Head head(Runnable refuse) {
    return new Head(refuse);
  }

  private void refuseOldest() {
    // One alone is limited by its own size.
    while (held.refusesPartialHeads(bytes) && small.size() + large.size() > 1) {
      var oldest = (large.isEmpty() ? small : large).getFirst();
      oldest.ended();
      oldest.refuse.run();
    }
  }
}
