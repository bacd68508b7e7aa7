package dev.activator.ext.wakewith;

import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.SyntheticRequest;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts revisions ahead of their requests. It queues a {@link SyntheticRequest} for each one until a
 * pod takes requests, but at most for twice the usual start plus ten seconds.
 *
 * <p><b>Threads.</b> Confined to {@code loop}; any for {@link #cause} and {@link #onRevisionEnd}.
 */
public final class SpeculativeStarts {
  private static final Logger log = LoggerFactory.getLogger(SpeculativeStarts.class);

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
  private final Map<RevisionId, Loop.Timer> underWay = new HashMap<>();
  /** The cause of a revision's last start. */
  private final Slot<AtomicReference<@Nullable Cause>> causes;

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
  public SpeculativeStarts(Loop loop, RequestCounter counter, Throttler throttler,
      LiveRevisions revisions, Predicate<RevisionId> canStart) {
    this.loop = loop;
    this.counter = counter;
    this.throttler = throttler;
    this.revisions = revisions;
    this.canStart = canStart;
    this.causes = revisions.slot("cause of the last start", _ -> new AtomicReference<>());
  }

  Loop loop() {
    return loop;
  }

  /** Whether a synthetic request waits for this revision. */
  boolean isUnderWay(RevisionId id) {
    return underWay.containsKey(id);
  }

  /** @param because the reason, as the end of a sentence that begins with "because" */
  Result start(RevisionId id, String because) {
    var revision = revisions.find(id);
    var result = revision == null ? Result.UNKNOWN : check(id);
    log.debug("{}: {} because {}", id, result, because);
    if (result == Result.STARTED && revision != null) {
      begin(revision, because);
    }
    return result;
  }

  private Result check(RevisionId id) {
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
    var last = last(id);
    return underWay.containsKey(id) || underWay.size() >= MAX_AT_ONCE
        || (last != null && loop.nanoTime() - last.nanos < PERIOD.toNanos())
            ? Result.OVER_BUDGET
            : Result.STARTED;
  }

  private void begin(LiveRevision revision, String because) {
    var id = revision.id();
    var cause = revision.slot(causes);
    if (cause != null) {
      cause.set(new Cause(because, loop.nanoTime()));
    }
    var request = new SyntheticRequest(loop, counter, revision, end -> ended(id, end));
    // Added first, because the request may end inside its start.
    underWay.put(id, loop.schedule(timeout(id), request::giveUp));
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

  private void ended(RevisionId id, SyntheticRequest.End end) {
    log.debug("{}: the synthetic request has ended: {}", id, end);
    var timeout = underWay.remove(id);
    if (timeout != null) {
      timeout.cancel();
    }
  }

  /**
   * Why this revision was last started ahead of its requests, as the end of a sentence that begins
   * with "because"; null if it never was.
   */
  public @Nullable String cause(RevisionId id) {
    var last = last(id);
    return last == null ? null : last.text;
  }

  private @Nullable Cause last(RevisionId id) {
    var cause = revisions.peek(id, causes);
    return cause == null ? null : cause.get();
  }
}
