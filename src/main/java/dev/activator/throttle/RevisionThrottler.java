package dev.activator.throttle;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.admission.Admission;
import dev.activator.throttle.admission.Rejection;
import dev.activator.throttle.admission.Waiter;
import dev.activator.throttle.policy.ActivatorIndex;
import dev.activator.throttle.policy.Loads;
import dev.activator.throttle.policy.Routing;
import dev.activator.throttle.policy.Subset;
import dev.activator.throttle.policy.Tuning;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is known of one revision, and what follows for the admission of its requests: where they may
 * go, how they are held, and when none will run.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. What is known belongs to {@code loop}.
 *
 * <p>
 * <b>Errors.</b> None are thrown. Who will not run is told why.
 *
 * <p>
 * <b>Source.</b> {@code revisionThrottler} in Knative Serving's {@code throttler.go}, which has a
 * semaphore for the revision and one for each pod, and lets a newcomer take what was freed for
 * another. Here there is one structure and one order: {@link Admissions}.
 */
final class RevisionThrottler implements Admissions.Listener {
  private static final Logger log = LoggerFactory.getLogger(RevisionThrottler.class);

  /** So long a pod that could not be reached is left alone, if the prober says nothing before. */
  private static final Duration ASIDE = Duration.ofMillis(250);
  /** So often it is said that requests wait and nothing can run, the first time after as long. */
  private static final Duration STARVED = Duration.ofSeconds(1);

  private final RevisionId id;
  private final Loop loop;
  private final Common common;
  private final Admissions admissions;
  private final DeadlineTimer starving;
  private volatile Revision revision;
  private Tuning tuning;
  private Routing routing;
  private Subset subset = Subset.NONE;
  private @Nullable StartFailure lastFailure;
  /** Why none of its pods will start, as they say themselves; null while that is not known. */
  private @Nullable StartFailure trouble;
  /** What was last written in full in the log. */
  private @Nullable StartFailure written;
  private boolean gone;

  RevisionThrottler(Loop loop, Revision revision, Common common) {
    this.id = revision.id();
    this.loop = loop;
    this.common = common;
    this.revision = revision;
    this.tuning = tuned(revision);
    this.admissions = new Admissions(id, loop, tuning, common.random(), this);
    this.starving = new DeadlineTimer(loop, this::stillStarved);
    this.routing = Routing.initial(id);
    this.lastFailure = revision.startFailure();
  }

  private Tuning tuned(Revision now) {
    return common.defaults().with(now.annotations(),
        problem -> log.warn("{}: {}; it is ignored", id, problem));
  }

  /** A permit at once, or a place in the queue. */
  Admission admit(Waiter waiter) {
    return admissions.admit(waiter);
  }

  /** The revision was created or has changed. */
  void revision(Revision now) {
    loop.execute(() -> {
      boolean otherwise = now.containerConcurrency() != revision.containerConcurrency();
      if (!now.annotations().equals(revision.annotations())) {
        var before = tuning;
        tuning = tuned(now);
        otherwise |= !tuning.equals(before);
      }
      revision = now;
      if (otherwise) {
        reroute();
      }
      startFailure(now.startFailure());
    });
  }

  private void startFailure(@Nullable StartFailure failure) {
    if (failure == null || failure.equals(lastFailure)) {
      return;
    }
    lastFailure = failure;
    rejectAsOf(failure);
  }

  private void rejectAsOf(StartFailure failure) {
    // While something runs the queue moves on: a pod that fails beside it is no reason to reject.
    if (subset.capacity() == 0 && admissions.queued() > 0) {
      log.info("{}: cannot start ({}), {} waiting requests rejected", id, failure.reason(),
          admissions.queued());
      write(failure);
      admissions.rejectAll(new Rejection.CannotStart(id, failure));
    }
  }

  /** Once: the callers, who come again and again, are told its reason alone. */
  private void write(StartFailure failure) {
    if (!failure.equals(written) && !failure.message().isEmpty()) {
      written = failure;
      log.info("{}: cannot start: {}", id, failure.message().replaceAll("\\p{Cntrl}+", " "));
    }
  }

  /** Its pods say that none of them will start as things are; null when that is not so any more. */
  void startTrouble(@Nullable StartFailure now) {
    loop.execute(() -> {
      trouble = now;
      if (now != null) {
        rejectAsOf(now);
      }
    });
  }

  @Override
  public void starved() {
    starving.within(STARVED);
  }

  private void stillStarved() {
    if (gone || subset.capacity() > 0 || admissions.queued() == 0) {
      return;
    }
    starving.within(STARVED);
    common.starved().accept(id);
    if (trouble != null) {
      rejectAsOf(trouble);
    }
  }

  /** The revision was deleted. What runs ends in its own time. */
  void gone() {
    loop.execute(() -> {
      log.info("{}: deleted, {} waiting requests rejected", id, admissions.queued());
      gone = true;
      admissions.close(new Rejection.RevisionGone(id));
    });
  }

  void destinations(HealthyDestinations now) {
    loop.execute(() -> {
      routing = routing.listed(now);
      reroute();
    });
  }

  @Override
  public void unreachable(Destination destination) {
    if (!subset.destinations().contains(destination)) {
      return;
    }
    log.info("{}: {} could not be reached and is set aside", id, destination);
    routing = routing.unreachable(destination, loop.nanoTime() + ASIDE.toNanos());
    reroute();
    loop.schedule(ASIDE, this::reroute);
    common.suspected().accept(id, destination);
  }

  void publicAddresses(PublicAddresses addresses, String own) {
    loop.execute(() -> activators(addresses, own));
  }

  /** The same, of addresses that may be older than those told before: then they mean nothing. */
  void earlierAddresses(PublicAddresses addresses, String own) {
    loop.execute(() -> {
      if (routing.activator().equals(ActivatorIndex.UNKNOWN)) {
        activators(addresses, own);
      }
    });
  }

  private void activators(PublicAddresses addresses, String own) {
    var before = routing.activator();
    routing = routing.among(addresses.on(revision.protocol()), own);
    var now = routing.activator();
    if (!now.equals(before)) {
      log.info("{}: this is activator {} of {}", id, now.index(), now.activators());
      reroute();
    }
  }

  private void reroute() {
    if (gone) {
      return;
    }
    var before = subset;
    int concurrency = revision.containerConcurrency();
    subset = routing.subset(concurrency, loop.nanoTime());
    if (!subset.equals(before)) {
      log.info("{}: capacity {} on {} destinations, was {} on {}", id, printed(subset.capacity()),
          subset.destinations().size(), printed(before.capacity()), before.destinations().size());
    }
    admissions.route(subset, tuning, concurrency);
  }

  private static Object printed(int capacity) {
    return capacity == Loads.UNLIMITED ? "unlimited" : capacity;
  }

  /** What is so at this moment, asked from any thread. */
  ThrottleView view() {
    return admissions.view(revision.containerConcurrency());
  }

  /** All that is known at this moment; on the loop alone. */
  QueueView inspect() {
    return new QueueView(view(), subset.destinations().size(), admissions.bounds(),
        admissions.start(trouble == null ? revision.startFailure() : trouble),
        routing.activator(), routing.aside().at(loop.nanoTime()).all());
  }
}
