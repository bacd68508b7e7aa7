package dev.activator.lending;

import java.util.Set;

/**
 * A callback that receives the state of the other activators, and their messages.
 *
 * <p><b>Threads.</b> One call at a time for each peer, in order: {@code connected}, its messages,
 * {@code disconnected}. A message of an earlier connection never comes after that.
 */
public interface PeerEventListener {
  /**
   * All activators that exist now, by address: also this one, those that are not connected and those
   * that drain. Called first with the complete list, then with each change.
   */
  void activators(Set<String> addresses);

  /** Both sides said hello. Messages may be sent, also inside this call. */
  void connected(PeerId peer);

  /** The link is lost. The process may live, and connect again. */
  void disconnected(PeerId peer);

  /**
   * The process is known to have ended, after {@code disconnected} if it was connected: its pod no
   * longer exists, or another process has its place.
   */
  void ended(PeerId peer);

  /** This activator does not lend: it is Knative's, or too old. {@code connected} revokes it. */
  void legacy(String address);

  void received(PeerId peer, PeerMessage message);
}
