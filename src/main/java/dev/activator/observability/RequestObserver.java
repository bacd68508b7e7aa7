package dev.activator.observability;

/**
 * An observer of each step of each request.
 *
 * <p><b>Threads.</b> Called on the requests' event loops, several at once; must not block.
 */
@FunctionalInterface
public interface RequestObserver {
  void saw(Step step, RequestTimeline request);

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
    QUEUED,
    GRANTED,
    /** The last moment to change a header of the request. */
    FORWARDING,
    /** The destination could not be reached; the request is queued again next. */
    UNDELIVERED,
    RESPONDING,
    ENDED
  }
}
