package dev.activator.upstream;

/** What came back. */
public sealed interface ProbeAnswer {
  /**
   * An HTTP answer.
   *
   * @param body its first kilobyte
   */
  record Answered(int status, String body) implements ProbeAnswer {}

  /** No answer: refused, reset, or not in time. */
  record Failed(String reason) implements ProbeAnswer {}
}
