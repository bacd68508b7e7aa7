package dev.activator.ext.lending;

/**
 * Sends messages to other activators.
 *
 * <p><b>Threads.</b> Any. Messages that one thread sends to a peer arrive in order while the link
 * lasts.
 */
public interface PeerMessenger {
  /**
   * Sends a message. It is dropped if the peer is not connected, because both sides start again
   * after they connect.
   */
  void send(PeerId peer, PeerMessage message);
}
