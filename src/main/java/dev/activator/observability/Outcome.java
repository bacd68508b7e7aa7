package dev.activator.observability;

import java.util.Locale;

/** How a request ended. The name, in lower case with hyphens, is what meters and logs call it. */
public enum Outcome {
  /** A pod's response reached its end. */
  ANSWERED,
  /** Caller and pod agreed on another protocol, and one of them has ended it. */
  UPGRADED,
  /** The caller went away first. */
  CALLER_GONE,
  /** The request's body was malformed. */
  BAD_REQUEST,
  /** No revision of that name. */
  REVISION_UNKNOWN,
  /** Whether there is such a revision could not be told. */
  LOOKUP_FAILED,
  /** As many waited as may. */
  QUEUE_FULL,
  /** Those that waited held as much memory as they may, or a buffer could not be had. */
  MEMORY_FULL,
  /** No start was ever quick enough for what the caller allows. */
  DEADLINE_TOO_NEAR,
  /** The revision was deleted while the request waited. */
  REVISION_GONE,
  /** The revision's containers failed to start while the request waited. */
  CANNOT_START,
  /** The revision's time for a whole request was over. */
  REQUEST_TIMEOUT,
  /** The revision's time for the first byte of a response was over. */
  RESPONSE_START_TIMEOUT,
  /** The revision's time between two writes of a response was over. */
  IDLE_TIMEOUT,
  /** The revision's time for waiting was over. */
  QUEUE_TIMEOUT,
  /** What the caller itself had allowed was over. */
  CALLER_DEADLINE,
  /** The pod could not be reached, or broke off. */
  BAD_GATEWAY,
  /** The caller did not take the response, while too much was held of those. */
  UNREAD,
  /** Something here went wrong. */
  INTERNAL;

  private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

  /** Whether a pod did what it was asked. */
  public boolean served() {
    return this == ANSWERED || this == UPGRADED;
  }

  /** The name for meters and logs. */
  @Override
  public String toString() {
    return text;
  }
}
