package dev.activator.throttle;

import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.loop.Topic;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.Slot;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Admits the requests of all revisions, with one {@link RevisionThrottler} for each revision.
 *
 * <p><b>Threads.</b> Any. A free permit is acquired without a lock or a change of threads. Events
 * of one revision take effect in order.
 *
 * <p><b>Errors.</b> Events of an unknown revision are dropped. Queued requests of a deleted revision are
 * rejected; running ones continue.
 *
 * <p><b>Source.</b> Knative's {@code Throttler}, where queued requests of a deleted revision wait for
 * their timeout.
 */
public final class Throttler {
  private final LiveRevisions revisions;
  private final Slot<RevisionThrottler> slot;
  /** Of deleted revisions, whose requests may still run. Idle ones stay until another is deleted. */
  private final Set<RevisionThrottler> deleted = ConcurrentHashMap.newKeySet();
  private final String ownAddress;
  private final ThrottlerOptions defaults;
  private final RandomGenerator random;
  private final PermitSharing sharing;
  /** Limits the log lines about capacity for all revisions together. */
  private final LogLimit capacityLines = new LogLimit(RevisionThrottler.MAX_CAPACITY_LINES);
  private final Topics topics = new Topics();

  /** A throttler that shares no permits with another activator. */
  public Throttler(LiveRevisions revisions, String ownAddress, ThrottlerOptions defaults,
      RandomGenerator random) {
    this(revisions, ownAddress, defaults, random, PermitSharing.NONE);
  }

  /**
   * @param ownAddress this activator's IP address, as in public Endpoints
   * @param random must be thread-safe
   */
  public Throttler(LiveRevisions revisions, String ownAddress, ThrottlerOptions defaults,
      RandomGenerator random, PermitSharing sharing) {
    this.revisions = revisions;
    this.slot = revisions.declare("throttler", this::throttler, this::onRevisionEnded);
    this.ownAddress = ownAddress;
    this.defaults = defaults;
    this.random = random;
    this.sharing = sharing;
    sharing.onUnknownRevision(id -> {
      var _ = revisions.slot(id, slot);
    });
  }

  /** A request of the revision could not be delivered to the destination. */
  public record Unreachable(RevisionId revision, Destination destination) {}

  /** @param on the loop on which a waiting request of the revision will run */
  public record RequestWaits(RevisionId revision, Loop on) {}

  /** What the throttlers publish, each on the loop of its revision. */
  record Topics(Topic<Unreachable> unreachable, Topic<RevisionId> starts,
      Topic<RequestWaits> requestWaits, Topic<RevisionId> starved) {
    Topics() {
      this(new Topic<>("unreachable pods"), new Topic<>("requests that need a start"),
          new Topic<>("requests that wait"), new Topic<>("revisions without a pod"));
    }
  }

  /** Publishes destinations to which a request could not be delivered, on the revision's loop. */
  public Topic<Unreachable> unreachable() {
    return topics.unreachable;
  }

  /**
   * Publishes revisions whose first request is queued for a start, on the revision's loop. A request
   * that is rejected because its deadline is too near does not count.
   */
  public Topic<RevisionId> starts() {
    return topics.starts;
  }

  /**
   * Publishes, on the revision's loop, when a request cannot run at once, and then once a second while
   * requests are queued.
   */
  public Topic<RequestWaits> requestWaits() {
    return topics.requestWaits;
  }

  /** Publishes, on the revision's loop, once a second while requests are queued and none can run. */
  public Topic<RevisionId> starved() {
    return topics.starved;
  }

  /**
   * Admits, queues or rejects a request. A caller that is queued or rejected is called later, on
   * its own loop.
   */
  public ThrottleDecision admit(LiveRevision revision, ThrottleDecision.QueuedCaller caller) {
    var throttler = revision.slot(slot);
    return throttler == null
        ? rejected(revision.id(), caller)
        : throttler.admit(caller);
  }

  private static ThrottleDecision rejected(RevisionId id, ThrottleDecision.QueuedCaller caller) {
    if (!caller.mayWait()) {
      return new ThrottleDecision.NoRoom();
    }
    var request = new LateRequest(caller);
    caller.loop().execute(() -> request.reject(new ThrottleDecision.Rejection.RevisionGone(id)));
    return request;
  }

  /**
   * Call when a revision was created or changed. A new start failure rejects its queued requests.
   */
  public void onRevision(LiveRevision revision) {
    with(revision.slot(slot), it -> it.onRevision(revision.spec()));
  }

  private static void with(@Nullable RevisionThrottler throttler,
      Consumer<RevisionThrottler> event) {
    if (throttler != null) {
      event.accept(throttler);
    }
  }

