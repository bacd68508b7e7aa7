package dev.activator.ext.autoscalerfallback;

import dev.activator.kube.LeaderElection;
import dev.activator.revision.ScalingListener;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.ChildName;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scales a revision from zero to one when requests wait for it and Knative's autoscaler cannot be
 * reached. It never starts a second pod, and never stops a pod. The setting is
 * {@code activator.rescue}.
 *
 * <p>The activators elect one of them for this task; an activator is a candidate only while
 * requests wait in it for a revision at zero.
 *
 * <p><b>Threads.</b> Any thread may call. The state belongs to {@code loop}.
 */
public final class AutoscalerFallback {
  static final Duration WITHOUT_LINK = Duration.ofSeconds(15);
  private static final Duration TICK = Duration.ofSeconds(1);
  /** How long a call of {@link #waits} counts. Callers repeat it once a second. */
  private static final Duration STILL_WAITS = Duration.ofSeconds(3);
  private static final Logger log = LoggerFactory.getLogger(AutoscalerFallback.class);

  private final Loop loop;
  private final ScaleClient<? super ScaleTargetRef> scales;
  private final Function<LeaderElection.Listener, LeaderElection> elections;
  private final ScalingListener listener;
  private final ResettableTimer ticks;
  private final LiveRevisions revisions;
  private final Slot<Waiting> slot;
  private final Candidate candidate = new Candidate();
  private @Nullable LeaderElection election;
  /**
   * Completes when the last election has released its lease. It could otherwise take the lease from
   * the next election of this activator.
   */
  private CompletableFuture<Void> resigned = CompletableFuture.completedFuture(null);
  private @Nullable CompletableFuture<Void> underWay;
  private boolean leads;
  private boolean linked;
  private long unlinkedSince;
  private boolean stopped;

  /** A revision for which a request has waited. */
  private static final class Waiting {
    private final RevisionId id;
    private long lastNanos;
    /** Whether it is not tried again in this outage. */
    private boolean isDone;
    /** Whether its last read or write failed. The others are tried first. */
    private boolean hasFailed;

    Waiting(LiveRevision revision) {
      this.id = revision.id();
    }
  }

  /**
   * @param elections makes an election that is not started yet, on the same loop
   * @param listener is notified of each revision that was started, or that cannot be started
   */
  public AutoscalerFallback(LiveRevisions revisions, Loop loop,
      ScaleClient<? super ScaleTargetRef> scales,
      Function<LeaderElection.Listener, LeaderElection> elections, ScalingListener listener) {
    this.revisions = revisions;
    this.slot = revisions.declare("autoscaler fallback", Waiting::new);
    this.loop = loop;
    this.scales = scales;
    this.elections = elections;
    this.listener = listener;
    this.ticks = new ResettableTimer(loop, this::tick);
    this.unlinkedSince = loop.nanoTime();
  }

  public void start() {
    loop.execute(this::tick);
  }

  /** Completes when nothing is under way. */
  public CompletableFuture<Void> stop() {
    return CompletableFuture.supplyAsync(() -> {
      stopped = true;
      ticks.cancel();
      return resign();
    }, loop).thenCompose(ending -> ending);
  }

  public void linked(boolean now) {
    loop.execute(() -> {
      if (linked && !now) {
        unlinkedSince = loop.nanoTime();
      }
      if (now) {
        revisions.clear(slot);
      }
      linked = now;
    });
  }

  /** Reports that a request waits for the revision. Callers repeat this every second. */
  public void onRequestWaits(RevisionId id) {
    loop.execute(() -> {
      var waiting = revisions.slot(id, slot);
      if (waiting != null) {
        waiting.lastNanos = loop.nanoTime();
      }
    });
  }

  private void tick() {
    if (stopped) {
      return;
    }
    ticks.within(TICK);
    long now = loop.nanoTime();
    boolean needed = !linked && now - unlinkedSince >= WITHOUT_LINK.toNanos()
        && remaining().findAny().isPresent();
    if (!needed) {
      var _ = resign();
    } else if (election == null) {
      if (resigned.isDone()) {
        election = elections.apply(candidate);
        election.start();
      }
    } else {
      if (remaining().allMatch(one -> one.hasFailed)) {
        revisions.all(slot).forEach(one -> one.hasFailed = false);
      }
      next();
    }
  }

  private Stream<Waiting> remaining() {
    long now = loop.nanoTime();
    return revisions.all(slot)
        .filter(one -> !one.isDone && now - one.lastNanos <= STILL_WAITS.toNanos());
  }

  private CompletableFuture<Void> resign() {
    var current = election;
    election = null;
    if (current != null) {
      resigned = current.stop();
    }
    return resigned;
  }

  private void next() {
    var current = election;
    if (current != null && leads && !linked && underWay == null) {
      remaining().filter(one -> !one.hasFailed).findFirst()
          .ifPresent(one -> rescue(one, current));
    }
  }

  private void rescue(Waiting one, LeaderElection current) {
    var id = one.id;
    var workload = new ScaleTargetRef("apps/v1", "Deployment",
        ChildName.of(id.name(), "-deployment"));
    await(scales.read(id, workload), read -> {
      if (read instanceof Found found && found.replicas() == 0 && current.mayWrite() && !linked) {
        await(scales.write(id, workload, found, 1), written -> {
          if (written instanceof Found) {
            one.isDone = true;
            happened(id, false, "Rescued", workload
                + " goes from 0 to 1: requests wait, and Knative's autoscaler has not been"
                + " connected for " + Duration.ofNanos(loop.nanoTime() - unlinkedSince).toSeconds()
                + " s");
          } else {
            refused(one, written);
          }
        });
      } else if (read instanceof Found found && found.replicas() > 0) {
        one.isDone = true;
      } else if (read instanceof Found) {
        one.hasFailed = true;
      } else {
        refused(one, read);
      }
    });
  }

  private void refused(Waiting one, ScaleApiResult answer) {
    if (answer instanceof Refused(var reason, var message, _)) {
      switch (reason) {
        case CONFLICT, UNAVAILABLE -> {
          one.hasFailed = true;
          log.debug("{} will be tried again: {}", one.id, message);
        }
        case NOT_FOUND, NOT_SCALABLE, FORBIDDEN, INVALID -> {
          one.isDone = true;
          happened(one.id, true, "RescueFailed", message);
        }
      }
    }
  }

  private void happened(RevisionId id, boolean warning, String reason, String message) {
    log.warn("{}: {}", id, message);
    listener.happened(id, warning, reason, message);
  }

  private void await(CompletableFuture<ScaleApiResult> answer, Consumer<ScaleApiResult> then) {
    var now = new CompletableFuture<Void>();
    underWay = now;
    var _ = answer.whenComplete((value, failure) -> loop.execute(() -> {
      underWay = null;
      try {
        if (failure == null && !stopped) {
          then.accept(value);
          next();
        }
      } finally {
        now.complete(null);
      }
    }));
  }

  private final class Candidate implements LeaderElection.Listener {
    @Override
    public void elected(int term) {
      leads = true;
      next();
    }

    @Override
    public CompletableFuture<Void> deposed() {
      leads = false;
      return underWay == null ? CompletableFuture.completedFuture(null) : underWay;
    }

    @Override
    public void onHolder(String holder) {
      // It does not matter which other activator leads.
    }
  }
}
