package dev.activator.observability;

import java.util.Locale;

/** The outcome of a request. Logs and meters show its name in lower case with hyphens. */
public enum RequestOutcome {
  ANSWERED,
  UPGRADED,
  /** The gateway was allowed to send the request itself. */
  HANDED_OVER,
  CALLER_GONE,
  BAD_REQUEST,
  REVISION_UNKNOWN,
  /** The revision could not be read from Kubernetes. */
  LOOKUP_FAILED,
  QUEUE_FULL,
  /** Queued requests used all of their memory, or a buffer could not be allocated. */
  MEMORY_FULL,
  /** No known start was quick enough for the caller's deadline. */
  DEADLINE_TOO_NEAR,
  /** The revision was deleted while the request was queued. */
  REVISION_GONE,
  /** The containers failed to start while the request was queued. */
  CANNOT_START,
  /** The pod that alone could answer the request is gone. */
  POD_GONE,
  /** The activator shut down while the request was queued. */
  SHUTTING_DOWN,
  /** A browser got a waiting page, which waits instead of the request. */
  WAITING_PAGE,
  /** The revision's fallback answered the request while the revision started. */
  FALLBACK,
  /** A rule answered the request, so that it starts no pod. */
  NOT_WOKEN,
  REQUEST_TIMEOUT,
  RESPONSE_START_TIMEOUT,
  IDLE_TIMEOUT,
  QUEUE_TIMEOUT,
  START_TIMEOUT,
  CALLER_DEADLINE,
  /** The pod could not be reached, or broke off the response. */
  BAD_GATEWAY,
  /** The caller did not read the response, and all unread responses together held too much. */
  UNREAD,
  /** An internal error. */
  INTERNAL;

  private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

  public boolean served() {
    return this == ANSWERED || this == UPGRADED || this == HANDED_OVER;
  }

  @Override
  public String toString() {
    return text;
  }
}
