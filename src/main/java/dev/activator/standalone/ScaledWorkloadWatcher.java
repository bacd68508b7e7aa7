package dev.activator.standalone;

import dev.activator.kube.ClusterStartup;
import dev.activator.kube.KubernetesSession;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.standalone.policy.ScaledWorkload;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.kube.reflector.RestMapper;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.kube.reflector.KubernetesApiException;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kinds of workloads that ScaledServices scale. A kind is watched from its first use on, if it
 * may be listed.
 *
 * <p><b>Threads.</b> The session's loop.
 */
final class ScaledWorkloadWatcher {
  private static final Logger log = LoggerFactory.getLogger(ScaledWorkloadWatcher.class);
  private static final Duration RETRY = Duration.ofSeconds(30);
  private static final Duration LIST_PATIENCE = Duration.ofSeconds(10);

  private final KubernetesSession session;
  private final BiConsumer<String, @Nullable RevisionId> changed;
  private final Predicate<String> isUsed;
  private final Map<Name, FollowedKind> kinds = new HashMap<>();

  /** What an object is needed for. */
  private enum Use {
    /** It is scaled, so its kind needs a {@code scale}. Its pod template is read. */
    SCALED("pod templates", "pods are used when Kubernetes calls them ready"),
    /** It is woken in another way. Its conditions are read. */
    WOKEN("conditions", "pods get no requests");

    /** What is read of it. */
    private final String parts;
    /** What follows if that cannot be read. */
    private final String otherwise;

    Use(String parts, String otherwise) {
      this.parts = parts;
      this.otherwise = otherwise;
    }
  }

  private record Name(String apiVersion, String kind, Use use) {}

  /**
   * @param changed gets the kind and the object that has changed, or null if all objects of the
   *     kind may have
   * @param isUsed whether a ScaledService names a kind; other kinds are not looked up again
   */
  ScaledWorkloadWatcher(KubernetesSession session, BiConsumer<String, @Nullable RevisionId> changed,
      Predicate<String> isUsed) {
    this.session = session;
    this.changed = changed;
    this.isUsed = isUsed;
  }

  /** The state of a workload that is scaled; null while its kind is looked up. */
  @Nullable WorkloadState find(String namespace, ScaleTargetRef workload) {
    return find(namespace, workload, Use.SCALED, _ -> null);
  }

  /**
   * The state of an object that is woken; null while its kind is looked up.
   *
   * @param refusal why the kind may not be read, which is the same for all objects; null if it may
   */
  @Nullable WorkloadState findWoken(String namespace, ScaleTargetRef object,
      Function<Served.Here, @Nullable String> refusal) {
    return find(namespace, object, Use.WOKEN, refusal);
  }

  private @Nullable WorkloadState find(String namespace, ScaleTargetRef workload, Use use,
      Function<Served.Here, @Nullable String> refusal) {
    var name = new Name(workload.apiVersion(), workload.kind(), use);
    return kinds.computeIfAbsent(name, _ -> new FollowedKind(name, refusal).lookUp())
        .find(new RevisionId(namespace, workload.name()));
  }

  /** All kinds that have been used so far. */
  List<ClusterStartup.Beginning> beginnings() {
    return kinds.values().stream().<ClusterStartup.Beginning>map(kind -> () -> kind.decided)
        .toList();
  }

  private final class FollowedKind {
    private final Name name;
    private final Function<Served.Here, @Nullable String> refusal;
    private final CompletableFuture<Void> decided = new CompletableFuture<>();
    /**
     * The state that is common to all objects of the kind; null if it is unknown, or if each object
     * has its own.
     */
    private @Nullable WorkloadState all;
    private @Nullable IndexedStore<ObjectDecodeResult<ScaledWorkload>> store;
    private boolean isListed;

    FollowedKind(Name name, Function<Served.Here, @Nullable String> refusal) {
      this.name = name;
      this.refusal = refusal;
    }

