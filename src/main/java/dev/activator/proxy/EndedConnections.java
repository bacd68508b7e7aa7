package dev.activator.proxy;

import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections ended because of what their callers sent; logs one in ten seconds.
 *
 * <p><b>Threads.</b> Any.
 */
public final class EndedConnections {
  public enum Reason {
    CONTROL_FRAMES("control-frames", "too many control frames"), //
    SLOW_HEAD("slow-head", "a head took too long"), //
    PARTIAL_HEADS("partial-heads", "heads that are not whole hold too much memory"), //
    OTHER_LIMIT("other-limit", "more of something than a limit of HTTP/2 allows");

    private final String label;
    private final String what;

    Reason(String label, String what) {
      this.label = label;
      this.what = what;
    }

    public String label() {
      return label;
    }

    String what() {
      return what;
    }
  }

  private static final Logger log = LoggerFactory.getLogger(EndedConnections.class);
  private static final long LOG_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final AtomicLongArray counts = new AtomicLongArray(Reason.values().length);
  private boolean logged;
  private long loggedNanos;
  private long sinceLogged;

  public long count(Reason reason) {
    return counts.get(reason.ordinal());
  }

  void ended(Reason reason, @Nullable SocketAddress caller, long nowNanos) {
    counts.getAndIncrement(reason.ordinal());
    log(reason, caller, nowNanos);
  }

  private synchronized void log(Reason reason, @Nullable SocketAddress caller, long nowNanos) {
    if (logged && nowNanos - loggedNanos < LOG_PAUSE_NANOS) {
      sinceLogged++;
      return;
    }
    log.warn("The connection to {} is ended: {}. {} others were ended since the last such line",
        caller, reason.what, sinceLogged);
    logged = true;
    loggedNanos = nowNanos;
    sinceLogged = 0;
  }
}
