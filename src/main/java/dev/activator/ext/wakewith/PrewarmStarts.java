package dev.activator.ext.wakewith;

import dev.activator.observability.RequestOutcome;
import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.SyntheticRequest;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts revisions ahead of their requests. It queues a {@link SyntheticRequest} for each one until a
 * pod takes requests, but at most for twice the usual start plus ten seconds.
 *
 * <p><b>Threads.</b> Confined to {@code loop}; any for {@link #cause}.
 */
public final class PrewarmStarts {
  private static final Logger log = LoggerFactory.getLogger(PrewarmStarts.class);

  /** The maximum number of starts at a time. */
  static final int MAX_AT_ONCE = 10;
  /** The minimum time between two starts of one revision. */
  static final Duration PERIOD = Duration.ofSeconds(1);
  static final Duration EXTRA = Duration.ofSeconds(10);

  private final Loop loop;
  private final RequestCounter counter;
  private final Throttler throttler;
  private final LiveRevisions revisions;
  private final Predicate<RevisionId> canStart;
  private final Slot<Starts> slot;
  /** The number of starts at the moment. */
  private int underWay;

  /** The starts of one revision. */
  private static final class Starts {
    /** The cause of the last one. */
    private volatile @Nullable Cause cause;
    /** The time limit of the one that is under way. */
    private Loop.@Nullable Timer timeout;
  }

  /** @param text why the revision was started, as the end of a sentence that begins with "because" */
  private record Cause(String text, long nanos) {}

  /** The result of a request for a start. */
  public enum Result {
    STARTED,
    /** Pods already take requests. */
    SERVES,
    /** Requests already wait for a start. */
    STARTS,
    /** The last start failed, or no autoscaler would scale the revision. */
    CANNOT_START,
    /**
     * The maximum number of starts is reached, or this revision was started less than a second ago.
     */
    OVER_BUDGET,
    /** There is no such revision. */
    UNKNOWN
  }

  /**
   * @param counter the counter of {@code loop}
   * @param canStart false if it is known that the revision cannot be scaled, for example because of
   *     a quota
   */
  public PrewarmStarts(Loop loop, RequestCounter counter, Throttler throttler,
      LiveRevisions revisions, Predicate<RevisionId> canStart) {
    this.loop = loop;
    this.counter = counter;
    this.throttler = throttler;
    this.revisions = revisions;
    this.canStart = canStart;
    this.slot = revisions.declare("starts ahead of requests", _ -> new Starts());
  }

  Loop loop() {
    return loop;
  }

  /** Whether a synthetic request waits for this revision. */
  boolean isUnderWay(RevisionId id) {
    var starts = revisions.peek(id, slot);
    return starts != null && starts.timeout != null;
  }

  /** @param because the reason, as the end of a sentence that begins with "because" */
  Result start(RevisionId id, String because) {
    var revision = revisions.find(id);
    var starts = revision == null ? null : revision.slot(slot);
    if (revision == null || starts == null) {
      return Result.UNKNOWN;
    }
    var result = check(id, starts);
    log.debug("{}: {} because {}", id, result, because);
    if (result == Result.STARTED) {
      begin(revision, starts, because);
    }
    return result;
  }

  private Result check(RevisionId id, Starts starts) {
    var view = throttler.view(id);
    var start = throttler.start(id);
    if (view != null && view.capacity() > 0) {
      return Result.SERVES;
    }
    if (start != null && start.requested() != null) {
      return Result.STARTS;
    }
    if ((start != null && start.failure() != null) || !canStart.test(id)) {
      return Result.CANNOT_START;
    }
    var last = starts.cause;
    return starts.timeout != null || underWay >= MAX_AT_ONCE
        || (last != null && loop.nanoTime() - last.nanos < PERIOD.toNanos())
            ? Result.OVER_BUDGET
            : Result.STARTED;
  }

  private void begin(LiveRevision revision, Starts starts, String because) {
    var id = revision.id();
    starts.cause = new Cause(because, loop.nanoTime());
    var request = new SyntheticRequest(loop, counter, revision, end -> ended(id, starts, end));
    // Counted first, because the request may end inside its start.
    underWay++;
    starts.timeout = loop.schedule(timeout(id), request::giveUp);
    request.start(throttler::admit);
  }

  /**
   * How long a synthetic request waits, and within which time a request must follow for the start to count
   * as used.
   */
  Duration timeout(RevisionId id) {
    var start = throttler.start(id);
    return (start == null ? Duration.ZERO : start.usual()).multipliedBy(2).plus(EXTRA);
  }

  private void ended(RevisionId id, Starts starts, RequestOutcome end) {
    log.debug("{}: the synthetic request has ended: {}", id, end);
    underWay--;
    if (starts.timeout != null) {
      starts.timeout.cancel();
      starts.timeout = null;
    }
  }

  /**
   * Why this revision was last started ahead of its requests, as the end of a sentence that begins
   * with "because"; null if it never was.
   */
  public @Nullable String cause(RevisionId id) {
    var starts = revisions.peek(id, slot);
    var last = starts == null ? null : starts.cause;
    return last == null ? null : last.text;
  }
}
