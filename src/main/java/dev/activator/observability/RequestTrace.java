package dev.activator.observability;

/** The trace of a request, as metrics and the request log name it. */
public interface RequestTrace {
  String traceId();

  String spanId();

  /** Whether this trace may be an exemplar of metrics. */
  boolean isExemplar();

  /**
   * A time in milliseconds since 1970.
   *
   * @param nanos of the loop's clock
   */
  long epochMillis(long nanos);
}
