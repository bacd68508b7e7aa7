package dev.activator.lending.link;

import dev.activator.wire.PeerFrame;

/**
 * One connection to another activator, open or being opened.
 *
 * <p><b>Threads.</b> Confined to the loop of {@link PeerNetwork}, {@link Events} included.
 */
interface PeerSocket {
  @FunctionalInterface
  interface Dialer {
    /** Calls no event before it returns. */
    PeerSocket dial(String address, Events events);
  }

  interface Events {
    /** Both sides have proved that they have the key. */
    void opened();

    void received(PeerFrame frame);

    /**
     * The other side's kernel has ended the connection, as it does when a process ends, so the
     * network did not cut it. {@link #closed} follows.
     */
    void finished();

    /** The connection failed to open, or has ended; the last event. */
    void closed(PeerView.State state, String why);
  }

  /** Frames arrive in order. A peer that does not read loses its connection. */
  void send(PeerFrame frame);

  /** Closes without another event. */
  void close();
}
