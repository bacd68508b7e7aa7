package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.throttle.PermitSharing.PodPermits;
import dev.activator.throttle.PodChoice;
import dev.activator.testing.TestRevisions;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One activator of the simulation: the throttler and all that lends, and requests that it runs. */
final class SimulatedActivator {
  static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
  private static final Field LEDGER = field("ledger");
  private static final Field PERMITS = field("permits");
  private static final Field SETTLING = field("settling");

  private final PeerId id;
  private final Loop loop;
  private final TestRevisions revisions;
  private Revision revision;
  private final PermitLending lending;
  private final Throttler throttler;
  private final Random random;
  private final Duration service;
  private final Set<Request> requests = new LinkedHashSet<>();
  private final Map<Destination, Integer> running = new HashMap<>();
  private final Consumer<Destination> onStart;
  private boolean alive = true;
  private boolean held;
  private boolean cut;
  private long pooledUntilNanos;
  private Collection<Destination> listed = List.of();
  private int answered;

  SimulatedActivator(PeerId id, Loop loop, Revision revision, Random random,
      Duration service, BiConsumer<PeerId, PeerMessage> send, Consumer<Destination> onStart) {
    this.onStart = onStart;
    this.id = id;
    this.loop = loop;
    this.revision = revision;
    this.random = random;
    this.service = service;
    revisions = new TestRevisions(loop);
    lending = new PermitLending(id.address());
    throttler = Make.throttler(revisions.live, id.address(),
        ThrottlerOptions.of(10_000), random, lending);
    lending.start(loop, send::accept);
    setRevision(revision);
  }

  PeerId id() {
    return id;
  }

  Loop loop() {
    return loop;
  }

  PermitLending lending() {
    return lending;
  }

  Throttler throttler() {
    return throttler;
  }

  boolean isAlive() {
    return alive;
  }

  void crash() {
    alive = false;
    requests.clear();
    running.clear();
  }

  void revision(Revision now) {
    loop.execute(() -> {
      revision = now;
      setRevision(now);
    });
  }

  void setRevision(Revision now) {
    throttler.onRevision(revisions.put(now));
  }

  /** Until {@link #revision}. */
  void revisionGone() {
    revisions.remove(ID);
  }

  /** Permits that requests use, those on their way to their callers included. */
  PodPermits permits() {
    return (PodPermits) read(PERMITS);
  }

  /** Not a view, which is made for each event of a simulation. */
  Collection<PodLoans> books() {
    return revisionLending().isActive() ? ((RevisionPermitLedger) read(LEDGER)).pods() : List.of();
  }

  /** Whether messages have come that change its permits in a task that is to run. */
  boolean isSettling() {
    return (boolean) read(SETTLING);
  }

  private static Field field(String name) {
    try {
      var field = RevisionLending.class.getDeclaredField(name);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new AssertionError(e);
    }
  }

  private Object read(Field field) {
    try {
      return field.get(revisionLending());
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  int limit() {
    return throttler.inspect(ID).now().containerConcurrency();
  }

  void listed(Collection<String> addresses) {
    loop.execute(
        () -> throttler
            .onPublicAddresses(new PublicEndpointAddresses(ID, List.copyOf(addresses), List.of())));
  }

  void pods(Collection<Destination> pods) {
    listed = pods;
    loop.execute(
        () -> throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(pods))));
  }

  void activators(Set<String> addresses) {
    loop.execute(() -> lending.onActivators(addresses));
  }

  /** From now on requests do not end. */
  void hold(boolean now) {
    held = now;
    if (!now) {
      List.copyOf(requests).forEach(Request::runFor);
    }
  }

  /**
   * From now on no pod can be reached. Requests over pooled connections end only when their callers
   * leave; later ones cannot connect, and then the pod is not listed any more.
   */
  void cutFromPods(Duration pooled) {
    cut = true;
    pooledUntilNanos = loop.nanoTime() + pooled.toNanos();
  }

