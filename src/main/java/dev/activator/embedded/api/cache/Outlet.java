package dev.activator.embedded.api.cache;

/**
 * Where a watcher's signals go: a connection.
 *
 * <p>
 * <b>Threads.</b> Called on the cache's loop alone, and never calls back inside a call. When it can
 * take more again, it says so by {@link Watch#resume}.
 */
public interface Outlet {
  /** The watch is on: nothing is missed from now on. Called once, before all else. */
  void begin(Watch watch);

  /** Whether it can take one more signal now. */
  boolean ready();

  void send(Signal signal);

  /** Nothing follows. Called once. */
  void end();
}
