package dev.activator.ext.rules;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.Seams.TunnelWatcher;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Stops counting upgraded connections, such as WebSockets, for the autoscaler while no byte
 * passes and none waits for a slow reader. One timer checks them all once a second, so that the clock is not read for each byte.
 *
 * <p><b>Threads.</b> Confined to the loop, except {@link #silent}.
 */
public final class TunnelActivityTracker implements TunnelWatcher {
  private static final Duration STEP = Duration.ofSeconds(1);

  private final Loop loop;
  private final ResettableTimer timer;
  private final Set<Connection> open = new LinkedHashSet<>();
  /** The number of connections that are not counted now. */
  private final AtomicInteger silent = new AtomicInteger();

  public TunnelActivityTracker(Loop loop) {
    this.loop = loop;
    this.timer = new ResettableTimer(loop, this::check);
  }

  /** The number of connections that are not counted now. */
  public int silent() {
    return silent.get();
  }

  @Override
  public @Nullable Tunnel opened(Exchange exchange) {
    var rules = exchange.servingSpec().rules();
    if (rules == null || rules.ignoreIdleAfter() == null) {
      return null;
    }
    var connection = new Connection(exchange, rules.ignoreIdleAfter().toNanos());
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
  private final class Connection implements Tunnel {
    private final Exchange exchange;
    private final long afterNanos;
    private long lastNanos;
    /** Whether a byte has passed since the last check. */
    private boolean active = true;
    private boolean counted = true;
    private boolean closing;

    private Connection(Exchange exchange, long afterNanos) {
      this.exchange = exchange;
      this.afterNanos = afterNanos;
      this.lastNanos = loop.nanoTime();
    }

    @Override
    public boolean isSilent() {
      return !counted;
    }

    /**
     * Counts the connection again, because bytes have passed. Bytes of a closing handshake do not
     * count, so they wake no pod.
     */
    @Override
    public void bytesPassed() {
      active = true;
      if (!counted && !closing) {
        counted = true;
        silent.decrementAndGet();
        exchange.count().arrived();
      }
    }

    private void check(long now) {
      if (active || exchange.hasUnsent()) {
        active = false;
        lastNanos = now;
      } else if (counted && now - lastNanos >= afterNanos) {
        counted = false;
        silent.incrementAndGet();
        exchange.count().left();
      }
      if (!counted && !closing && exchange.isPodWithdrawn()) {
        closing = true;
        exchange.goAway();
      }
    }

    @Override
    public boolean end() {
      open.remove(this);
      if (open.isEmpty()) {
        timer.cancel();
      }
      silent.addAndGet(counted ? 0 : -1);
      return counted;
    }
  }
}
