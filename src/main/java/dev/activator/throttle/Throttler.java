package dev.activator.throttle;

import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.loop.Topic;
import dev.activator.revision.ContainerFailure;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionLookup;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits the requests of all revisions, with one {@link RevisionThrottler} for each revision.
 *
 * <p><b>Threads.</b> Any. A free permit is acquired without a lock or a change of threads. Events
 * of one revision take effect in order.
 *
 * <p><b>Errors.</b> Destinations of an unknown revision are dropped; addresses are kept until the
 * revision exists.
 *
 * <p><b>Source.</b> Knative's {@code Throttler}. There, queued requests of a deleted revision wait
 * for their timeout; here they are rejected immediately.
 */
public final class Throttler {
  private static final Logger log = LoggerFactory.getLogger(Throttler.class);

  private final ConcurrentMap<RevisionId, RevisionThrottler> throttlers = new ConcurrentHashMap<>();
  private final Set<RevisionThrottler> deleted = ConcurrentHashMap.newKeySet();
  /** Addresses that came before their revision. */
  private final ConcurrentMap<RevisionId, PublicEndpointAddresses> pendingAddresses = new ConcurrentHashMap<>();
  private final Function<RevisionId, ? extends Loop> loops;
  private final RevisionLookup revisions;
  private final String ownAddress;
  private final ThrottlerOptions defaults;
  private final RandomGenerator random;
  private final PermitSharing sharing;
  /** Limits the log lines about capacity for all revisions together. */
  private final LogLimit capacityLines = new LogLimit(DestinationSubsetUpdater.MAX_CAPACITY_LINES);
  private final Topic<Unreachable> unreachable = new Topic<>("unreachable pods");
  private final Topic<RevisionId> starts = new Topic<>("requests that need a start");
  private final Topic<Waiting> waiting = new Topic<>("requests that wait");
  private final Topic<RevisionId> starved = new Topic<>("revisions without a pod");

  /** A throttler that shares no permits with another activator. */
  public Throttler(Function<RevisionId, ? extends Loop> loops, RevisionLookup revisions,
      String ownAddress, ThrottlerOptions defaults, RandomGenerator random) {
    this(loops, revisions, ownAddress, defaults, random, PermitSharing.NONE);
  }

  /**
   * @param revisions must no longer find a revision when {@link #revisionGone} is called
   * @param ownAddress this activator's IP address, as in public Endpoints
   * @param random must be thread-safe
   */
  public Throttler(Function<RevisionId, ? extends Loop> loops, RevisionLookup revisions,
      String ownAddress, ThrottlerOptions defaults, RandomGenerator random, PermitSharing sharing) {
    this.loops = loops;
    this.revisions = revisions;
    this.ownAddress = ownAddress;
    this.defaults = defaults;
    this.random = random;
    this.sharing = sharing;
    sharing.onUnknownRevision(this::find);
  }

  /** A request of the revision could not be delivered to the destination. */
  public record Unreachable(RevisionId revision, Destination destination) {}

  /** @param on the loop on which a waiting request of the revision will run */
  public record Waiting(RevisionId revision, Loop on) {}

  /** Publishes destinations to which a request could not be delivered, on the revision's loop. */
  public Topic<Unreachable> unreachable() {
    return unreachable;
  }

  /**
   * Publishes revisions whose first request is queued for a start, on the revision's loop. A request
   * that is rejected because its deadline is too near does not count.
   */
  public Topic<RevisionId> starts() {
    return starts;
  }

  /**
   * Publishes, on the revision's loop, when a request cannot run at once, and then once a second while
   * requests are queued.
   */
  public Topic<Waiting> waiting() {
    return waiting;
  }

  /** Publishes, on the revision's loop, once a second while requests are queued and none can run. */
  public Topic<RevisionId> starved() {
    return starved;
  }

  /**
   * Admits, queues or rejects a request. A caller that is queued or rejected is called later, on
   * its own loop.
   */
  public ThrottleDecision admit(Revision revision, ThrottleDecision.QueuedCaller caller) {
    var throttler = throttlers.get(revision.id());
    return (throttler != null ? throttler : firstSeen(revision)).admit(caller);
  }

  /**
   * Call when a revision was created or changed. A new start failure rejects its queued requests.
   */
  public void revision(Revision revision) {
    created(revision).revision(revision);
  }

  /** Rejects the queued requests if the pods cannot start and no pod runs. */
  public void containerFailure(ContainerFailure news) {
    var throttler = throttlers.get(news.revision());
    if (throttler != null) {
      throttler.containerFailure(news.failure());
    }
  }

