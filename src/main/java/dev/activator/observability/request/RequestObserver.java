package dev.activator.observability.request;

/**
 * Hears what happens to the requests of one event loop.
 *
 * <p>
 * <b>Threads.</b> Called on that loop alone, and must not wait.
 */
@FunctionalInterface
public interface RequestObserver {
  /** Nobody listens. */
  RequestObserver NONE = (_, _) -> {
  };

  /** The step was taken; what is known of the request by then, the record says. */
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
    /** It is known what is asked, and of whom. */
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