  /**
   * Counts a request on the pod where it runs, if another one was chosen for it. The pod's limit is
   * exceeded if it has no room.
   *
   * @return null if the pod gets no requests now
   */
  public ThrottleDecision.@Nullable Permit acquireUnlimited(LiveRevision revision,
      Destination pod) {
    var throttler = revision.peek(slot);
    return throttler == null ? null : throttler.permits().acquireUnlimited(pod);
  }

  /** The number of requests that run on a pod, or wait for it only. <b>Threads.</b> Any. */
  public int load(LiveRevision revision, Destination pod) {
    var throttler = revision.peek(slot);
    return throttler == null ? 0 : throttler.permits().load(pod);
  }

  /** The destinations that a revision's requests may go to now, in order. */
  public List<Destination> destinations(LiveRevision revision) {
    var throttler = revision.peek(slot);
    return throttler == null ? List.of() : throttler.permits().subset().destinations();
  }

  /** Lets the requests of a revision choose their pods; null if its balancer chooses them. */
  public void choose(LiveRevision revision, PodChoice.@Nullable Maker maker) {
    with(revision.slot(slot), it -> it.choose(maker));
  }

  /** Rejects the queued requests if the pods cannot start and no pod runs. */
  public void onContainerFailure(ContainerFailure news) {
    with(find(news.revision()), it -> it.onContainerFailure(news.failure()));
  }

  /** Waits are estimated by the node that is added for the pods of a revision. */
  public void onStartProgress(RevisionStartProgress now) {
    with(find(now.revision()), it -> it.onStartProgress(true, now.node()));
  }

  public void onStartProgressEnded(RevisionStartProgress last) {
    with(find(last.revision()), it -> it.onStartProgress(false, Duration.ZERO));
  }

  /** Rejects all queued requests. Called when the activator shuts down. */
  public void rejectQueued() {
    revisions.all(slot).forEach(RevisionThrottler::rejectQueued);
  }

  public void onDestinations(HealthyDestinations healthy) {
    with(revisions.slot(healthy.revision(), slot), it -> it.onDestinations(healthy));
  }

  public void onPublicAddresses(PublicEndpointAddresses addresses) {
    with(revisions.slot(addresses.revision(), slot),
        it -> it.onPublicAddresses(addresses, ownAddress));
  }

  public @Nullable ThrottleView view(RevisionId id) {
    var throttler = find(id);
    return throttler == null ? null : throttler.view();
  }

  public ThrottleView.@Nullable Start start(RevisionId id) {
    var throttler = find(id);
    return throttler == null ? null : throttler.start();
  }

  /**
   * The number of requests in flight on a destination, of all revisions, including deleted ones.
   * Connections over TCP are no requests: they may stay open for ever.
   */
  public int requestsInFlight(Destination destination) {
    return Stream.concat(revisions.all(slot), deleted.stream())
        .filter(throttler -> !throttler.isOfTcp()).map(RevisionThrottler::view)
        .flatMap(view -> view.pods().stream())
        .filter(pod -> pod.destination().equals(destination))
        .mapToInt(ThrottleView.PodLoad::inFlight).sum();
  }

  /** Whether a revision's requests are sent to a destination, also while it is ejected. */
  public boolean sends(Destination destination) {
    return revisions.all(slot).anyMatch(throttler -> !throttler.isWithdrawn(destination));
  }

  /** The details of a revision's throttler. Call on the revision's loop. */
  public ThrottleView.@Nullable Details inspect(RevisionId id) {
    var throttler = find(id);
    return throttler == null ? null : throttler.inspect();
  }

  public Set<RevisionId> revisions() {
    return revisions.all().filter(revision -> revision.peek(slot) != null).map(LiveRevision::id)
        .collect(Collectors.toUnmodifiableSet());
  }

  public List<ThrottleView> views() {
    return revisions.all(slot).map(RevisionThrottler::view)
        .sorted(Comparator.comparing(ThrottleView::revision)).toList();
  }

  private @Nullable RevisionThrottler find(RevisionId id) {
    return revisions.peek(id, slot);
  }

  private RevisionThrottler throttler(LiveRevision revision) {
    return new RevisionThrottler(revision.loop(), revision.spec(), defaults, random, sharing,
        capacityLines, topics);
  }

  private void onRevisionEnded(RevisionThrottler throttler) {
    deleted.removeIf(other -> other.view().inFlight() == 0);
    deleted.add(throttler);
    throttler.end();
  }

  /** A request whose revision was deleted before it was admitted. */
  private static final class LateRequest implements ThrottleDecision.QueueEntry {
    private final ThrottleDecision.QueuedCaller caller;
    private boolean done;

    LateRequest(ThrottleDecision.QueuedCaller caller) {
      this.caller = caller;
    }

    void reject(ThrottleDecision.Rejection reason) {
      if (!done) {
        done = true;
        caller.rejected(reason);
      }
    }

    @Override
    public void giveUp() {
      done = true;
    }
  }
}
