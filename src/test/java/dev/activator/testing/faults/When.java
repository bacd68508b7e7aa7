package dev.activator.testing.faults;

import java.time.Duration;

/** When, within one answer, a fault strikes. */
public sealed interface When {
  /** At the start; for what is under way, at once. */
  record Now() implements When {}

  /** Once this many more events were sent; bookmarks count. 0 is before the first one. */
  record AfterEvents(int events) implements When {}

  /** So much later, by the clock of the server's loop. */
  record AfterTime(Duration time) implements When {}

  /** Once this many more bytes were sent, heads and chunk marks included; for connections only. */
  record AfterBytes(int bytes) implements When {}

  /** Nothing, unless this is not for watches. */
  static void checkForWatch(When when) {
    if (when instanceof AfterBytes bytes) {
      throw new IllegalArgumentException(
          "a watch counts events: " + bytes + " is for faults of connections");
    }
  }

  static When now() {
    return new Now();
  }

  static When afterEvents(int events) {
    return new AfterEvents(events);
  }

  static When after(Duration time) {
    return new AfterTime(time);
  }

  static When afterBytes(int bytes) {
    return new AfterBytes(bytes);
  }
}
