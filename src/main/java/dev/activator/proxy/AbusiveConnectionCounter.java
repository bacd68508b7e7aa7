package dev.activator.proxy;

import dev.activator.loop.LogLimit;
import dev.activator.loop.NettyTransport;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts and logs the connections that were ended because the caller exceeded a limit. Logs at most
 * one every ten seconds.
 *
 * <p><b>Threads.</b> Any.
 */
public final class AbusiveConnectionCounter {
  public enum Reason {
    CONTROL_FRAMES("control-frames", "too many control frames"),
    SLOW_HEAD("slow-head", "a head took too long"),
    PARTIAL_HEADS("partial-heads", "incomplete heads hold too much memory"),
    OTHER_LIMIT("other-limit", "a limit of HTTP/2 is exceeded");

    private final String label;
    private final String description;

    Reason(String label, String description) {
      this.label = label;
      this.description = description;
    }

    public String label() {
      return label;
    }

    String description() {
      return description;
    }
  }

  private static final Logger log = LoggerFactory.getLogger(AbusiveConnectionCounter.class);

  private final AtomicLongArray counts = new AtomicLongArray(Reason.values().length);
  private final LogLimit limit = new LogLimit();

  public long count(Reason reason) {
    return counts.get(reason.ordinal());
  }

  public void ended(Reason reason, @Nullable SocketAddress caller, long nowNanos) {
    counts.getAndIncrement(reason.ordinal());
    limit.log(nowNanos, others -> log.warn("The connection to {} is ended: {}. {} others were ended"
        + " since the last such line", NettyTransport.text(caller), reason.description, others));
  }
}
