package dev.activator.throttle.policy;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Which destination is next. The answer is a position that had room when it was looked at, or
 * {@link #NONE}; the caller takes a permit there, and asks again if another thread was quicker.
 *
 * <p>
 * <b>Source.</b> {@code lb_policy.go} of Knative Serving. There an empty list crashes the choice of
 * two; here it has no next.
 */
public enum Balancer {
  /** The less loaded of two at random: for destinations without a limit. */
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
      // Between equals the first wins: which of the two is first is a fair draw already.
      int picked = loads.inFlight(one) <= loads.inFlight(other) ? one : other;
      // Where there are limits both may be full and another not.
      return loads.hasRoom(picked) ? picked : firstWithRoom(loads, picked);
    }
  },

  /** The first with room, so that small destinations fill up one after the other. */
  FIRST_AVAILABLE("first-available") {
    @Override
    public int pick(Loads loads, int cursor, RandomGenerator random) {
      return firstWithRoom(loads, 0);
    }
  },

  /** The next with room, starting behind the one picked last. */
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

  /** What runs on each of a few destinations, at one moment. They are named by position. */
  public interface Loads {
    int size();

    /** Requests in flight there; {@link Subset#UNLIMITED} where no more may start. */
    int inFlight(int position);

    /** Requests that may be in flight there. */
    int limit(int position);

    /** Whether one more request may start there. */
    default boolean hasRoom(int position) {
      return inFlight(position) < limit(position);
    }
  }

  public static final int NONE = -1;

  private final String text;

  Balancer(String text) {
    this.text = text;
  }

  /**
   * The one of this name, such as {@code round-robin}.
   *
   * @throws IllegalArgumentException naming all there are, if there is none
   */
  public static Balancer parse(String name) {
    for (var balancer : values()) {
      if (balancer.text.equals(name)) {
        return balancer;
      }
    }
    throw new IllegalArgumentException("'" + name + "' is none of " + List.of(values()));
  }

  /** Its name, as in annotations. */
  @Override
  public String toString() {
    return text;
  }

  /** How requests of a revision with this container concurrency are spread; 0 is unlimited. */
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

  /**
   * The position of the next destination, or {@link #NONE} if there is no room.
   *
   * @param cursor where {@link #ROUND_ROBIN} starts to look; at first 0
   */
  public abstract int pick(Loads loads, int cursor, RandomGenerator random);

  /** The cursor for the next pick, once a permit was taken at this position. */
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

  /** Scales 32 random bits to 0 … size − 1; the bias is below one in a million for 4,000 pods. */
  private static int below(int size, long bits) {
    return (int) ((bits * size) >>> 32);
  }
}
