package dev.activator.ext.lending.link;

import dev.activator.throttle.PeerSnapshot;
import dev.activator.wire.PeerFrame;

/**
 * One connection to another activator, open or being opened.
 *
 * <p><b>Threads.</b> Confined to the loop of {@link PeerNetwork}; this includes {@link Events}.
 */
interface PeerSocket {
  @FunctionalInterface
  interface Dialer {
    /** Dials; raises events later, never inside this call. */
    PeerSocket dial(String address, Events events);
  }

  interface Events {
    /** Both sides have proved that they have the key. */
    void opened();

    void received(PeerFrame frame);

    /**
     * The other side's kernel has ended the connection in order, as it does when a process ends; so
     * it was not the network that cut it. {@link #closed} follows.
     */
    void finished();

    /** The connection failed to open, or has ended. No other event follows. */
    void closed(PeerSnapshot.State state, String why);
  }

  /** Sends a frame. Frames arrive in order. If the peer does not read, its connection is closed. */
  void send(PeerFrame frame);

  /** Closes without another event. */
  void close();
}
