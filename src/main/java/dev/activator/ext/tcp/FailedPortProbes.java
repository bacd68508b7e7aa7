package dev.activator.ext.tcp;

import dev.activator.backend.RevisionBackendsView;
import dev.activator.backend.RevisionBackendsView.Address;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds ready pods that get no connections, because they fail the readinessProbe of their port.
 * Kubernetes does not send that probe, so nothing in it shows the failure.
 *
 * <p><b>Threads.</b> Confined to the loop, except for {@link #start}.
 */
final class FailedPortProbes {
  /** A failure is reported if two checks in a row find it. */
  static final Duration PERIOD = Duration.ofSeconds(5);

  private final Loop loop;
  private final LiveRevisions revisions;
  private final Function<RevisionId, @Nullable RevisionBackendsView> pods;
  private final BiConsumer<RevisionId, String> listener;
  private final ResettableTimer next;
  private final Slot<Probed> slot;

  /** A revision, and the failure that the last check found; empty if it found none. */
  private static final class Probed {
    private final RevisionId id;
    private String failure = "";

    Probed(RevisionId id) {
      this.id = id;
    }
  }

  /** @param listener gets the failure at each check, and an empty text once it has ended */
  FailedPortProbes(Loop loop, LiveRevisions revisions,
      Function<RevisionId, @Nullable RevisionBackendsView> pods,
      BiConsumer<RevisionId, String> listener) {
    this.loop = loop;
    this.revisions = revisions;
    this.pods = pods;
    this.listener = listener;
    this.next = new ResettableTimer(loop, this::check);
    this.slot = revisions.declare("probe of a port", revision -> new Probed(revision.id()),
        ended -> loop.execute(() -> found(ended, "")));
  }

  void start() {
    loop.execute(() -> next.within(PERIOD));
  }

  private void check() {
    next.within(PERIOD);
    revisions.all().forEach(revision -> {
      boolean isProbed = isProbed(revision.spec());
      var known = isProbed ? revision.slot(slot) : revision.peek(slot);
      if (known != null) {
        found(known, isProbed ? failure(pods.apply(known.id)) : "");
      }
    });
  }

  private void found(Probed known, String failure) {
    if (!known.failure.isEmpty()) {
      listener.accept(known.id, failure);
    }
    known.failure = failure;
  }

  private static boolean isProbed(Revision spec) {
    var probe = spec.readinessProbe();
    return probe != null && probe.answer() != null;
  }

  /** The failure of a ready pod; empty unless there is one, and no pod serves. */
  private static String failure(@Nullable RevisionBackendsView view) {
    return view == null || view.pods().stream().anyMatch(Address::serves)
        ? ""
        : view.pods().stream().filter(pod -> pod.ready() && pod.failures() > 0)
            .map(pod -> pod.destination() + " " + pod.probe().outcome()).findFirst().orElse("");
  }
}
