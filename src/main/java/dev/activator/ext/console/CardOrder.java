package dev.activator.ext.console;

import dev.activator.platform.RevisionDetailsSource.Routing;
import dev.activator.platform.RevisionDetailsSource.RoutingState;
import dev.activator.revision.RevisionId;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Orders the revisions on the console. Revisions of one Service are together, and the Service for
 * which most requests wait comes first.
 */
final class CardOrder {
  /** The order in a Service: the live revision comes first, and then the newest. */
  private static final Comparator<Entry> IN_SERVICE = Comparator
      .comparing((Entry one) -> one.state() != RoutingState.LIVE)
      .thenComparing(one -> one.state() == RoutingState.SUPERSEDED)
      .thenComparing(Entry::id, Comparator.reverseOrder());

  /**
   * @param routing null if the revision belongs to no Service
   * @param waiting the number of waiting requests
   * @param rank lower for revisions that need more attention
   */
  record Entry(RevisionId id, @Nullable Routing routing, int waiting, int rank) {
    private @Nullable RoutingState state() {
      return routing == null ? null : routing.state();
    }

    private RevisionId service() {
      return routing == null ? id : new RevisionId(id.namespace(), routing.service());
    }
  }

  private record Group(RevisionId service, int waiting, int rank, List<Entry> members) {
    static Group of(RevisionId service, List<Entry> members) {
      return new Group(service, members.stream().mapToInt(Entry::waiting).sum(),
          members.stream().mapToInt(Entry::rank).min().orElseThrow(),
          members.stream().sorted(IN_SERVICE).toList());
    }
  }

  private CardOrder() {}

  static List<RevisionId> of(Collection<Entry> all) {
    return all.stream().collect(Collectors.groupingBy(Entry::service)).entrySet().stream()
        .map(each -> Group.of(each.getKey(), each.getValue()))
        .sorted(Comparator.comparing(Group::waiting, Comparator.reverseOrder())
            .thenComparing(Group::rank).thenComparing(Group::service))
        .map(Group::members).flatMap(List::stream).map(Entry::id).toList();
  }

  /** A revision's share of the requests of its Service, in percent; empty if there were none. */
  static String share(int requests, int ofService) {
    return ofService == 0 ? "" : Math.round(100.0 * requests / ofService) + " %";
  }
}
