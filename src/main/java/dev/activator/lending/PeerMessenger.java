package dev.activator.lending;

/**
 * Sends messages to other activators.
 *
 * <p><b>Threads.</b> Any. Messages that one thread sends to a peer arrive in this order, while the
 * link lasts.
 */
public interface PeerMessenger {
  /** Dropped if the peer is not connected: after the next connect both sides start again. */
  void send(PeerId peer, PeerMessage message);
}
