package dev.activator.ext.lending;

import java.util.Set;

/**
 * The activators that this one knows of.
 *
 * @param isKnown false until the cluster has listed them once
 * @param addresses of all activators, including this one
 * @param peers processes that said hello and have not ended
 * @param notLending addresses of activators that do not lend, or never answered
 */
record KnownActivators(boolean isKnown, Set<String> addresses, Set<PeerId> peers,
    Set<String> notLending) {
  static final KnownActivators UNKNOWN = new KnownActivators(false, Set.of(), Set.of(), Set.of());

  KnownActivators {
    addresses = Set.copyOf(addresses);
    peers = Set.copyOf(peers);
    notLending = Set.copyOf(notLending);
  }

  /** Whether this is the only activator, so that permits need not be shared. */
  boolean isAlone() {
    return addresses.size() <= 1 && peers.isEmpty();
  }

  boolean has(String address) {
    return addresses.contains(address) || isPeer(address);
  }

  /** Whether a peer has this address. A plain loop, because it runs at each change of a queue. */
  boolean isPeer(String address) {
    for (var peer : peers) {
      if (peer.address().equals(address)) {
        return true;
      }
    }
    return false;
  }
}
