package dev.activator.standalone.autoscaler;

import dev.activator.platform.Platform.ScalingViews;
import dev.activator.revision.ScalingListener;
import dev.activator.revision.ScalingView;
import dev.activator.kube.LeadershipCheck;
import dev.activator.standalone.autoscaler.WorkloadConflicts.Unscaled;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter;
import dev.activator.standalone.autoscaler.policy.Acknowledgements;
import dev.activator.standalone.autoscaler.policy.ReportCompleteness;
import dev.activator.standalone.autoscaler.policy.LoadSample;
import dev.activator.standalone.autoscaler.policy.ScalingSettings;
import dev.activator.loop.Loop;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.revision.ScaleTarget;
import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.standalone.policy.KeepWarmSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many replicas each workload has, and scales it: every two seconds, and at once when a
 * report shows that a workload at zero has a request. {@link #start} begins a term, which knows
 * nothing of earlier terms.
 *
 * <p><b>Threads.</b> Any thread may call. The state belongs to {@code loop}.
 *
 * <p><b>Errors.</b> A report on an unknown workload is kept for three seconds, in case its object
 * arrives later, and then dropped.
 */
public final class Autoscaler implements ScalingViews {
  private static final Duration EARLY = Duration.ofSeconds(3);
  private static final int MAX_EARLY = 1_000;

  private final Loop loop;
  private final ScaleClient<ScaleTarget> scales;
  private final LeadershipCheck guard;
  private final ScalingListener listener;
  private final RandomGenerator random;
  private final Clock wall;
  /** Written on the loop, read by any thread. */
  private final Map<RevisionId, Target> targets = new ConcurrentSkipListMap<>();
  private final Map<RevisionId, Early> early = new HashMap<>();
  /** Those that are not scaled, and have pods. */
  private final Map<RevisionId, Unscaled> unscaled = new HashMap<>();
  /** Completes when the last writes of removed workloads have ended. */
  private CompletableFuture<Void> stopping = CompletableFuture.completedFuture(null);
  private final Acknowledgements acknowledgements = new Acknowledgements();
  private @Nullable Map<String, Boolean> members;
  private @Nullable Term term;

  /** A workload to scale, and its scaler in this term. */
  private static final class Target {
    private Configured configured;
    private int ready;
    private int present;
    /** Null if no term runs. */
    private volatile @Nullable TargetScaler scaler;

    Target(Configured configured) {
      this.configured = configured;
    }
  }

  /**
   * A report on a workload that is not known yet, because its object may arrive after the report.
   */
  private record Early(long at, LoadSample sample) {}

  record Configured(ScaleTarget workload, ScalingSettings settings, Duration requestTimeout,
      OptionalInt lastDesired, KeepWarmSettings warmTimes, ConflictSpec conflicts,
      String refusal) {
    /**
     * Whether the two are equal, except for what was published last, which only the next term
     * uses.
     */
    boolean isScaledLike(@Nullable Configured other) {
      return other != null && equals(other.published(lastDesired, conflicts.wasStopping()));
    }

    ConflictArbiter.Settings conflictSettings() {
      return new ConflictArbiter.Settings(conflicts, requestTimeout);
    }

    private Configured published(OptionalInt desired, boolean stopping) {
      return new Configured(workload, settings, requestTimeout, desired, warmTimes,
          conflicts.published(stopping), refusal);
    }
  }

  record Term(Loop loop, long origin, Clock wall, ScaleClient<ScaleTarget> scales,
      LeadershipCheck guard,
      ScalingListener listener, RandomGenerator random, ScaleReadQueue reads,
      ReportCompleteness activators, WorkloadConflicts conflicts) {
    /** Nanoseconds since the term began. */
    long now() {
      return loop.nanoTime() - origin;
    }
  }

  /**
   * @param guard says before each write whether it is allowed
   * @param random the source of jitter
   */
  public Autoscaler(Loop loop, ScaleClient<ScaleTarget> scales, LeadershipCheck guard,
      ScalingListener listener,
      RandomGenerator random) {
    this(loop, scales, guard, listener, random, Clock.systemUTC());
  }

  /** @param wall the clock for schedules */
  public Autoscaler(Loop loop, ScaleClient<ScaleTarget> scales, LeadershipCheck guard,
      ScalingListener listener,
      RandomGenerator random, Clock wall) {
    this.wall = wall;
    this.loop = loop;
    this.scales = scales;
    this.guard = guard;
    this.listener = listener;
    this.random = random;
  }

  public void start() {
    loop.execute(() -> {
      if (term == null) {
        var begun = new Term(loop, loop.nanoTime(), wall, scales, guard, listener, random,
            new ScaleReadQueue(loop), new ReportCompleteness(0), new WorkloadConflicts(loop));
        term = begun;
        passMembers();
        unscaled.forEach(begun.conflicts::unscaled);
        targets.forEach((id, target) -> scale(begun, id, target));
      }
    });
  }

  /**
   * Ends the term: stops scaling, publishes the changed views, and forgets everything except the
   * workloads.
   *
   * @return a future that completes when no write is under way
   */
  public CompletableFuture<Void> stop() {
    return CompletableFuture.supplyAsync(() -> {
      var ended = term;
      // When the last write of this term ends, the next term may have begun.
      BooleanSupplier isLatest = () -> term == null || term == ended;
      var finished = targets.values().stream().map(target -> target.scaler)
          .filter(Objects::nonNull).map(scaler -> scaler.finish(isLatest));
      var ending = Stream.concat(Stream.of(stopping), finished).toArray(CompletableFuture[]::new);
      targets.values().forEach(target -> target.scaler = null);
      early.clear();
      term = null;
      return CompletableFuture.allOf(ending);
    }, loop).thenCompose(ending -> ending);
  }

  /** Begins to scale a ScaledService's workload, or changes its settings. */
  public void target(ScaledServiceSpec target) {
    configure(target.id(), new Configured(target.workload(), ScalingSettings.of(target),
        target.requestTimeout(), target.lastDesired(), target.warmTimes(),
        target.conflicts(), target.refusal()));
  }

  public void target(RevisionId id, ScaleTarget workload, ScalingSettings settings) {
    configure(id, new Configured(workload, settings, Duration.ZERO, OptionalInt.empty(),
        KeepWarmSettings.NONE, ConflictSpec.NONE, ""));
  }

  private void configure(RevisionId id, Configured now) {
    loop.execute(() -> {
      var target = targets.get(id);
      if (target == null || !target.configured.workload.equals(now.workload)) {
        forget(id);
        unscaled.remove(id);
        var fresh = new Target(now);
        targets.put(id, fresh);
        if (term != null) {
          scale(term, id, fresh);
        }
        return;
      }
      var before = target.configured;
      var scaler = target.scaler;
      target.configured = now;
      if (scaler != null && !now.isScaledLike(before)) {
        scaler.configured(now);
      }
    });
  }

  /**
   * Stops scaling a workload, which keeps its replicas. Does nothing if the name already belongs to
   * another workload.
   */
  public void targetGone(RevisionId id, ScaleTarget workload) {
    loop.execute(() -> {
      var known = targets.get(id);
      if (known != null && known.configured.workload.equals(workload)) {
        forget(id);
      }
    });
  }

  private void forget(RevisionId id) {
    acknowledgements.forget(id);
    var target = targets.remove(id);
    if (target != null) {
      stop(target.scaler);
      var last = target.configured;
      unscaled(id, new Unscaled(last.conflictSettings(), target.present));
    }
  }

  private void unscaled(RevisionId id, Unscaled now) {
    if (now.pods() == 0) {
      unscaled.remove(id);
    } else {
      unscaled.put(id, now);
    }
    if (term != null) {
      term.conflicts.unscaled(id, now);
    }
  }

  private void stop(@Nullable TargetScaler scaler) {
    if (scaler != null) {
      var last = scaler.stop();
      stopping = stopping.isDone() ? last : CompletableFuture.allOf(stopping, last);
    }
  }

  /** Forgets a workload's load, so that only new requests keep its pods. */
  public CompletableFuture<Void> forgetLoad(RevisionId ofAnyPort) {
    var id = ofAnyPort.withoutPort();
    return CompletableFuture.runAsync(() -> {
      var target = targets.get(id);
      if (target != null && term != null) {
        stop(target.scaler);
        // A new scaler would keep the pods that are ready.
        target.ready = 0;
        target.present = 0;
        scale(term, id, target);
      }
    }, loop);
  }

  /** Sets how many pods of a workload are ready and not terminating; no others are known. */
  public void pods(RevisionId id, int nowReady) {
    pods(id, nowReady, nowReady);
  }

  /**
   * Sets how many pods of a workload are ready and not terminating, and how many there are in any
   * condition.
   */
  public void pods(RevisionId id, int nowReady, int nowPresent) {
    loop.execute(() -> {
      var target = targets.get(id);
      if (target != null) {
        target.ready = nowReady;
        target.present = nowPresent;
        var scaler = target.scaler;
        if (scaler != null) {
          scaler.pods(nowReady, nowPresent);
        }
      } else {
        unscaled(id, unscaled.getOrDefault(id, Unscaled.NONE).with(nowPresent));
      }
    });
  }

  /**
   * Sets the activators that must have reported before anything is scaled down.
   *
   * @param pods whether each activator is ready, by the name of its pod; null while this is unknown
   */
  public void members(@Nullable Map<String, Boolean> pods) {
    loop.execute(() -> {
      members = pods;
      passMembers();
    });
  }

  public void received(ReportBatch batch) {
    loop.execute(() -> {
      if (term == null) {
        return;
      }
      var busy = batch.entries().stream().filter(one -> one.sample().concurrency() > 0)
          .map(ReportBatch.Entry::revision).collect(Collectors.toSet());
      batch.acknowledged().forEach((id, version) -> {
        if (targets.containsKey(id)) {
          acknowledgements.acknowledged(id, batch.reporter(), version);
        }
      });
      if (term.activators.isLate(term.now(), batch.reporter())) {
        targets.values().stream().map(target -> target.scaler).filter(Objects::nonNull)
            .forEach(TargetScaler::repeatLastReports);
      }
      if (batch.uptime().isPresent()) {
        term.activators.batch(term.now(), batch.reporter(), batch.uptime(), busy);
      } else {
        term.activators.busy(batch.reporter(), busy);
      }
      for (var entry : batch.entries()) {
        var target = targets.get(entry.revision());
        var scaler = target == null ? null : target.scaler;
        if (scaler != null) {
          scaler.reported(entry.sample());
        } else if (entry.sample().concurrency() > 0) {
          keepEarly(term.now(), entry);
        }
      }
      if (batch.uptime().isPresent()) {
        term.conflicts.evaluate();
      }
    });
  }

  /**
   * The activators that may still send something to the pods of a workload in this state, by their
   * pods; never empty while they are unknown. Call on the loop.
   */
  public List<String> unacknowledged(RevisionId id, IdleState state) {
    return members == null || members.isEmpty()
        ? List.of("the endpoints of our own Service")
        : acknowledgements.missing(id, state.version(), members.keySet());
  }

  private void keepEarly(long now, ReportBatch.Entry entry) {
    if (early.size() >= MAX_EARLY) {
      early.values().removeIf(one -> now - one.at > EARLY.toNanos());
    }
    if (early.size() < MAX_EARLY) {
      early.put(entry.revision(), new Early(now, entry.sample()));
    }
  }

  /** The current view of each workload; empty if no term runs. */
  @Override
  public Map<RevisionId, ScalingView> views() {
    var views = new TreeMap<RevisionId, ScalingView>();
    targets.keySet().forEach(id -> {
      var view = view(id);
      if (view != null) {
        views.put(id, view);
      }
    });
    return views;
  }

  /** The current view of a workload, for a revision of any of its ports; null if no term runs. */
  @Override
  public @Nullable ScalingView view(RevisionId id) {
    var target = targets.get(id.withoutPort());
    var scaler = target == null ? null : target.scaler;
    return scaler == null ? null : scaler.lastView();
  }

  /** How long ago this process scaled the workload from zero in this term; null if it did not. */
  @Override
  public @Nullable Duration scaledFromZero(RevisionId id) {
    var target = targets.get(id.withoutPort());
    var scaler = target == null ? null : target.scaler;
    return scaler == null ? null : scaler.scaledFromZero();
  }

  private void scale(Term now, RevisionId id, Target target) {
    var scaler = new TargetScaler(now, id, target.configured, target.ready, target.present);
    target.scaler = scaler;
    scaler.start();
    var sooner = early.remove(id);
    early.values().removeIf(one -> now.now() - one.at > EARLY.toNanos());
    if (sooner != null && now.now() - sooner.at <= EARLY.toNanos()) {
      scaler.reported(sooner.sample);
    }
  }

  private void passMembers() {
    if (term != null && members != null) {
      term.activators.members(term.now(), members);
    } else if (term != null) {
      term.activators.membersUnknown();
    }
  }
}
