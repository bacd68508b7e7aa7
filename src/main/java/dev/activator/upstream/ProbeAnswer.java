package dev.activator.upstream;

import java.time.Duration;

public sealed interface ProbeAnswer {
  /** The answer to a probe without a path. */
  record Connected() implements ProbeAnswer {}

  /** @param body its first kilobyte */
  record Answered(int status, String body) implements ProbeAnswer {}

  /** No connection. */
  record Failed(String reason) implements ProbeAnswer {}

  /** No valid response, or the connection ended instead. */
  record InvalidResponse(String reason) implements ProbeAnswer {}

  record TimedOut(Duration after) implements ProbeAnswer {}
}
