package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.tls.DialTarget;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Sends probes over the connections that requests use.
 *
 * <p><b>Threads.</b> Called on {@code loop}, which calls {@code done} once, later.
 *
 * <p><b>Errors.</b> Every error is a {@link ProbeResult}.
 */
public interface ProbeClient {
  void probe(Loop loop, ProbeRequest request, Consumer<ProbeResult> done);

  /**
   * Waits until a server listens at an address that is likely to refuse connections. Calls back
   * later: true if the address still refuses them; false if it does not, or if that is unknown.
   *
   * @param next the probe that will follow; it may use the connection that was opened
   * @param pause between attempts; zero if the address is new: then the first attempt is not
   *     limited
   * @param limit the time after which no other attempt is made; zero for one attempt
   */
  default void awaitListener(Loop loop, ProbeRequest next, Duration pause, Duration limit,
      Consumer<Boolean> refused) {
    loop.execute(() -> refused.accept(false));
  }

  /**
   * A probe to send to a pod. It is a {@code GET}; if the path is empty, it only connects, which over
   * TLS includes the handshake, or expects an answer that is not HTTP.
   *
   * @param what its headers are without {@code Host}
   * @param connectTimeout until a connection is open; at most the timeout of the probe
   */
  record ProbeRequest(DialTarget target, PortProtocol protocol, String host,
      ReadinessProbeSpec what, Duration connectTimeout) {
    /** A probe without TLS that may connect as long as it may wait for the answer. */
    public ProbeRequest(Destination destination, PortProtocol protocol, String path, String host,
        Map<String, List<String>> headers, Duration timeout) {
      this(DialTarget.plain(destination), protocol, host,
          new ReadinessProbeSpec(path, headers, timeout), timeout);
    }

    public String path() {
      return what.path();
    }

    /** Until the end of the answer. */
    public Duration timeout() {
      return what.timeout();
    }

    public Destination destination() {
      return target.destination();
    }
  }

  /** What one probe received: a connection, a response, a refusal, a failure or a timeout. */
  sealed interface ProbeResult {
    /** The pod accepted the connection of a probe without a path, and answered as expected. */
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

    /** An answer, but not the expected one. */
    record Unexpected(String reason) implements ProbeResult {}

    /** The host refused the connection, as no server listens. */
    record Refused(String reason) implements ProbeResult {}

    /** No connection was opened. */
    record Failed(String reason) implements ProbeResult {}

    static ProbeResult withoutConnection(UpstreamFailure failure) {
      return failure == UpstreamFailure.REFUSED
          ? new Refused(failure.text())
          : new Failed(failure.text());
    }

    /** No valid response came, or the connection ended. */
    record InvalidResponse(String reason) implements ProbeResult {}

    /** @param connected whether a connection was open */
    record TimedOut(Duration after, boolean connected) implements ProbeResult {}
  }
}
