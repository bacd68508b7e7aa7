package dev.activator.proxy;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * Ends a caller's HTTP/2 connection in order: the caller is told to send no more requests, those on
 * their way are served, and the last response ends the connection.
 *
 * <p>
 * <b>Source.</b> RFC 9113, section 6.8: two GOAWAYs, a round trip apart.
 */
final class Http2Drain {
  /** How long to wait for the caller's answer. */
  private static final Duration WAIT = Duration.ofSeconds(1);

  private final Http2Session session;
  private final Loop loop;
  private boolean begun;
  private boolean refusesNewRequests;

  Http2Drain(Http2Session session, Loop loop) {
    this.session = session;
    this.loop = loop;
  }

  /** Tells the caller; nothing is refused before it knows. */
  void begin() {
    if (!begun) {
      begun = true;
      session.sendGoAway(Integer.MAX_VALUE);
      session.ping();
      loop.schedule(WAIT, this::refuseNewRequests);
    }
  }

  /** The caller has answered the ping, and so has read the GOAWAY before it. */
  void answered() {
    if (begun) {
      refuseNewRequests();
    }
  }

  /** From now on new requests are refused. */
  private void refuseNewRequests() {
    if (!refusesNewRequests && session.isOpen()) {
      refusesNewRequests = true;
      session.sendGoAway(session.connection().remote().lastStreamCreated());
      streamClosed();
    }
  }

  /** Ends the connection if that was the last of its streams. */
  void streamClosed() {
    if (refusesNewRequests && session.connection().numActiveStreams() == 0) {
      session.end();
    }
  }
}
