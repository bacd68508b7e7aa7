package dev.activator.throttle.policy;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A load balancing algorithm. It picks a destination that has room; if another thread takes the
 * room first, the caller must pick again.
 *
 * <p><b>Source.</b> Knative's {@code lb_policy.go}. Unlike here, Knative's choice of two panics if
 * the list is empty.
 */
public enum Balancer {
  /** Picks the less loaded one of two random destinations. For destinations without a limit. */
  CHOICE_OF_TWO("choice-of-two") {
    @Override
    public int pick(Loads loads, int cursor, RandomGenerator random) {
      int size = loads.size();
      if (size <= 1) {
        return size == 1 && loads.hasRoom(0) ? 0 : NONE;
      }
      long bits = random.nextLong();
      int one = below(size, bits >>> 32);
      int other = below(size - 1, bits & 0xffff_ffffL);
      if (other >= one) {
        other++;
      }
      // On a tie the first one is picked, which is itself random.
      int picked = loads.inFlight(one) <= loads.inFlight(other) ? one : other;
      // With limits, both may be full while another has room.
      return loads.hasRoom(picked) ? picked : firstWithRoom(loads, picked);
    }
  },

  /** Fills one destination after the other. */
  FIRST_AVAILABLE("first-available") {
    @Override
    public int pick(Loads loads, int cursor, RandomGenerator random) {
      return firstWithRoom(loads, 0);
    }
  },

  /** Begins after the last pick. */
  ROUND_ROBIN("round-robin") {
    @Override
    public int pick(Loads loads, int cursor, RandomGenerator random) {
      return firstWithRoom(loads, cursor < loads.size() ? cursor : 0);
    }

    @Override
    public int cursorAfter(int position, int cursor) {
      return position + 1;
    }
  };

  public interface Loads {
    int size();

    /** The requests in flight; {@link DestinationSubset#UNLIMITED} if no more may start. */
    int inFlight(int position);

    boolean hasRoom(int position);
  }

  public static final int NONE = -1;

  private final String text;

  Balancer(String text) {
    this.text = text;
  }

  public static Balancer parse(String name) {
    for (var balancer : values()) {
      if (balancer.text.equals(name)) {
        return balancer;
      }
    }
    throw new IllegalArgumentException("'" + name + "' is none of " + List.of(values()));
  }

  /** The name as in annotations. */
  @Override
  public String toString() {
    return text;
  }

  /** The default for a container concurrency; 0 is unlimited. */
  public static Balancer of(int containerConcurrency) {
    if (containerConcurrency < 0) {
      throw new IllegalArgumentException(
          "container concurrency cannot be negative: " + containerConcurrency);
    }
    return switch (containerConcurrency) {
      case 0 -> CHOICE_OF_TWO;
      case 1, 2, 3 -> FIRST_AVAILABLE;
      default -> ROUND_ROBIN;
    };
  }

  /** @param cursor where {@link #ROUND_ROBIN} begins; initially 0 */
  public abstract int pick(Loads loads, int cursor, RandomGenerator random);

  /** The next cursor, after a permit was acquired at this position. */
  public int cursorAfter(int position, int cursor) {
    return cursor;
  }

  private static int firstWithRoom(Loads loads, int start) {
    int size = loads.size();
    for (int i = 0; i < size; i++) {
      int position = start + i < size ? start + i : start + i - size;
      if (loads.hasRoom(position)) {
        return position;
      }
    }
    return NONE;
  }

  /** Scales 32 random bits to 0 … size − 1. The bias is below one in a million for 4,000 pods. */
  private static int below(int size, long bits) {
    return (int) ((bits * size) >>> 32);
  }
}