  /** Rejects the queued requests; running ones continue. */
  public void revisionGone(RevisionId id) {
    pendingAddresses.remove(id);
    throttlers.computeIfPresent(id, (_, known) -> forgotten(known));
  }

  private @Nullable RevisionThrottler forgotten(RevisionThrottler throttler) {
    deleted.removeIf(other -> other.view().inFlight() == 0);
    deleted.add(throttler);
    throttler.deleted();
    return null;
  }

  /** Rejects all queued requests. Called when the activator shuts down. */
  public void rejectQueued() {
    throttlers.values().forEach(RevisionThrottler::rejectQueued);
  }

  public void destinations(HealthyDestinations healthy) {
    var throttler = find(healthy.revision());
    if (throttler != null) {
      throttler.destinations(healthy);
    }
  }

  public void publicAddresses(PublicEndpointAddresses addresses) {
    var id = addresses.revision();
    var throttler = find(id);
    if (throttler != null) {
      throttler.publicAddresses(addresses, ownAddress);
      return;
    }
    if (addresses.http1().isEmpty() && addresses.h2c().isEmpty()) {
      pendingAddresses.remove(id);
      return;
    }
    pendingAddresses.put(id, addresses);
    // The revision may have been created concurrently, without these addresses.
    var created = find(id);
    if (created != null) {
      applyPending(id, created);
    }
  }

  private void applyPending(RevisionId id, RevisionThrottler throttler) {
    var addresses = pendingAddresses.remove(id);
    if (addresses != null) {
      throttler.initialAddresses(addresses, ownAddress);
    }
  }

  public @Nullable ThrottleView view(RevisionId id) {
    var throttler = throttlers.get(id);
    return throttler == null ? null : throttler.view();
  }

  public ThrottleView.@Nullable Start start(RevisionId id) {
    var throttler = throttlers.get(id);
    return throttler == null ? null : throttler.start();
  }

  /**
   * The number of requests in flight on a destination, of all revisions, including deleted ones.
   */
  public int inFlight(Destination destination) {
    return Stream.concat(throttlers.values().stream(), deleted.stream())
        .map(RevisionThrottler::view).flatMap(view -> view.pods().stream())
        .filter(pod -> pod.destination().equals(destination))
        .mapToInt(ThrottleView.PodLoad::inFlight).sum();
  }

  /** The details of a revision's throttler. Call on the revision's loop. */
  public ThrottleView.@Nullable Details inspect(RevisionId id) {
    var throttler = throttlers.get(id);
    return throttler == null ? null : throttler.inspect();
  }

  public Set<RevisionId> revisions() {
    return Set.copyOf(throttlers.keySet());
  }

  public List<ThrottleView> views() {
    return throttlers.values().stream().map(RevisionThrottler::view)
        .sorted(Comparator.comparing(ThrottleView::revision)).toList();
  }

  private @Nullable RevisionThrottler find(RevisionId id) {
    var throttler = throttlers.get(id);
    if (throttler != null) {
      return throttler;
    }
    var revision = revisions.find(id);
    if (revision == null) {
      log.debug("{}: an event of a revision that does not exist is dropped", id);
      return null;
    }
    return firstSeen(revision);
  }

  private RevisionThrottler firstSeen(Revision revision) {
    var throttler = created(revision);
    // The revision may have been deleted concurrently. Then either this lookup does not find it, or
    // revisionGone runs later and removes the throttler. If the revision was created again, this
    // lookup finds it, or revision() is called later.
    throttlers.computeIfPresent(revision.id(),
        (id, known) -> revisions.find(id) == null ? forgotten(known) : known);
    return throttler;
  }

  private RevisionThrottler created(Revision revision) {
    // Uses compute, because computeIfAbsent may return a throttler that another thread is about to
    // remove.
    var throttler = throttlers.compute(revision.id(),
        (id, known) -> known != null
            ? known
            : new RevisionThrottler(loops.apply(id), revision, defaults, random, sharing,
                capacityLines, new Publisher(id)));
    applyPending(revision.id(), throttler);
    return throttler;
  }

  /** Publishes the events of one revision. */
  private final class Publisher implements RevisionThrottler.Listener {
    private final RevisionId id;

    Publisher(RevisionId id) {
      this.id = id;
    }

    @Override
    public void onUnreachable(Destination destination) {
      unreachable.publish(new Unreachable(id, destination));
    }

    @Override
    public void onStart() {
      starts.publish(id);
    }

    @Override
    public void onWaiting(Loop on) {
      waiting.publish(new Waiting(id, on));
    }

    @Override
    public void onStarved() {
      starved.publish(id);
    }
  }
}
