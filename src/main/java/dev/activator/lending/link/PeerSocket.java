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
     * The other side's kernel has ended the connection, as it does when a process ends: so nothing cuts it
     * off. {@link #closed} follows.
     */
    void finished();

    /** It never opened, or has ended; the last event. */
    void closed(PeerView.State state, String why);
  }

  /** Frames arrive in order. A peer that does not read loses its connection. */
  void send(PeerFrame frame);

  /** Calls no event any more. */
  void close();
}
