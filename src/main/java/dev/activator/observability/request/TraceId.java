package dev.activator.observability.request;

/**
 * The trace that a request belongs to.
 *
 * <p>
 * <b>Source.</b> {@code TraceID} of {@code knative.dev/pkg}: W3C's header counts before Zipkin's.
 */
public final class TraceId {
  private TraceId() {}

  /** As its span knows it, or else as its headers say; empty if they do not. */
  public static String of(RequestRecord request) {
    var spans = request.spans;
    if (spans != null) {
      return spans.traceId();
    }
    var w3c = request.header("traceparent");
    String found = w3c == null ? "" : second(w3c);
    var zipkin = found.isEmpty() ? request.header("X-B3-TraceId") : null;
    return zipkin == null ? found : zipkin;
  }

  private static String second(String traceparent) {
    String[] fields = traceparent.split("-", -1);
    return fields.length >= 4 ? fields[1] : "";
  }
}
