package dev.activator.console;

import dev.activator.console.RevisionDetailsSource.Routing;
import dev.activator.console.RevisionDetailsSource.RoutingState;
import dev.activator.revision.RevisionId;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The order of revisions on the console. Revisions of one Service are together, and the Service for
 * which most requests wait is first.
 */
final class CardOrder {
  /** In its Service, the live revision comes first, and then the newest. */
  private static final Comparator<Entry> IN_SERVICE = Comparator
      .comparing((Entry one) -> one.state() != RoutingState.LIVE)
      .thenComparing(one -> one.state() == RoutingState.SUPERSEDED)
      .thenComparing(Entry::id, Comparator.reverseOrder());

  /**
   * @param routing null if it belongs to no Service
   * @param waiting requests
   * @param rank lower for what needs more attention
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

  /** How many of the requests of its Service a revision got, in percent; empty if there were none. */
  static String share(int requests, int ofService) {
    return ofService == 0 ? "" : Math.round(100.0 * requests / ofService) + " %";
  }
}
