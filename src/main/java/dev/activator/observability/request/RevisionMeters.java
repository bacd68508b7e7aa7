package dev.activator.observability.request;

import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Metric.Names;
import dev.activator.observability.meter.Sums;
import dev.activator.observability.meter.Tags;
import dev.activator.revision.Revision;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What is counted of one revision's requests on one loop.
 *
 * <p>
 * <b>Threads.</b> The loop's own records; any reads.
 */
final class RevisionMeters {
  private final @Nullable Revision revision;
  private final ServerMeters server;
  private final PodMeters pods;
  private final AtomicInteger queued = new AtomicInteger();
  private final AtomicInteger active = new AtomicInteger();

  /** @param revision null for requests of none */
  RevisionMeters(@Nullable Revision revision) {
    this.revision = revision;
    var tags = HttpTraits.of(revision);
    this.server = new ServerMeters(tags);
    this.pods = new PodMeters(tags);
  }

  /** Whether it is this revision's, and not that of an earlier one of the same name. */
  boolean isOf(Revision other) {
    return revision != null && (revision == other || revision.uid().equals(other.uid()));
  }

  void queued(int more) {
    queued.setOpaque(queued.getPlain() + more);
  }

  void active(int more) {
    active.setOpaque(active.getPlain() + more);
  }

  ServerMeters server() {
    return server;
  }

  PodMeters pods() {
    return pods;
  }

  void addTo(Sums sums) {
    if (revision != null) {
      var tags = Tags.of(Names.NAMESPACE, revision.id().namespace()).and(Names.REVISION,
          revision.id().name());
      sums.add(Metric.REQUEST_QUEUED, tags, queued.getOpaque());
      sums.add(Metric.REQUEST_ACTIVE, tags, active.getOpaque());
    }
    server.addTo(sums);
    pods.addTo(sums);
  }
}
