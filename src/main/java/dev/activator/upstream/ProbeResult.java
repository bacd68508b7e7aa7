package dev.activator.upstream;

import java.time.Duration;

/**
 * The result of one probe of a pod: a connection, a response, a refusal, a failure or a timeout.
 */
public sealed interface ProbeResult {
  /** The pod accepted the connection of a probe without a path. */
  record Connected() implements ProbeResult {}

  /**
   * @param body the first kilobyte of the body
   * @param location the field of this name; empty if there is none
   */
  record Answered(int status, String body, String location) implements ProbeResult {
    public Answered(int status, String body) {
      this(status, body, "");
    }
  }

  /** The pod answered with a redirect that cannot be followed. */
  record Misdirected(String reason) implements ProbeResult {}

  /** The host refused the connection, as no server listens. */
  record Refused(String reason) implements ProbeResult {}

  /** No connection was opened. */
  record Failed(String reason) implements ProbeResult {}

  /** No valid response came, or the connection ended. */
  record InvalidResponse(String reason) implements ProbeResult {}

  /** @param connected whether a connection was open */
  record TimedOut(Duration after, boolean connected) implements ProbeResult {}
}
