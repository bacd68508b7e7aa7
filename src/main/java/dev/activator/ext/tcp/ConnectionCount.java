package dev.activator.ext.tcp;

import dev.activator.ext.tcp.policy.IdleRule;
import dev.activator.loop.ResettableTimer;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import java.util.concurrent.TimeUnit;

/**
 * Whether a connection counts for the autoscaler: from its client's first byte, or soon after its
 * arrival, to its end, but not while it is idle by an {@link IdleRule}.
 *
 * <p><b>Threads.</b> Confined to its loop.
 */
final class ConnectionCount {
  /** The health check of a load balancer connects, and closes at once. */
  private static final long MAX_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  /** One that gets a pod lasts until that has ended, too. */
  private static final long MAX_CHECK_OF_POD_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TcpConnection connection;
  private final RevisionCount count;
  private final ResettableTimer timer;
  private IdleRule rule = IdleRule.NONE;
  private long lastByteNanos;
  private boolean begun;
  private boolean counted;

  ConnectionCount(TcpConnection connection, RevisionCount count) {
    this.connection = connection;
    this.count = count;
    this.timer = new ResettableTimer(connection.loop(), this::check);
  }

  void accepted() {
    timer.within(MAX_CHECK_NANOS);
  }

  /** The client has ended what it sends. */
  void clientEnded() {
    if (!begun) {
      timer.cancel();
      timer.within(MAX_CHECK_OF_POD_NANOS);
    }
  }

  /** The connection is no health check. Idempotent. */
  void begin() {
    if (!begun) {
      begun = true;
      timer.cancel();
      count();
      opened(rule);
      connection.begun();
    }
  }

  private void count() {
    if (!counted) {
      counted = true;
      count.arrived();
    }
  }

  void opened(IdleRule now) {
    rule = now;
    if (begun && rule.applies()) {
      lastByteNanos = connection.now();
      timer.within(rule.after());
    }
  }

  /** The pod has failed, and the connection waits for another one. */
  void waits() {
    rule = IdleRule.NONE;
    if (begun) {
      timer.cancel();
      count();
    }
  }

  void bytePassed() {
    if (begun && rule.applies()) {
      lastByteNanos = connection.now();
      if (!counted) {
        count();
        timer.within(rule.after());
      }
    }
  }

  private void check() {
    if (!begun) {
      begin();
      return;
    }
    if (connection.hasUnsent()) {
      // One side is slow.
      lastByteNanos = connection.now();
    }
    long left = rule.left(connection.now() - lastByteNanos);
    if (left > 0) {
      timer.within(left);
    } else if (rule.closes()) {
      connection.idle();
    } else {
      end();
    }
  }

  /** Idempotent. */
  void end() {
    begun = true;
    timer.cancel();
    if (counted) {
      counted = false;
      count.left();
    }
  }
}
