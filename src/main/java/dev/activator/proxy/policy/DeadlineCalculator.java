package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RequestTimeouts;
import org.jspecify.annotations.Nullable;

/**
 * Computes when a request times out. A write is any part of the pod's response, including a 1xx.
 *
 * <p><b>Units.</b> Nanoseconds. {@code passed} is the time since arrival. The time that is left may
 * be negative.
 *
 * <p><b>Source.</b> {@code timeoutHandler} in Knative's {@code timeout.go}; {@code grpc-timeout} in
 * gRPC's {@code PROTOCOL-HTTP2.md}; {@code X-Envoy-Expected-Rq-Timeout-Ms} in Envoy's router.
 */
public final class DeadlineCalculator {
  public static final long NONE = Long.MAX_VALUE;
  /**
   * How much later than the queue-proxy the activator ends a response that has begun. The
   * queue-proxy has the same timeouts, counts them from its own receipt of the request, and should
   * end the response first. The margin covers the time for connecting and for the way back.
   */
  public static final long QUEUE_PROXY_MARGIN = 1_000_000_000L;

  private static final int MAX_DIGITS = 8;

  private DeadlineCalculator() {}

  public static long leftBeforeWrite(RequestTimeouts limits, long passed) {
    long left = leftAfterWrite(limits, passed, passed);
    return limits.responseStart().isZero()
        ? left
        : Math.min(left, limits.responseStart().toNanos() - passed);
  }

  public static long leftAfterWrite(RequestTimeouts limits, long passed, long sinceWrite) {
    long left = limits.overall().toNanos() - passed;
    return limits.idle().isZero() ? left : Math.min(left, limits.idle().toNanos() - sinceWrite);
  }

  public static RequestOutcome overBeforeWrite(RequestTimeouts limits, long passed) {
    if (passed >= limits.overall().toNanos()) {
      return RequestOutcome.REQUEST_TIMEOUT;
    }
    return !limits.responseStart().isZero() && passed >= limits.responseStart().toNanos()
        ? RequestOutcome.RESPONSE_START_TIMEOUT
        : RequestOutcome.IDLE_TIMEOUT;
  }

  public static RequestOutcome overAfterWrite(RequestTimeouts limits, long passed) {
    return passed >= limits.overall().toNanos()
        ? RequestOutcome.REQUEST_TIMEOUT
        : RequestOutcome.IDLE_TIMEOUT;
  }

  /** @param isForStart whether the time for a start limited the wait */
  public static RequestOutcome overInQueue(long caller, long passed, boolean isForStart) {
    if (passed >= caller) {
      return RequestOutcome.CALLER_DEADLINE;
    }
    return isForStart ? RequestOutcome.START_TIMEOUT : RequestOutcome.QUEUE_TIMEOUT;
  }

  /** The shortest timeout that the caller sent; invalid values are ignored. */
  public static long ofCaller(HeaderFieldList fields) {
    long grpc = grpc(fields.first(KnownHeader.GRPC_TIMEOUT));
    long envoy = number(fields.first(KnownHeader.ENVOY_EXPECTED_TIMEOUT_MS), 1_000_000L);
    long seconds = number(fields.first(KnownHeader.REQUEST_TIMEOUT), 1_000_000_000L);
    return Math.min(grpc, Math.min(envoy, seconds));
  }

  private static long grpc(@Nullable String text) {
    if (text == null || text.isEmpty()) {
      return NONE;
    }
    int last = text.length() - 1;
    return switch (text.charAt(last)) {
      case 'H' -> number(text.substring(0, last), 3_600_000_000_000L);
      case 'M' -> number(text.substring(0, last), 60_000_000_000L);
      case 'S' -> number(text.substring(0, last), 1_000_000_000L);
      case 'm' -> number(text.substring(0, last), 1_000_000L);
      case 'u' -> number(text.substring(0, last), 1_000L);
      case 'n' -> number(text.substring(0, last), 1L);
      default -> NONE;
    };
  }

  private static long number(@Nullable String text, long unitNanos) {
    if (text == null || text.isEmpty() || text.length() > MAX_DIGITS) {
      return NONE;
    }
    long number = 0;
    for (int i = 0; i < text.length(); i++) {
      char digit = text.charAt(i);
      if (digit < '0' || digit > '9') {
        return NONE;
      }
      number = 10 * number + (digit - '0');
    }
    return number == 0 || number > NONE / unitNanos ? NONE : number * unitNanos;
  }
}
