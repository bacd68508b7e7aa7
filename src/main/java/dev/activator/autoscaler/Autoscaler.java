package dev.activator.autoscaler;

import dev.activator.autoscaler.policy.RevisionScale;
import dev.activator.autoscaler.policy.Sample;
import dev.activator.autoscaler.policy.ScalingLimits;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides how many pods each revision has: up at every report, down once a second.
 *
 * <p>
 * <b>Threads.</b> Any thread may call. {@code loop} owns the state and calls the scaler.
 */
public final class Autoscaler {
  private static final Logger log = LoggerFactory.getLogger(Autoscaler.class);
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final Loop loop;
  private final Supplier<Map<RevisionId, ScalingLimits>> revisions;
  private final ObjIntConsumer<RevisionId> scaler;
  private final Map<RevisionId, RevisionScale> scales = new HashMap<>();
  private final long origin;
  private Loop.@Nullable Timer next;
  private boolean stopped;

  /** @param scaler idempotent: called every second for a revision with pods */
  public Autoscaler(Loop loop, Supplier<Map<RevisionId, ScalingLimits>> revisions,
      ObjIntConsumer<RevisionId> scaler) {
    this.loop = loop;
    this.revisions = revisions;
    this.scaler = scaler;
    this.origin = loop.nanoTime();
  }

  public void start() {
    loop.execute(this::tick);
  }

  public void stop() {
    loop.execute(() -> {
      stopped = true;
      if (next != null) {
        next.cancel();
      }
    });
  }

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
    // First, so that a decision that fails does not end the ticks.
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
    // Repeated, since a revision that is deleted and created again has no pods.
    if (after.pods() != before.pods() || after.pods() > 0) {
      scaler.accept(revision, after.pods());
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
