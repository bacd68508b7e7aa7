package dev.activator.standalone;

import dev.activator.kube.ClusterStartup;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.standalone.policy.CaObject;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ConfigMaps and Secrets with certificates of authorities. Each is watched by its name, so that
 * no right to others is needed, while a ScaledService names it.
 *
 * <p><b>Threads.</b> The session's loop.
 *
 * <p><b>Errors.</b> One that may not be read is {@link CaObject.Unreadable}, and tried again every 30
 * seconds. If the API does not answer, it is unknown for ten seconds.
 */
final class CaObjectWatcher {
  private static final Logger log = LoggerFactory.getLogger(CaObjectWatcher.class);
  private static final Duration RETRY = Duration.ofSeconds(30);
  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
  private static final Duration LIST_PATIENCE = Duration.ofSeconds(10);

  private final KubernetesSession session;
  private final Consumer<CaObject.Name> changed;
  private final Map<CaObject.Name, Watched> all = new HashMap<>();

  CaObjectWatcher(KubernetesSession session, Consumer<CaObject.Name> changed) {
    this.session = session;
    this.changed = changed;
  }

  /** The state of an object; null while it is read for the first time. */
  @Nullable CaObject find(CaObject.Name name) {
    return all.computeIfAbsent(name, _ -> new Watched(name).begin()).state;
  }

  /** Ends the watches of objects that are not used any more. */
  void closeUnused(Predicate<CaObject.Name> isUsed) {
    all.values().removeIf(watched -> {
      boolean ends = !isUsed.test(watched.name);
      if (ends) {
        watched.close();
      }
      return ends;
    });
  }

  /** All objects that have been used so far. */
  List<ClusterStartup.Beginning> beginnings() {
    return all.values().stream().<ClusterStartup.Beginning>map(one -> () -> one.decided).toList();
  }

  private final class Watched {
    private final CaObject.Name name;
    private final InformerQuery<CaObject.Found> query;
    private final CompletableFuture<Void> decided = new CompletableFuture<>();
    private @Nullable CaObject state;
    private String lastFailure = "";
    private KubernetesSession.@Nullable Followed followed;
    private boolean isClosed;

    Watched(CaObject.Name name) {
      this.name = name;
      this.query = new InformerQuery<>(switch (name.kind()) {
        case CONFIG_MAP -> StandaloneKinds.CA_CONFIG_MAPS;
        case SECRET -> StandaloneKinds.CA_SECRETS;
      }, name.namespace(), "", "metadata.name=" + name.name());
    }

    Watched begin() {
      session.loop().schedule(LIST_PATIENCE, this::listIsLate);
      check();
      return this;
    }

    private void check() {
      if (!isClosed) {
        ListWatchAccess.ofList(session.api(), query).whenCompleteAsync(this::checked,
            session.loop());
      }
    }

    private void checked(@Nullable ListWatchAccess access, @Nullable Throwable failure) {
      if (isClosed) {
        return;
      }
      if (access == ListWatchAccess.ALLOWED) {
        follow();
        return;
      }
      lastFailure = String.valueOf(failure);
      if (access == ListWatchAccess.FORBIDDEN) {
        unreadable("the activator may not list and watch it (standalone.trustBundles of the chart)",
            "403");
      }
      session.loop().schedule(state == null ? FIRST_RETRY : RETRY, this::check);
    }

    private void listIsLate() {
      if (state == null) {
        var error = followed == null ? null : followed.error();
        unreadable("the Kubernetes API does not answer", error == null ? lastFailure : error);
      }
    }

    private void follow() {
      var begun = session.watch(query, (_, now) -> decide(now == null
          ? new CaObject.Missing()
          : now));
      followed = begun;
      begun.synced().thenRunAsync(() -> {
        if (!(state instanceof CaObject.Found)) {
          decide(new CaObject.Missing());
        }
      }, session.loop());
    }

    /** @param detail for the log; callers see the reason */
    private void unreadable(String why, String detail) {
      var now = new CaObject.Unreadable(why);
      if (!now.equals(state)) {
        log.warn("The authorities in {} cannot be read: {} ({})", name, why, detail);
      }
      decide(now);
    }

    private void decide(CaObject now) {
      if (isClosed || now.equals(state)) {
        return;
      }
      state = now;
      changed.accept(name);
      // This runs after the loop has delivered the change.
      session.loop().execute(() -> decided.complete(null));
    }

    void close() {
      isClosed = true;
      decided.complete(null);
      if (followed != null) {
        followed.close();
      }
    }
  }
}
