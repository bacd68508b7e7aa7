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
   * A step of a request. The first is always {@link #ARRIVED} and the last {@link #ENDED}, which
   * may follow any other step.
   *
   * <pre>
   * arrived ──► queued ──► granted ──► forwarding ──► responding ──► ended
   *    └──────────┼──────────► ▲           │
   *               └── undelivered ◄────────┘
   * </pre>
   */
  enum Step {
    /** The request's target and revision are known. */
    ARRIVED,
    /** The request waits for a permit, perhaps again after a pod could not be reached. */
    QUEUED,
    GRANTED,
    /** The request is about to be sent. This is the last moment to change its headers. */
    FORWARDING,
    /** The destination could not be reached. The request is queued again next. */
    UNDELIVERED,
    /**
     * The head of the pod's response has arrived, and is about to be sent. Headers can be added to
     * it, but not to answers of the activator itself, which never have this step.
     */
    RESPONDING,
    ENDED
  }
}
