package dev.activator.standalone;

import dev.activator.kube.KubernetesSession;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.standalone.policy.HpaSpec;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the HorizontalPodAutoscalers, by the workload that each scales, as soon as the activator
 * may list them.
 *
 * <p><b>Threads.</b> The session's loop.
 *
 * <p><b>Errors.</b> Without the permission there are none. The log says so once, and the permission
 * is checked again every 30 seconds.
 */
final class HpaWatcher {
  private static final Logger log = LoggerFactory.getLogger(HpaWatcher.class);
  private static final String BY_TARGET = "target";
  private static final Duration RETRY = Duration.ofSeconds(30);
  private static final InformerQuery<HpaSpec> HPAS = InformerQuery.everywhere(StandaloneKinds.HPAS,
      "");

  private final KubernetesSession session;
  private final Consumer<TargetName> changed;
  private @Nullable IndexedStore<ObjectDecodeResult<HpaSpec>> store;

  /** The name of a workload that is scaled. */
  record TargetName(String namespace, String kind, String name) {
    static TargetName of(String namespace, ScaleTarget target) {
      return new TargetName(namespace, target.kind(), target.name());
    }
  }

  /** @param changed called if the HPAs of a workload have changed */
  HpaWatcher(KubernetesSession session, Consumer<TargetName> changed) {
    this.session = session;
    this.changed = changed;
  }

  /** Begins to follow HPAs. The permission may be granted later, or autoscaling/v2 served later. */
  void follow() {
    follow(null);
  }

  private void follow(@Nullable ListWatchAccess before) {
    ListWatchAccess.ofList(session.api(), HPAS).whenCompleteAsync((access, failure) -> {
      if (access == ListWatchAccess.ALLOWED) {
        session.followStored(HPAS, followed -> {
          store = followed;
          followed.addIndex(BY_TARGET, object -> {
            var hpa = object.object().value();
            return hpa == null ? List.of() : List.of(targetOf(hpa));
          });
          return this::hpaChanged;
        });
        return;
      }
      if (access == ListWatchAccess.FORBIDDEN && access != before) {
        log.warn("The Kubernetes API does not allow the activator to list {}"
            + " (403): it cannot detect one that scales the same workload as a ScaledService",
            HPAS.text());
      }
      session.loop().schedule(RETRY, () -> follow(access));
    }, session.loop());
  }

  private void hpaChanged(@Nullable HpaSpec before, @Nullable HpaSpec now) {
    if (before != null) {
      changed.accept(targetOf(before));
    }
    if (now != null) {
      changed.accept(targetOf(now));
    }
  }

  private static TargetName targetOf(HpaSpec hpa) {
    return TargetName.of(hpa.namespace(), hpa.target());
  }

  /** The HPAs of this workload, by name. */
  List<HpaSpec> find(TargetName target) {
    return store == null
        ? List.of()
        : store.by(BY_TARGET, target).stream().map(one -> one.object().value())
            .filter(Objects::nonNull).sorted(Comparator.comparing(HpaSpec::name)).toList();
  }
}
