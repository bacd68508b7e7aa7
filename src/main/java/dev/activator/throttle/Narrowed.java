package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.policy.Loads;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * How few requests those destinations got that had refused some, of those that are no longer listed
 * and on which nothing runs. They get as few should they come back. Only the last ones are known: an
 * address that is gone for good must not be remembered for ever.
 *
 * <p>
 * <b>Threads.</b> It belongs to the revision's loop.
 */
final class Narrowed {
  static final int REMEMBERED = 256;

  private final SequencedMap<Destination, Integer> windows = new LinkedHashMap<>(0);

  void remember(Destination destination, int window) {
    windows.putLast(destination, window);
    if (windows.size() > REMEMBERED) {
      windows.pollFirstEntry();
    }
  }

  /** How many it got; {@link Loads#UNLIMITED} for one that is not known. It is known no longer. */
  int take(Destination destination) {
    var window = windows.remove(destination);
    return window == null ? Loads.UNLIMITED : window;
  }

  void clear() {
    windows.clear();
  }
}
