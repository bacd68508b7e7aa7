package dev.activator.proxy.policy;

import org.jspecify.annotations.Nullable;

/**
 * How long a request is of use to its caller, as far as it says so.
 *
 * <p>
 * <b>Errors.</b> None: what cannot be read, and what is not positive, is as if it were not there.
 *
 * <p>
 * <b>Source.</b> {@code grpc-timeout} in gRPC's {@code PROTOCOL-HTTP2.md}; {@code
 * X-Envoy-Expected-Rq-Timeout-Ms} in Envoy's router; {@code Request-Timeout} in seconds.
 */
public final class CallerTimeout {
  /** The caller does not say. */
  public static final long NONE = Long.MAX_VALUE;

  private static final int MOST_DIGITS = 8;

  private CallerTimeout() {}

  /** In nanoseconds from the request's arrival, the shortest if there are several. */
  public static long nanos(Fields fields) {
    long grpc = grpc(fields.first(Field.GRPC_TIMEOUT));
    long envoy = number(fields.first(Field.ENVOY_EXPECTED_TIMEOUT_MS), 1_000_000L);
    long seconds = number(fields.first(Field.REQUEST_TIMEOUT), 1_000_000_000L);
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
    if (text == null || text.isEmpty() || text.length() > MOST_DIGITS) {
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
