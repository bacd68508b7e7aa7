package dev.activator.ext.lending.link;

import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Derives the addresses of all activators from revisions' public Endpoints. Public Endpoints
 * contain either activators or pods. If they contain our own address, they contain activators.
 *
 * <p>Thousands of revisions have the same list, so each list is kept only once.
 */
final class ActivatorAddresses {
  private final String own;
  private final Map<RevisionId, Shared> ofRevision = new HashMap<>();
  private final Map<List<String>, Shared> shared = new HashMap<>();

  private static final class Shared {
    private final List<String> addresses;
    private int revisions;

    Shared(List<String> addresses) {
      this.addresses = addresses;
    }
  }

  ActivatorAddresses(String own) {
    this.own = own;
  }

  /** Returns whether {@link #others} may have changed. */
  boolean changed(PublicEndpointAddresses now) {
    var list = has(now.http1()) ? now.http1() : has(now.h2c()) ? now.h2c() : List.<String>of();
    var before = ofRevision.get(now.revision());
    if (before == null ? list.isEmpty() : before.addresses.equals(list)) {
      return false;
    }
    boolean isNew = false;
    if (list.isEmpty()) {
      ofRevision.remove(now.revision());
    } else {
      isNew = !shared.containsKey(list);
      var kept = shared.computeIfAbsent(list, Shared::new);
      kept.revisions++;
      ofRevision.put(now.revision(), kept);
    }
    return leave(before) || isNew;
  }

  /** Returns whether no revision has the list now. */
  private boolean leave(@Nullable Shared list) {
    if (list == null || --list.revisions > 0) {
      return false;
    }
    shared.remove(list.addresses);
    return true;
  }

  private boolean has(List<String> addresses) {
    return Collections.binarySearch(addresses, own) >= 0;
  }

  /** The addresses of the other activators. */
  Set<String> others() {
    var all = new TreeSet<String>();
    shared.keySet().forEach(all::addAll);
    all.remove(own);
    return all;
  }
}
