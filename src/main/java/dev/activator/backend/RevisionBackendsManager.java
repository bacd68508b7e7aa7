package dev.activator.backend;

import dev.activator.backend.policy.ProbeBackoff;
import dev.activator.backend.policy.ProbePolicy;
import dev.activator.loop.Loop;
import dev.activator.loop.Topic;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.upstream.ProbeClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Runs a {@link RevisionWatcher} for each revision, on the loop that the revision's id selects, and
 * publishes its healthy destinations.
 *
 * <p><b>Threads.</b> Any; calls of one thread for a revision take effect in order.
 *
 * <p><b>Source.</b> Knative's {@code revisionBackendsManager}.
 */
public final class RevisionBackendsManager {
  private final LiveRevisions revisions;
  private final Slot<WatchedRevision> slot;
  private final ProbeRateLimiter rateLimiter;
  private final ProbeClient client;
  private final ProbeSettings settings;
  private final ProbeBackoff backoff;
  private final RandomGenerator random;
  private final Topic<HealthyDestinations> healthy = new Topic<>("healthy destinations");
  private volatile boolean stopped;
  private volatile boolean watchIsOpen = true;

  /**
   * @param probes the loop of the {@link ProbeRateLimiter}
   * @param random jitter; must be thread-safe
   */
  public RevisionBackendsManager(LiveRevisions revisions, Loop probes, ProbeClient client,
      ProbeSettings settings, RandomGenerator random) {
    this.revisions = revisions;
    this.slot = revisions.declare("backends", WatchedRevision::new, this::ended);
    this.rateLimiter = new ProbeRateLimiter(probes, settings.repeatsPerSecond());
    this.client = client;
    this.settings = settings;
    this.backoff = new ProbeBackoff(settings.probeFrequency());
    this.random = random;
  }

  /** Publishes changed destinations, on the revision's loop. Subscribe before the first event. */
  public Topic<HealthyDestinations> healthy() {
    return healthy;
  }

  public void revision(LiveRevision revision) {
    var spec = revision.spec();
    on(revision, known -> known.changed(spec));
  }

  public void listed(PrivateEndpoints pods) {
    on(pods.revision(), known -> known.listed(pods));
  }

  /**
   * Call when the Endpoints are deleted. Publishes that the revision has no pods, if it had any.
   */
  public void podsGone(RevisionId id) {
    on(id, WatchedRevision::podsGone);
  }

  public void clusterIp(PrivateClusterIp address) {
    on(address.revision(), known -> known.addressed(address));
  }

  /**
   * Call when a request could not be delivered to a pod or ClusterIP. The destination then gets no
   * requests until it answers a probe. If it last answered less than {@code PROBE_FREQUENCY} ago,
   * the next probe is sent only after that time. Idempotent; ignored for a destination that does
   * not serve.
   */
  public void onUnreachable(RevisionId id, Destination destination) {
    on(id, known -> known.onWatcher(watcher -> watcher.onUnreachable(destination)));
  }

  /**
   * Call when a request of the revision cannot run at once, and each second while requests wait.
   * Without this, an address that has not answered for a minute is probed rarely.
   *
   * @param waitsOn the loop of such a request; pods are probed from this loop, so that the request
   *     can reuse the connection of the probe
   */
  public void onRequestWaits(RevisionId id, Loop waitsOn) {
    on(id, known -> known.onRequestWaits(waitsOn));
  }

  /** Sends only probes for which requests wait, until {@link #probeAll}. Used during the start. */
  public void probeOnlyAwaited() {
    rateLimiter.setOnlyAwaited(true);
  }

  public void probeAll() {
    rateLimiter.setOnlyAwaited(false);
  }

  /**
   * Call when the addressing has changed. All pods, or the ClusterIP, must then answer again before
   * they serve.
   */
  public void addressingChanged() {
    revisions.all().forEach(revision -> on(revision, WatchedRevision::addressingChanged));
  }

  /**
   * Sets whether a watch reports changes of Endpoints. While none does, and for 20 seconds after
   * that, no revision is published as unreachable, because Kubernetes may have replaced its pods.
   */
  public void watchChanged(boolean open) {
    watchIsOpen = open;
    revisions.all().forEach(revision -> on(revision,
        known -> known.onWatcher(watcher -> watcher.watchChanged(open))));
  }

  /** The state of a revision's pods; null while they are not watched. */
  public @Nullable RevisionBackendsView view(RevisionId id) {
    var watcher = watcher(id);
    return watcher == null ? null : watcher.view();
  }

  /** How long a pod has accepted connections; null if it does not, or is not watched. */
  public @Nullable Duration accepts(RevisionId id, Destination pod) {
    var watcher = watcher(id);
    return watcher == null ? null : watcher.accepts(pod);
  }

