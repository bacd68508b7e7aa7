package dev.activator.ext.lending;

import java.util.Set;

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

  /**
   * A listener for the state of the other activators and for their messages. It ignores what it does
   * not override.
   *
   * <p><b>Threads.</b> One call at a time for each peer, in order: {@code onConnected}, its messages,
   * {@code onDisconnected}. After {@code onDisconnected}, no more messages of that connection are
   * delivered.
   */
  interface PeerEventListener {
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

  /**
   * Identifies one process of an activator. After a restart the activator is another peer at the same
   * address.
   *
   * @param address as in the public Endpoints of revisions
   * @param process differs between any two processes, including those of the same pod
   */
  record PeerId(String address, String process) {}
}
