package dev.activator.observability;

/**
 * Sees each step of each request.
 *
 * <p>
 * <b>Threads.</b> Called on the request's event loop, must not block; several loops call at once.
 */
@FunctionalInterface
public interface RequestObserver {
  RequestObserver NONE = (_, _) -> {
  };

  void saw(Step step, RequestRecord request);

  /**
   * What happens to a request. The first is always {@link #ARRIVED} and the last {@link #ENDED},
   * which may come after any other.
   *
   * <pre>
   * arrived ──► queued ──► granted ──► forwarding ──► responding ──► ended
   *    └──────────┼──────────► ▲           │
   *               └── undelivered ◄────────┘
   * </pre>
   */
  enum Step {
    /** The target and its revision are known. */
    ARRIVED,
    /** Waits for a permit; again if a pod could not be reached. */
    QUEUED, GRANTED,
    /** The head is about to be sent: the last moment to change a header. */
    FORWARDING,
    /** The destination could not be reached; the request is queued again next. */
    UNDELIVERED, RESPONDING, ENDED
  }
}
