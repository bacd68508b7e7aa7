package dev.activator.embedded.autoscaler;

import dev.activator.embedded.autoscaler.policy.RevisionScale;
import dev.activator.embedded.autoscaler.policy.Sample;
import dev.activator.embedded.autoscaler.policy.ScalingLimits;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for pods: at once when reports call for more, every second otherwise.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. The state belongs to {@code loop}, which also makes every
 * call to the scaler.
 *
 * <p>
 * <b>Errors.</b> A report on a revision nobody knows is dropped.
 */
public final class Autoscaler {
  private static final Logger log = LoggerFactory.getLogger(Autoscaler.class);
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final Loop loop;
  private final Supplier<Map<RevisionId, ScalingLimits>> revisions;
  private final Scaler scaler;
  private final Map<RevisionId, RevisionScale> scales = new HashMap<>();
  private final long origin;
  private Loop.@Nullable Timer next;
  private boolean stopped;

  /**
   * @param loop on which everything happens
   * @param revisions those there are now; asked every second and at every report
   * @param scaler what is told how many pods each should have
   */
  public Autoscaler(Loop loop, Supplier<Map<RevisionId, ScalingLimits>> revisions, Scaler scaler) {
    this.loop = loop;
    this.revisions = revisions;
    this.scaler = scaler;
    this.origin = loop.nanoTime();
  }

  /** Begins to decide, now and every second. */
  public void start() {
    loop.execute(this::tick);
  }

  /** Decides nothing any more. */
  public void stop() {
    loop.execute(() -> {
      stopped = true;
      if (next != null) {
        next.cancel();
      }
    });
  }

  /** A reporter said this of a revision. */
  public void received(RevisionId revision, Sample sample) {
    loop.execute(() -> {
      var limits = revisions.get().get(revision);
      if (!stopped && limits != null) {
        var before = scales.getOrDefault(revision, RevisionScale.AT_ZERO);
        settle(revision, before, before.sampled(second(), sample, limits));
      }
    });
  }

  private void tick() {
    if (stopped) {
      return;
    }
    // Before the work, so that a decision that fails does not end them all.
    next = loop.schedule(untilNextSecond(), this::tick);
    var known = revisions.get();
    scales.keySet().retainAll(known.keySet());
    known.forEach((revision, limits) -> {
      var before = scales.getOrDefault(revision, RevisionScale.AT_ZERO);
      settle(revision, before, before.ticked(second(), limits));
    });
  }

  private void settle(RevisionId revision, RevisionScale before, RevisionScale after) {
    scales.put(revision, after);
    if (after.pods() != before.pods()) {
      log.info("{} should have {} pods, not {}", revision, after.pods(), before.pods());
    }
    // Said again while there are any: a revision deleted and made again starts without pods.
    if (after.pods() != before.pods() || after.pods() > 0) {
      scaler.scale(revision, after.pods());
    }
  }

  private long second() {
    return Math.floorDiv(loop.nanoTime() - origin, NANOS_PER_SECOND);
  }

  private Duration untilNextSecond() {
    long into = Math.floorMod(loop.nanoTime() - origin, NANOS_PER_SECOND);
    return Duration.ofNanos(NANOS_PER_SECOND - into);
  }
}
