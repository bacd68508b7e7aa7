package dev.activator.ext.lending;

import java.util.Set;

/**
 * A listener for the state of the other activators and for their messages. It ignores what it does
 * not override.
 *
 * <p><b>Threads.</b> One call at a time for each peer, in order: {@code onConnected}, its messages,
 * {@code onDisconnected}. After {@code onDisconnected}, no more messages of that connection are
 * delivered.
 */
public interface PeerEventListener {
  /**
   * Called first with the addresses of all activators, and then with each change. They include this
   * activator, those that are not connected, and those that drain.
   */
  default void onActivators(Set<String> addresses) {}

  /** Both sides have said hello. Messages may be sent, also inside this call. */
  default void onConnected(PeerId peer) {}

  /** The link is lost. The process may still run, and connect again. */
  default void onDisconnected(PeerId peer) {}

  /**
   * The process is known to have ended: its pod no longer exists, or another process has replaced
   * it. Called after {@code onDisconnected} if it was connected.
   */
  default void onEnded(PeerId peer) {}

  /**
   * The activator at this address does not lend, because it is Knative's or too old. A later
   * {@code onConnected} revokes this.
   */
  default void onLegacy(String address) {}

  default void onReceived(PeerId peer, PeerMessage message) {}
}