  private @Nullable RevisionWatcher watcher(RevisionId id) {
    var known = revisions.peek(id, slot);
    return known == null ? null : known.watcher;
  }

  /** Ends all watchers. Nothing is published after the future completes. */
  public CompletableFuture<Void> stop() {
    stopped = true;
    rateLimiter.stop();
    return CompletableFuture.allOf(revisions.all(slot)
        .map(known -> CompletableFuture.runAsync(known::cancelled, known.loop))
        .toArray(CompletableFuture<?>[]::new));
  }

  private void on(RevisionId id, Consumer<WatchedRevision> change) {
    var revision = revisions.find(id);
    if (revision != null) {
      on(revision, change);
    }
  }

  private void on(LiveRevision revision, Consumer<WatchedRevision> change) {
    revision.loop().execute(() -> {
      var known = stopped ? null : revision.slot(slot);
      if (known != null) {
        change.accept(known);
        if (stopped) {
          // Because stop() may have missed a revision that was new to this class.
          known.cancelled();
        }
      }
    });
  }

  /** Publishes that the revision has no pods, if it had any. */
  private void ended(WatchedRevision revision) {
    revision.loop.execute(() -> {
      if (!stopped) {
        revision.endWatcher();
      }
    });
  }

  private RevisionWatcher newWatcher(Revision revision, Loop loop) {
    var probe = revision.readinessProbe();
    var policy = new ProbePolicy(revision.id(), settings.addressing().get(),
        revision.probesBeforeReady(), probe != null && probe.answer() == null, backoff);
    var watcher = new RevisionWatcher(policy, loop, new PodProber(client, loop, revision, settings),
        rateLimiter, random, now -> healthy.publish(now));
    if (!watchIsOpen) {
      watcher.watchChanged(false);
    }
    return watcher;
  }

  /**
   * Has the latest Kubernetes objects of one revision. Runs a watcher while the Endpoints exist.
   *
   * <p><b>Threads.</b> The revision's loop; any for {@link #watcher}.
   */
  private final class WatchedRevision {
    private final Loop loop;
    private Revision revision;
    private @Nullable PrivateEndpoints pods;
    private @Nullable PrivateClusterIp clusterIp;
    /**
     * The loop of the last request that waited, perhaps before pods were listed; null if none has
     * waited.
     */
    private @Nullable Loop waitsOn;
    private volatile @Nullable RevisionWatcher watcher;

    WatchedRevision(LiveRevision revision) {
      this.revision = revision.spec();
      this.loop = revision.loop();
    }

    void changed(Revision now) {
      var before = revision;
      revision = now;
      if (differs(before, now)) {
        endWatcher();
      }
      if (!watch() && watcher != null) {
        watcher.transport(now.transport());
      }
    }

    private static boolean differs(Revision a, Revision b) {
      return !b.transport().replaces(a.transport())
          || a.probesBeforeReady() != b.probesBeforeReady()
          || !Objects.equals(a.readinessProbe(), b.readinessProbe());
    }

    void listed(PrivateEndpoints now) {
      pods = now;
      if (!watch() && watcher != null) {
        watcher.listed(now.on(revision.protocol()));
      }
    }

    void podsGone() {
      pods = null;
      endWatcher();
    }

    void addressed(PrivateClusterIp now) {
      clusterIp = now;
      if (watcher != null) {
        watcher.addressed(now.on(revision.protocol()));
      }
    }

    void addressingChanged() {
      endWatcher();
      watch();
    }

    void onRequestWaits(Loop on) {
      waitsOn = on;
      if (watcher != null) {
        watcher.onRequestWaits(on);
      }
    }

    /** Has no effect while pods are not watched. */
    void onWatcher(Consumer<RevisionWatcher> event) {
      if (watcher != null) {
        event.accept(watcher);
      }
    }

    /** Publishes nothing. */
    void cancelled() {
      if (watcher != null) {
        watcher.cancelled();
        watcher = null;
      }
    }

    /** @return whether it started a watcher */
    private boolean watch() {
      if (pods == null || (watcher != null && !watcher.hasEnded())) {
        return false;
      }
      var created = newWatcher(revision, loop);
      watcher = created;
      if (clusterIp != null) {
        created.addressed(clusterIp.on(revision.protocol()));
      }
      if (waitsOn != null) {
        created.onRequestWaits(waitsOn);
      }
      created.listed(pods.on(revision.protocol()));
      return true;
    }

    void endWatcher() {
      if (watcher != null) {
        watcher.ended();
        watcher = null;
      }
    }
  }
}
