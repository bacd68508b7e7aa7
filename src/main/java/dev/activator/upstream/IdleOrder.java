package dev.activator.upstream;

import org.jspecify.annotations.Nullable;

/**
 * Idle connections in the order in which they became so. The links are in the connections
 * themselves: a request comes through here twice, and should not allocate for it.
 */
final class IdleOrder {
  private @Nullable Http1Upstream oldest;
  private @Nullable Http1Upstream newest;
  private int size;

  /** The one that has been idle longest; fails if there is none. */
  Http1Upstream oldest() {
    if (oldest == null) {
      throw new IllegalStateException("none is idle");
    }
    return oldest;
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  void add(Http1Upstream connection) {
    connection.older = newest;
    connection.newer = null;
    if (newest == null) {
      oldest = connection;
    } else {
      newest.newer = connection;
    }
    newest = connection;
    size++;
  }

  /** Takes out one that is in it. */
  void remove(Http1Upstream connection) {
    var before = connection.older;
    var after = connection.newer;
    if (before == null) {
      oldest = after;
    } else {
      before.newer = after;
    }
    if (after == null) {
      newest = before;
    } else {
      after.older = before;
    }
    connection.older = null;
    connection.newer = null;
    size--;
  }
}
