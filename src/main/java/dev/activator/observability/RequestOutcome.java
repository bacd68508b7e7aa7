package dev.activator.observability;

import java.util.Locale;

/** How a request ended; logs and meters show the name in lower case with hyphens. */
public enum RequestOutcome {
  ANSWERED,
  UPGRADED,
  /** A gateway may send the request itself. */
  HANDED_OVER,
  CALLER_GONE,
  BAD_REQUEST,
  REVISION_UNKNOWN,
  /** The revision could not be read from Kubernetes. */
  LOOKUP_FAILED,
  QUEUE_FULL,
  /** Queued requests used all of their memory, or a buffer could not be had. */
  MEMORY_FULL,
  /** No start was ever quick enough for the caller's deadline. */
  DEADLINE_TOO_NEAR,
  /** Deleted while the request was queued. */
  REVISION_GONE,
  /** The containers failed to start while the request was queued. */
  CANNOT_START,
  /** The activator ended while the request was queued. */
  SHUTTING_DOWN,
  /** A browser got a page that waits instead of it. */
  WAITING_PAGE,
  /** Its revision's fallback answered it while the revision started. */
  FALLBACK,
  /** A rule answered it, so that it starts no pod. */
  NOT_WOKEN,
  REQUEST_TIMEOUT,
  RESPONSE_START_TIMEOUT,
  IDLE_TIMEOUT,
  QUEUE_TIMEOUT,
  CALLER_DEADLINE,
  /** The pod could not be reached, or broke off. */
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
