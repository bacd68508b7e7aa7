package dev.activator.simulation;

import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What must hold of one revision's requests at any time. */
final class RevisionChecks {
  static final Duration PERIOD = Duration.ofMillis(10);
  /** Longer than any turn of a loop takes here, and the pause of a pod that could not be reached. */
  private static final Duration HAND_OVER = Duration.ofMillis(100);
  /** After this time without requests the reporter and the autoscaler know of none. */
  private static final Duration IDLE = Duration.ofSeconds(3);
  /** A permit is given, and up to a second later the connection is there. */
  private static final int CHECKS_OF_A_CONNECT = 130;

  private final VirtualLoop clock;
  private final Deployment deployment;
  private final Callers callers;
  private final SimulatedPods pods;
  private final Throttler throttler;
  private final boolean slowStart;
  private final int[] capacities = new int[CHECKS_OF_A_CONNECT];
  private final Lasting waitsBesidePermit = new Lasting();
  private final Lasting countsThoseWhoLeft = new Lasting();
  private final Lasting staysAtZero = new Lasting();
  private int checks;
  /** Whether the next request, or those that wait, are told the autoscaler at once. */
  private boolean wakes;
  /** How many pods it had had at the last check: one may come and go between two. */
  private int made;

  /** Something that may be wrong for a moment, but not for longer. */
  private final class Lasting {
    private long sinceNanos = -1;

    void check(boolean isWrong, Supplier<String> what) {
      if (!isWrong) {
        sinceNanos = -1;
      } else if (sinceNanos < 0) {
        sinceNanos = clock.elapsed().toNanos();
      } else if (clock.elapsed().toNanos() - sinceNanos > HAND_OVER.toNanos()) {
        throw new AssertionError(what.get());
      }
    }
  }

  /** @param slowStart whether new pods without a limit get few requests at first */
  RevisionChecks(VirtualLoop clock, Deployment deployment, Callers callers, SimulatedPods pods,
      Throttler throttler, boolean slowStart) {
    this.clock = clock;
    this.deployment = deployment;
    this.callers = callers;
    this.pods = pods;
    this.throttler = throttler;
    this.slowStart = slowStart;
  }

  private RevisionId id() {
    return deployment.id();
  }

  /** Every {@link #PERIOD}. */
  void check(boolean linkIsUp) {
    checkWakeUp(linkIsUp);
    capacities[++checks % CHECKS_OF_A_CONNECT] = 0;
    var view = throttler.view(id());
    if (view == null) {
      return;
    }
    noteCapacity(view.capacity());
    boolean mayWait = view.queued() == 0 || view.inFlight() >= view.capacity()
        || slowStart && deployment.limit() == 0;
    waitsBesidePermit.check(!mayWait, () -> "requests of " + id() + " wait beside a free permit: "
        + throttler.inspect(id()));
    countsThoseWhoLeft.check(view.queued() + view.inFlight() > callers.open(id()),
        () -> id() + " counts requests that are gone, as there are " + callers.open(id()) + ": "
            + throttler.inspect(id()));
  }

  /** The first request of a revision at zero starts a pod, unless the autoscaler cannot be told. */
  private void checkWakeUp(boolean linkIsUp) {
    boolean asked = callers.open(id()) > 0;
    if (!linkIsUp || !deployment.exists() || deployment.size() > 0 || deployment.made() > made) {
      wakes = false;
    } else if (!asked) {
      wakes = callers.isIdle(id(), IDLE);
    }
    made = deployment.made();
    staysAtZero.check(wakes && asked, () -> id() + " has requests, but no pod is started");
  }

  /** The autoscaler is told at once of all requests that wait. */
  void linked() {
    wakes = callers.open(id()) > 0;
  }

  /** It may be given out for as long as a connection takes. */
  void noteCapacity(int capacity) {
    int now = checks % CHECKS_OF_A_CONNECT;
    capacities[now] = Math.max(capacities[now], capacity);
  }

  /** What is known of a pod is not taken for true of another that has its address now. */
  void listed(PrivateEndpoints listing, @Nullable HealthyDestinations healthy) {
    if (healthy == null || healthy.clusterIp() != null) {
      return;
    }
    for (var destination : healthy.pods().all()) {
      var process = pods.at(destination);
      var listed = listing.on(PortProtocol.HTTP1).identities().get(destination);
      if (process != null && listed != null && listed.uid().equals(process.pod)
          && process.answeredNanos < 0) {
        throw new AssertionError("requests are sent to " + destination
            + ", although its pod has never answered a probe");
      }
    }
  }

  /** Where a request could not be delivered, none is sent before a probe was answered. */
  void unreachable(Destination destination, long whenNanos,
      @Nullable HealthyDestinations healthy) {
    var process = pods.at(destination);
    if (process != null && process.answeredNanos < whenNanos && healthy != null
        && healthy.clusterIp() == null && healthy.pods().contains(destination)) {
      throw new AssertionError("requests are sent to " + destination
          + ", although it was unreachable and has answered no probe since");
    }
  }

  /**
   * A request begins to run.
   *
   * @param sender what was sent for an earlier revision of the same name does not count
   * @param healthy where requests can go now
   */
  void began(Destination destination, SimulatedPods.Process process, String sender,
      @Nullable HealthyDestinations healthy) {
    int limit = deployment.limit();
    if (limit == 0) {
      return;
    }
    int here = pods.running(process);
    if (destination.port() == SimulatedPods.PORT && here > limit) {
      throw new AssertionError(
          destination + " runs " + here + " requests at once, not " + limit);
    }
    var view = throttler.view(id());
    int most = view == null ? 0 : view.capacity();
    int all = pods.runningThroughClusterIp(id(), sender);
    if (healthy != null) {
      most = Math.max(most, limit * healthy.pods().size());
      all += healthy.pods().all().stream().mapToInt(pod -> pods.running(pod, sender)).sum();
    }
    for (int capacity : capacities) {
      most = Math.max(most, capacity);
    }
    if (all > most) {
      throw new AssertionError(all + " requests run at once on the pods of " + id()
          + ", through its ClusterIP or not, though they may run " + most);
    }
  }
}
