package dev.activator.upstream;

import java.time.Duration;

/** The outcome of a probe. */
public sealed interface ProbeAnswer {
  /** The answer to a probe without a path. */
  record Connected() implements ProbeAnswer {}

  /** @param body the first kilobyte of it */
  record Answered(int status, String body) implements ProbeAnswer {}

  /** The host answered that nothing listens. */
  record Refused(String reason) implements ProbeAnswer {}

  /** No connection was opened. */
  record Failed(String reason) implements ProbeAnswer {}

  /** No valid response came, or the connection ended. */
  record InvalidResponse(String reason) implements ProbeAnswer {}

  /** @param connected whether a connection was open */
  record TimedOut(Duration after, boolean connected) implements ProbeAnswer {}
}
