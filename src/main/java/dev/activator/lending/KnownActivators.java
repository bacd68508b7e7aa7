package dev.activator.lending;

import java.util.Set;

/**
 * The activators that this one knows.
 *
 * @param isKnown false until they were listed once
 * @param addresses of all, this one's included
 * @param peers that said hello and have not ended
 * @param notLending addresses of those that do not lend, or never answered
 */
record KnownActivators(boolean isKnown, Set<String> addresses, Set<PeerId> peers,
    Set<String> notLending) {
  static final KnownActivators UNKNOWN = new KnownActivators(false, Set.of(), Set.of(), Set.of());

  KnownActivators {
    addresses = Set.copyOf(addresses);
    peers = Set.copyOf(peers);
    notLending = Set.copyOf(notLending);
  }

  /** No permit needs to be shared. */
  boolean isAlone() {
    return addresses.size() <= 1 && peers.isEmpty();
  }

  boolean has(String address) {
    return addresses.contains(address) || isPeer(address);
  }

  /** Written as a loop, since it runs at each change of a queue. */
  boolean isPeer(String address) {
    for (var peer : peers) {
      if (peer.address().equals(address)) {
        return true;
      }
    }
    return false;
  }
}
