package dev.activator.upstream;

import java.time.Duration;

/** What came back. */
public sealed interface ProbeAnswer {
  /** There is a connection, which is all that was asked for. */
  record Connected() implements ProbeAnswer {}

  /**
   * An HTTP answer.
   *
   * @param body its first kilobyte
   */
  record Answered(int status, String body) implements ProbeAnswer {}

  /** There is no connection. */
  record Failed(String reason) implements ProbeAnswer {}

  /** What came is no answer in the protocol of the question, or the connection ended instead. */
  record InvalidResponse(String reason) implements ProbeAnswer {}

  /** Nothing came in time. */
  record TimedOut(Duration after) implements ProbeAnswer {}
}