    FollowedKind lookUp() {
      RestMapper.find(session.api(), name.apiVersion, name.kind)
          .whenCompleteAsync(this::discovered, session.loop());
      return this;
    }

    private void discovered(@Nullable Served served, Throwable failure) {
      switch (served) {
        case Served.Here here when refusal.apply(here) instanceof String refused ->
          decide(new WorkloadState.NotWakeable("Forbidden", refused));
        case Served.Here(var path, var plural, boolean isNamespaced, boolean isScalable) when isNamespaced
            && (isScalable || name.use == Use.WOKEN) -> {
          var query = InformerQuery
              .everywhere(name.use == Use.WOKEN
                  ? StandaloneKinds.wokenObjects(name.kind, path, plural)
                  : StandaloneKinds.workloads(name.kind, path, plural), "");
          ListWatchAccess.ofList(session.api(), query).whenCompleteAsync(
              (access, unanswered) -> follow(query, access, unanswered), session.loop());
        }
        case Served.Here here -> decide(here.isNamespaced()
            ? new WorkloadState.NotScalable()
            : new WorkloadState.NoNamespace());
        case Served.NotServed _ -> decide(new WorkloadState.NoKind());
        case null -> hidden("get", "/" + RestMapper.groupPath(name.apiVersion), failure);
      }
    }

    private void follow(InformerQuery<ScaledWorkload> query, @Nullable ListWatchAccess access,
        @Nullable Throwable failure) {
      if (access != ListWatchAccess.ALLOWED) {
        hidden("list", query.text(), failure == null
            ? new KubernetesApiException(access == ListWatchAccess.FORBIDDEN ? 403 : 404,
                Duration.ZERO)
            : failure);
        return;
      }
      Loop loop = session.loop();
      var followed = session.followStored(query, stored -> {
        store = stored;
        return this::workloadChanged;
      });
      var late = loop.schedule(LIST_PATIENCE,
          () -> listIsLate(String.valueOf(followed.error())));
      followed.synced().thenRunAsync(() -> {
        late.cancel();
        isListed = true;
        all = null;
        publish();
      }, loop);
    }

    /**
     * Handles a late list. The start and the ScaledServices do not wait for it any longer, since
     * single objects can still be scaled.
     */
    private void listIsLate(String error) {
      if (!isListed && all == null) {
        log.warn("The {} of {} in {} are not listed yet, and {}: {}", name.use.parts, name.kind,
            name.apiVersion, name.use.otherwise, error);
        all = new WorkloadState.Hidden();
        publish();
      }
    }

    private void workloadChanged(@Nullable ScaledWorkload before,
        @Nullable ScaledWorkload now) {
      var known = now == null ? before : now;
      if (known != null && isListed) {
        changed.accept(name.kind, known.id());
      }
    }

    private void hidden(String verb, String resource, Throwable failure) {
      if (!(all instanceof WorkloadState.Hidden)) {
        log.warn("The {} of {} in {} cannot be read, and {}: {}", name.use.parts, name.kind,
            name.apiVersion, name.use.otherwise,
            session.errors().about(verb, resource, failure));
      }
      decide(new WorkloadState.Hidden());
    }

    private void decide(WorkloadState state) {
      boolean isNew = !state.equals(all);
      all = state;
      session.loop().schedule(RETRY, this::lookUpIfUsed);
      if (isNew) {
        publish();
      }
    }

    private void lookUpIfUsed() {
      if (isUsed.test(name.kind)) {
        lookUp();
      } else {
        kinds.remove(name);
      }
    }

    private void publish() {
      changed.accept(name.kind, null);
      // This runs after the loop has delivered the change.
      session.loop().execute(() -> decided.complete(null));
    }

    @Nullable WorkloadState find(RevisionId object) {
      if (store == null || !isListed) {
        return all;
      }
      var found = store.find(object.toString());
      if (found == null) {
        return new WorkloadState.Missing();
      }
      var workload = found.object().value();
      return workload == null ? new WorkloadState.Hidden() : new WorkloadState.Found(workload);
    }
  }
}
