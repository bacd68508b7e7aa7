package dev.activator.observability;

/**
 * Is told each step of each request.
 *
 * <p>
 * <b>Threads.</b> Called on the request's event loop, and must not wait. Requests of several loops
 * are told at the same time.
 */
@FunctionalInterface
public interface RequestObserver {
  RequestObserver NONE = (_, _) -> {
  };

  /** The step was taken; its record says what is known of the request by then. */
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
    /** It is known what is asked, and of which revision. */
    ARRIVED,
    /** It waits for a permit; again, if a pod could not be reached. */
    QUEUED,
    /** It has a permit for a destination. */
    GRANTED,
    /** Its head is about to be sent: the last moment to change a header. */
    FORWARDING,
    /** The destination could not be reached; it is queued again next. */
    UNDELIVERED,
    /** The response begins. */
    RESPONDING,
    /** It is over. */
    ENDED
  }
}