  /** The pod has answered one. */
  void answerOne() {
    requests.stream().filter(request -> request.permit != null).findFirst().ifPresent(request -> {
      held = false;
      request.end();
      held = true;
    });
  }

  /** A pod refuses the connection. */
  void retryOne() {
    loop.execute(() -> requests.stream().filter(it -> it.permit != null).findFirst()
        .ifPresent(Request::retry));
  }

  /** The callers of all queued requests leave. */
  void callersLeave() {
    List.copyOf(requests).forEach(Request::leave);
  }

  /** No pod can be reached. */
  void retryAll() {
    List.copyOf(requests).forEach(Request::retry);
  }

  void request() {
    request(null);
  }

  /** @param choice null if it may run on any pod */
  void request(@Nullable PodChoice choice) {
    loop.execute(() -> {
      if (choice != null) {
        throttler.choose(revisions.of(ID), caller -> ((Request) caller).choice);
      }
      var request = new Request(choice);
      requests.add(request);
      switch (throttler.admit(revisions.of(ID), request)) {
        case Permit permit -> request.granted(permit);
        case QueueEntry later -> request.place = later;
        case ThrottleDecision.NoRoom _ -> throw new AssertionError("it waits");
      }
    });
  }

  /** Any that runs. */
  void endOne() {
    loop.execute(() -> requests.stream().filter(it -> it.permit != null).findFirst()
        .ifPresent(Request::end));
  }

  RevisionLending revisionLending() {
    return lending.find(ID);
  }

  /** Before their callers left. */
  int answered() {
    return answered;
  }

  long queued() {
    return requests.stream().filter(request -> request.permit == null).count();
  }

  /** Those that run or wait. */
  int requests() {
    return requests.size();
  }

  int running(Destination pod) {
    return running.getOrDefault(pod, 0);
  }

  SharedPermitsView view() {
    var report = throttler.inspect(ID);
    return report == null ? SharedPermitsView.ALONE : report.lending();
  }

  /** Ends when its pod answers, or at the revision's timeout. */
  private final class Request implements QueuedCaller {
    private @Nullable Permit permit;
    private @Nullable QueueEntry place;
    private final @Nullable PodChoice choice;

    Request(@Nullable PodChoice choice) {
      this.choice = choice;
      loop.schedule(revision.timeouts().overall(), this::timeout);
    }

    private void timeout() {
      if (held) {
        return;
      }
      if (permit != null) {
        end();
      } else {
        leave();
      }
    }

    private void leave() {
      if (permit == null && requests.remove(this) && place != null) {
        place.giveUp();
      }
    }

    @Override
    public Loop loop() {
      return loop;
    }

    @Override
    public void granted(Permit granted) {
      permit = granted;
      running.merge(granted.destination(), 1, Integer::sum);
      onStart.accept(granted.destination());
      runFor();
    }

    private void retry() {
      retry(random.nextBoolean());
    }

    private void retry(boolean connected) {
      var failed = permit;
      if (failed != null) {
        permit = null;
        running.merge(failed.destination(), -1, Integer::sum);
        place = failed.retry(this, connected);
        if (place == null) {
          requests.remove(this);
        }
      }
    }

    private void runFor() {
      if (cut && loop.nanoTime() - pooledUntilNanos >= 0) {
        loop.schedule(CONNECT_TIMEOUT, this::notConnected);
      } else if (!held && permit != null) {
        loop.schedule(Duration.ofNanos(random.nextLong(service.toNanos() * 2)), () -> {
          if (!cut) {
            answered += requests.contains(this) ? 1 : 0;
            end();
          }
        });
      }
    }

    private void notConnected() {
      var failed = permit;
      if (failed != null && requests.contains(this)) {
        retry(false);
        pods(listed.stream().filter(pod -> !pod.equals(failed.destination())).toList());
      }
    }

    private void end() {
      if (permit != null && !held && requests.remove(this)) {
        running.merge(permit.destination(), -1, Integer::sum);
        permit.release(Ending.ANSWERED);
      }
    }

    @Override
    public void rejected(Rejection reason) {
      requests.remove(this);
    }
  }
}
