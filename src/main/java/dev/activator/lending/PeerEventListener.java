package dev.activator.lending;

import java.util.Set;

/**
 * A listener for the state of the other activators and for their messages.
 *
 * <p><b>Threads.</b> One call at a time for each peer, in order: {@code connected}, its messages,
 * {@code disconnected}. After {@code disconnected}, no more messages of that connection are
 * delivered.
 */
public interface PeerEventListener {
  /**
   * Called first with the addresses of all activators, and then with each change. They include this
   * activator, those that are not connected, and those that drain.
   */
  void activators(Set<String> addresses);

  /** Both sides have said hello. Messages may be sent, also inside this call. */
  void connected(PeerId peer);

  /** The link is lost. The process may still run, and connect again. */
  void disconnected(PeerId peer);

  /**
   * The process is known to have ended: its pod no longer exists, or another process has replaced
   * it. Called after {@code disconnected} if it was connected.
   */
  void ended(PeerId peer);

  /**
   * The activator at this address does not lend, because it is Knative's or too old. A later
   * {@code connected} revokes this.
   */
  void legacy(String address);

  void received(PeerId peer, PeerMessage message);
}
