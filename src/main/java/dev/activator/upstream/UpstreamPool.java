package dev.activator.upstream;

import dev.activator.revision.Destination;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to one pod.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
public final class UpstreamPool {
  private final Destination destination;
  private final UpstreamPools pools;
  private final Dialer dialer;
  private final int maxIdle;
  private final String authority;
  private final Deque<UpstreamConnection> idle = new ArrayDeque<>();
  private int open;

  UpstreamPool(Destination destination, UpstreamPools pools, Dialer dialer, int maxIdle) {
    this.destination = destination;
    this.pools = pools;
    this.dialer = dialer;
    this.maxIdle = maxIdle;
    this.authority = destination.toString();
  }

  /** Host and port as a {@code Host} header has them. */
  public String authority() {
    return authority;
  }

  /**
   * Hands over the idle connection that was used last, at once; null if there is none. It may turn
   * out dead when used: for a request that must not be sent twice, ask for a checked one.
   */
  public @Nullable UpstreamConnection reuse(UpstreamListener listener) {
    var connection = idle.pollFirst();
    if (connection != null) {
      pools.noLongerIdle(connection);
      connection.lend(listener);
    }
    return connection;
  }

  /** As {@link #reuse}, but the kernel knows nothing of the pod having closed it. */
  public @Nullable UpstreamConnection reuseChecked(UpstreamListener listener) {
    var connection = reuse(listener);
    while (connection != null && connection.peerHasClosed()) {
      connection.close();
      connection = reuse(listener);
    }
    return connection;
  }

  /** Opens a connection; the listener hears of it, or of the failure, later. */
  public Dial dial(UpstreamListener listener) {
    open++;
    return dialer.dial(destination, this, listener);
  }

  /** Takes a connection back; false where enough are kept, and it should be closed. */
  boolean giveBack(UpstreamConnection connection) {
    boolean kept = idle.size() < maxIdle && pools.keep(connection);
    if (kept) {
      idle.addFirst(connection);
    }
    return kept;
  }

  /** An idle connection has ended. */
  void drop(UpstreamConnection connection) {
    pools.noLongerIdle(connection);
    // Those that end by themselves are mostly old, and the old ones are at the end.
    idle.removeLastOccurrence(connection);
  }

  /** A connection is closed, or none came of a dial. */
  void gone() {
    open--;
    if (open == 0) {
      pools.forget(destination, this);
    }
  }
}
