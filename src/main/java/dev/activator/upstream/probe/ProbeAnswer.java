package dev.activator.upstream.probe;

import java.time.Duration;

/** What came back. */
public sealed interface ProbeAnswer {
  /**
   * An HTTP answer.
   *
   * @param body its first kilobyte
   */
  record Answered(int status, String body) implements ProbeAnswer {}

  /** The connection was accepted, and nothing else was asked for. */
  record Connected() implements ProbeAnswer {}

  /** There is no connection, or an answer without end. */
  record Failed(String reason) implements ProbeAnswer {}

  /** What came is no answer in the protocol of the request, or the connection ended instead. */
  record Unintelligible(String reason) implements ProbeAnswer {}

  /** Nothing came in time. */
  record TimedOut(Duration after) implements ProbeAnswer {}
}
