package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import dev.activator.revision.StartTrouble;
import dev.activator.throttle.policy.RevisionOptions;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which request runs when, and where: one {@link RevisionThrottler} for each revision, on
 * that revision's loop.
 *
 * <p>
 * <b>Threads.</b> Any thread may call. While a revision has a permit to give, asking for it takes
 * no lock and never changes threads. Events of one revision take effect in the order given.
 *
 * <p>
 * <b>Errors.</b> Destinations of a revision that does not exist are dropped, with a line at DEBUG;
 * addresses are kept until it does.
 *
 * <p>
 * <b>Source.</b> {@code Throttler} in Knative Serving's {@code throttler.go}, where requests queued
 * for a deleted revision wait for their timeout; here they are rejected at once.
 */
public final class Throttler {
  private static final Logger log = LoggerFactory.getLogger(Throttler.class);

  private final ConcurrentMap<RevisionId, RevisionThrottler> throttlers = new ConcurrentHashMap<>();
  /** Of deleted revisions with requests that still run. */
  private final Set<RevisionThrottler> deleted = ConcurrentHashMap.newKeySet();
  /** Addresses seen before their revision. */
  private final ConcurrentMap<RevisionId, PublicAddresses> pendingAddresses = new ConcurrentHashMap<>();
  private final Function<RevisionId, ? extends Loop> loops;
  private final Revisions revisions;
  private final String ownAddress;
  private final RevisionOptions defaults;
  private final RandomGenerator random;
  private final List<BiConsumer<RevisionId, Destination>> onUnreachable = new CopyOnWriteArrayList<>();
  private final List<Consumer<RevisionId>> onStarved = new CopyOnWriteArrayList<>();

  /**
   * @param loops the loop of a revision, the same each time it is asked for
   * @param revisions those that exist; one is taken out before {@link #revisionGone} is called
   * @param ownAddress this activator's IP address, as in public Endpoints
   * @param defaults how requests are held and spread where a revision's annotations say nothing
   * @param random drawn from by many threads at once
   */
  public Throttler(Function<RevisionId, ? extends Loop> loops, Revisions revisions,
      String ownAddress, RevisionOptions defaults, RandomGenerator random) {
    this.loops = loops;
    this.revisions = revisions;
    this.ownAddress = ownAddress;
    this.defaults = defaults;
    this.random = random;
  }

  /**
   * Adds a listener, before the first request: called on the revision's loop when a request could not
   * be delivered to a destination, so that it is probed.
   */
  public void onUnreachable(BiConsumer<RevisionId, Destination> listener) {
    onUnreachable.add(listener);
  }

  /**
   * Adds a listener, before the first request: called on the revision's loop once a second while
   * requests are queued and none can run.
   */
  public void onStarved(Consumer<RevisionId> listener) {
    onStarved.add(listener);
  }

  /**
   * A permit at once, or an entry in the revision's queue; then the caller is called later, on its
   * own loop, even if the request is rejected.
   */
  public Admission admit(Revision revision, Admission.QueuedCaller caller) {
    var throttler = throttlers.get(revision.id());
    return (throttler != null ? throttler : firstSeen(revision)).admit(caller);
  }

  /** The revision was created or has changed. If it newly cannot start, the queue is rejected. */
  public void revision(Revision revision) {
    created(revision).revision(revision);
  }

  /** The revision's pods cannot start, so the queue is rejected; or they can again. */
  public void startTrouble(StartTrouble news) {
    var throttler = throttlers.get(news.revision());
    if (throttler != null) {
      throttler.startTrouble(news.failure());
    }
  }

  /** The revision was deleted: the queue is rejected, running requests go on. */
  public void revisionGone(RevisionId id) {
    pendingAddresses.remove(id);
    var throttler = throttlers.remove(id);
    if (throttler != null) {
      deleted.removeIf(other -> other.view().inFlight() == 0);
      deleted.add(throttler);
      throttler.deleted();
    }
  }

  /** The revision's requests can go here now. */
  public void destinations(HealthyDestinations healthy) {
    var throttler = find(healthy.revision());
    if (throttler != null) {
      throttler.destinations(healthy);
    }
  }

  /** These activators are in the revision's path now, this one perhaps among them. */
  public void publicAddresses(PublicAddresses addresses) {
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

  /** The state of one revision; null if it is not known here. */
  public @Nullable ThrottleView view(RevisionId id) {
    var throttler = throttlers.get(id);
    return throttler == null ? null : throttler.view();
  }

  /** How many requests run on this destination of a revision, which may be deleted by now. */
  public int inFlight(RevisionId id, Destination destination) {
    return Stream.concat(Stream.ofNullable(throttlers.get(id)), deleted.stream())
        .map(RevisionThrottler::view).filter(view -> view.revision().equals(id))
        .flatMap(view -> view.pods().stream())
        .filter(pod -> pod.destination().equals(destination))
        .mapToInt(ThrottleView.PodView::inFlight).sum();
  }

  /** As {@link #view}, in detail; only on the revision's loop. */
  public ThrottleView.@Nullable Details inspect(RevisionId id) {
    var throttler = throttlers.get(id);
    return throttler == null ? null : throttler.inspect();
  }

  /** The known revisions, in no order. */
  public Set<RevisionId> revisions() {
    return Set.copyOf(throttlers.keySet());
  }

  /** The state of each revision, in their order. */
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
    // It may have been deleted concurrently: either this sees it, or revisionGone runs later and
    // removes the throttler.
    if (revisions.find(revision.id()) == null) {
      revisionGone(revision.id());
    }
    return throttler;
  }

  private RevisionThrottler created(Revision revision) {
    var throttler = throttlers.computeIfAbsent(revision.id(),
        id -> new RevisionThrottler(loops.apply(id), revision, defaults, random,
            destination -> onUnreachable.forEach(one -> one.accept(id, destination)),
            () -> onStarved.forEach(one -> one.accept(id))));
    applyPending(revision.id(), throttler);
    return throttler;
  }
}
