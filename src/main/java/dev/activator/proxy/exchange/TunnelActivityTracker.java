package dev.activator.proxy.exchange;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stops counting upgraded connections, such as WebSockets, for the autoscaler while no byte
 * passes. One timer checks them all once a second, so that the clock is not read for each byte.
 *
 * <p><b>Threads.</b> Confined to the loop, except {@link #silent}.
 */
public final class TunnelActivityTracker {
  private static final Duration STEP = Duration.ofSeconds(1);

  private final Loop loop;
  private final RequestCounter counter;
  private final ResettableTimer timer;
  private final Set<Connection> open = new LinkedHashSet<>();
  /** The number of connections that are not counted now. */
  private final AtomicInteger silent = new AtomicInteger();

  public TunnelActivityTracker(Loop loop, RequestCounter counter) {
    this.loop = loop;
    this.counter = counter;
    this.timer = new ResettableTimer(loop, this::check);
  }

  /** The number of connections that are not counted now. */
  public int silent() {
    return silent.get();
  }

  /** @param after a positive time without a byte in either direction */
  Connection add(Exchange exchange, RevisionId revision, Duration after) {
    var connection = new Connection(exchange, revision, after.toNanos());
    open.add(connection);
    timer.within(STEP);
    return connection;
  }

  private void check() {
    long now = loop.nanoTime();
    open.forEach(connection -> connection.check(now));
    if (!open.isEmpty()) {
      timer.within(STEP);
    }
  }

  /** An upgraded connection. It was counted when its request came. */
  final class Connection {
    private final Exchange exchange;
    private final RevisionId revision;
    private final long afterNanos;
    private long lastNanos;
    /** Whether a byte has passed since the last check. */
    private boolean active = true;
    private boolean counted = true;
    private boolean closing;

    private Connection(Exchange exchange, RevisionId revision, long afterNanos) {
      this.exchange = exchange;
      this.revision = revision;
      this.afterNanos = afterNanos;
      this.lastNanos = loop.nanoTime();
    }

    boolean isSilent() {
      return !counted;
    }

    /**
     * Counts the connection again, because bytes have passed. Bytes of a closing handshake do not
     * count, so they wake no pod.
     */
    void bytesCame() {
      active = true;
      if (!counted && !closing) {
        counted = true;
        silent.decrementAndGet();
        counter.arrived(revision);
      }
    }

    private void check(long now) {
      if (active) {
        active = false;
        lastNanos = now;
      } else if (counted && now - lastNanos >= afterNanos) {
        counted = false;
        silent.incrementAndGet();
        counter.left(revision);
      }
      if (!counted && !closing && exchange.isPodWithdrawn()) {
        closing = true;
        exchange.goAway();
      }
    }

    /** Ends the connection. Returns whether it must still be counted out. */
    boolean end() {
      open.remove(this);
      if (open.isEmpty()) {
        timer.cancel();
      }
      silent.addAndGet(counted ? 0 : -1);
      return counted;
    }
  }
}
