package dev.activator.ext.asleep;

import dev.activator.config.RevisionAnnotations;
import dev.activator.loop.Loop;
import dev.activator.revision.IdleState.FallingAsleep;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Acknowledges to the leader that this activator sends nothing to pods that are about to fall asleep: no
 * request may get a permit any more, for any port, and all that had one have ended. It is repeated once
 * a second, since a report may be lost.
 *
 * <p><b>Threads.</b> Called on the cluster's loop. The state belongs to {@code loop}; each revision is
 * checked on its own loop, where its pods are opened and closed.
 */
final class IdleAcknowledger {
  private static final Duration POLL = Duration.ofMillis(20);
  private static final Duration REPEAT = Duration.ofSeconds(1);

  private final Loop loop;
  private final Throttler throttler;
  private final StatSink reports;
  private final LiveRevisions revisions;
  private final Slot<Port> portSlot;
  /** Of the revision of a ScaledService's own port. */
  private final Slot<AtomicReference<@Nullable Falling>> slot;

  /** Whether Kubernetes lists pods for a port. <b>Threads.</b> The cluster's loop. */
  private static final class Port {
    private boolean isListed;
  }

  /** A ScaledService that falls asleep, with those of its ports that are known to do so. */
  private record Falling(FallingAsleep state, Set<LiveRevision> ports) {}

  IdleAcknowledger(Loop loop, LiveRevisions revisions, Throttler throttler, StatSink reports) {
    this.loop = loop;
    this.revisions = revisions;
    this.slot = revisions.declare("falling asleep", _ -> new AtomicReference<>());
    this.portSlot = revisions.declare("pods that may fall asleep", _ -> new Port());
    this.throttler = throttler;
    this.reports = reports;
  }

  /**
   * Call for the pods of each revision, after the probes got them. Once there are none, no probe that
   * is under way makes a destination of one.
   */
  void onListed(PrivateEndpoints pods) {
    var revision = revisions.find(pods.revision());
    var port = revision == null ? null : revision.slot(portSlot);
    if (revision != null && port != null) {
      port.isListed = !pods.http1().all().isEmpty() || !pods.h2c().all().isEmpty();
      onRevision(revision);
    }
  }

  /** Call for each new and each changed revision. */
  void onRevision(LiveRevision revision) {
    var port = revision.slot(portSlot);
    var state = port == null || port.isListed ? null : state(revision);
    if (state != null) {
      var id = revision.id().withoutPort();
      loop.execute(() -> {
        var falling = revisions.slot(id, slot);
        if (falling == null) {
          return;
        }
        var known = falling.get();
        if (known == null || !known.state.equals(state)) {
          known = new Falling(state, new HashSet<>());
          falling.set(known);
        }
        if (known.ports.add(revision) && known.ports.size() == state.ports()) {
          poll(id, falling, known);
        }
      });
    }
  }

  private void poll(RevisionId id, AtomicReference<@Nullable Falling> falling, Falling now) {
    if (falling.get() != now
        || now.ports.stream().anyMatch(port -> !now.state.equals(state(port)))) {
      return;
    }
    check(new ArrayDeque<>(now.ports), now, isUnused -> {
      if (isUnused) {
        reports.atOnce(List.of(RevisionStat.acknowledgement(id, now.state.version())));
      }
      loop.schedule(isUnused ? REPEAT : POLL, () -> poll(id, falling, now));
    });
  }

  /** Checks the ports of a ScaledService, each on its loop. */
  private void check(Deque<LiveRevision> ports, Falling now, Consumer<Boolean> then) {
    var next = ports.poll();
    if (next == null) {
      then.accept(true);
      return;
    }
    // The first task runs after the one that withdraws the destinations, the second after the one that
    // closes them.
    next.loop().execute(() -> next.loop().execute(() -> {
      var view = throttler.view(next.id());
      boolean isUnused = now.state.equals(state(next)) && throttler.destinations(next).isEmpty()
          && (view == null || view.inFlight() == 0);
      loop.execute(() -> {
        if (isUnused) {
          check(ports, now, then);
        } else {
          then.accept(false);
        }
      });
    }));
  }

  private static @Nullable FallingAsleep state(LiveRevision revision) {
    return FallingAsleep.parse(
        revision.spec().annotations().getOrDefault(RevisionAnnotations.FALLING_ASLEEP, ""));
  }
}
