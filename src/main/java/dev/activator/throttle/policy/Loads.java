package dev.activator.throttle.policy;

/** What runs on each of a few destinations, at one moment. They are named by position. */
public interface Loads {
  int UNLIMITED = Integer.MAX_VALUE;

  int size();

  /** Requests in flight there; {@link #UNLIMITED} where no more may start, whatever runs. */
  int inFlight(int position);

  /** Requests that may be in flight there. */
  int limit(int position);

  /** Whether one more request may start there. */
  default boolean hasRoom(int position) {
    return inFlight(position) < limit(position);
  }
}
