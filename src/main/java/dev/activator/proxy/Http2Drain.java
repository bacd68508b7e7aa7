package dev.activator.proxy;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * Closes a caller's HTTP/2 connection without losing requests that are on their way.
 *
 * <p><b>Source.</b> RFC 9113, section 6.8: two GOAWAYs, a round trip apart.
 */
final class Http2Drain {
  private static final Duration WAIT = Duration.ofSeconds(1);

  private final Http2CallerSession session;
  private final Loop loop;
  private boolean begun;
  private boolean refusesNewRequests;

  Http2Drain(Http2CallerSession session, Loop loop) {
    this.session = session;
    this.loop = loop;
  }

  void begin() {
    if (!begun) {
      begun = true;
      session.sendGoAway(Integer.MAX_VALUE);
      session.ping();
      loop.schedule(WAIT, this::refuseNewRequests);
    }
  }

  /** The caller has answered the ping, so it has also read the GOAWAY before it. */
  void answered() {
    if (begun) {
      refuseNewRequests();
    }
  }

  private void refuseNewRequests() {
    if (!refusesNewRequests && session.isOpen()) {
      refusesNewRequests = true;
      session.sendGoAway(session.connection().remote().lastStreamCreated());
      streamClosed();
    }
  }

  void streamClosed() {
    if (refusesNewRequests && session.connection().numActiveStreams() == 0) {
      session.end();
    }
  }
}
