package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.proxy.codec.NettyFields;
import dev.activator.proxy.policy.time.Budget;
import dev.activator.proxy.policy.time.CallerTimeout;
import dev.activator.proxy.policy.time.Deadlines;
import dev.activator.revision.RequestTimeouts;
import io.netty.handler.codec.http.HttpRequest;

/**
 * The time that one exchange has, from its arrival.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 */
final class TimeLeft {
  private final Loop loop;
  private final HttpRequest request;
  private final Deadlines deadlines;
  private boolean written;
  private long lastWriteNanos;

  /** It arrived then. */
  TimeLeft(Loop loop, HttpRequest request, RequestTimeouts timeouts, long arrivedNanos) {
    this.loop = loop;
    this.request = request;
    this.deadlines = Deadlines.of(timeouts, arrivedNanos);
  }

  long arrivedNanos() {
    return deadlines.arrivedNanos();
  }

  /** Something of a response goes to the caller. */
  void wrote() {
    written = true;
    if (deadlines.followWrites()) {
      lastWriteNanos = loop.nanoTime();
    }
  }

  /** Until the exchange is given up; 0 or less once it is over. */
  long nanos() {
    long now = loop.nanoTime();
    return written
        ? deadlines.leftAfterWrite(now, lastWriteNanos)
        : deadlines.leftBeforeStart(now);
  }

  /** Which of the revision's limits is over, when one is. */
  Budget over() {
    long now = loop.nanoTime();
    return written ? deadlines.overAfterWrite(now) : deadlines.overBeforeStart(now);
  }

  /** What the caller allows in all; read from the request each time, as few ask. */
  long callerNanos() {
    return CallerTimeout.nanos(new NettyFields(request.headers()));
  }

  /** What is left of what the caller allows, to send the request in. */
  long callerNanosLeft() {
    long whole = callerNanos();
    return whole == CallerTimeout.NONE ? whole : whole - (loop.nanoTime() - arrivedNanos());
  }
}
