package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.MemoryBound;
import java.util.LinkedHashSet;

/**
 * The incomplete heads of one loop's connections, and HPACK tables with more than their text. Above
 * their share the oldest is refused, large ones first: normal heads are small and quickly complete.
 */
public final class PartialHeads {
  public final class Head {
    private final Runnable refuse;
    private int cost;

    private Head(Runnable refuse) {
      this.refuse = refuse;
    }

    /** May refuse this or another head. */
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

    /** Idempotent. */
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
  /** Oldest first. */
  private final LinkedHashSet<Head> small = new LinkedHashSet<>();
  private final LinkedHashSet<Head> large = new LinkedHashSet<>();
  private long bytes;

  PartialHeads(HeldBytes.Share held) {
    this.held = held;
  }

  public Head head(Runnable refuse) {
    return new Head(refuse);
  }

  private void refuseOldest() {
    // A single one is limited by its own size.
    while (held.refusesPartialHeads(bytes) && small.size() + large.size() > 1) {
      var oldest = (large.isEmpty() ? small : large).getFirst();
      oldest.ended();
      oldest.refuse.run();
    }
  }
}
