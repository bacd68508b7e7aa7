package dev.activator.ext.picker;

import dev.activator.kube.KubernetesSession;
import dev.activator.kube.WorkQueue;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.loop.policy.Backoff;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * Follows the InferencePools of a namespace. While this activator leads, it keeps a headless Service for
 * each whose endpoint picker is our Service, so that a ScaledService can name the pool's pods, and our
 * entry in the pool's status. The garbage collector deletes the Service with its pool.
 *
 * <p><b>Threads.</b> The session's loop.
 *
 * <p><b>Errors.</b> A refused write is retried with a backoff; each different refusal is logged once.
 */
final class InferencePools {
  /** Makes them once the activator is connected to the API. */
  @FunctionalInterface
  interface Maker {
    InferencePools of();
  }

  private static final Logger log = LoggerFactory.getLogger(InferencePools.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofMinutes(1);
  private static final double JITTER = 0.5;
  private static final int MAX_WRITES = 5;
  /** After which time a pool is checked again, as its Service may have been changed. */
  private static final Duration AUDIT_PERIOD = Duration.ofMinutes(10);
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;

  private final KubernetesSession session;
  private final String namespace;
  private final String service;
  private final InstantSource clock;
  private final WorkQueue<String> queue;
  private final Map<String, InferencePool> pools = new HashMap<>();
  private final Map<String, String> refusals = new HashMap<>();
  private KubernetesSession.@Nullable Followed followed;

  /**
   * @param service the Service that leads to the activators' pickers
   * @param leads whether this activator may write now
   */
  InferencePools(KubernetesSession session, String namespace, String service,
      BooleanSupplier leads, InstantSource clock, RandomGenerator random) {
    this.session = session;
    this.namespace = namespace;
    this.service = service;
    this.clock = clock;
    this.queue = new WorkQueue<>(session.loop(), MAX_WRITES,
        () -> new Backoff(FIRST_PAUSE, MAX_PAUSE, JITTER, random), leads, this::onTerm,
        this::reconcile);
  }

  void start() {
    session.loop().execute(() -> {
      queue.start();
      followed = session.watch(InformerQuery.in(namespace, InferencePool.KIND, ""),
          this::changed);
    });
  }

  void stop() {
    session.loop().execute(() -> {
      queue.stop();
      if (followed != null) {
        followed.close();
      }
    });
  }

  private void onTerm(boolean begins) {
    if (begins) {
      pools.keySet().forEach(queue::add);
    }
  }

  private void changed(@Nullable InferencePool before, @Nullable InferencePool now) {
    if (now != null) {
      pools.put(now.name(), now);
      queue.add(now.name());
    } else if (before != null) {
      pools.remove(before.name());
      refusals.remove(before.name());
      queue.forget(before.name());
    }
  }

  private CompletableFuture<WorkQueue.Result> reconcile(String name) {
    var pool = pools.get(name);
    if (pool == null) {
      return CompletableFuture.completedFuture(WorkQueue.Done.NOW);
    }
    var problem = pool.picker().equals(service) ? ensureService(pool) : removeService(pool);
    return problem.thenCompose(text -> writeStatus(pool, text).thenApply(
        refusal -> text.isEmpty() ? refusal : text))
        .handleAsync((refusal, failure) -> ended(pool,
            failure == null ? refusal : "no answer"), session.loop());
  }

  private WorkQueue.Result ended(InferencePool pool, String refusal) {
    if (refusal.isEmpty()) {
      refusals.remove(pool.name());
      queue.addAfter(pool.name(), AUDIT_PERIOD);
      return WorkQueue.Done.NOW;
    }
    if (!refusal.equals(refusals.put(pool.name(), refusal))) {
      log.warn("InferencePool {}/{}: {}", namespace, pool.name(), refusal);
    }
    return new WorkQueue.Retry(Duration.ZERO);
  }

  /** Returns why the Service cannot be used; empty if it can. */
  private CompletableFuture<String> ensureService(InferencePool pool) {
    var api = session.api();
    var path = services() + "/" + InferencePoolJson.serviceName(pool);
    return api.fetch(path, TIMEOUT).thenCompose(found -> {
      if (found.status() == NOT_FOUND) {
        return refusal(api.send("POST", services(), "application/json",
            InferencePoolJson.service(pool).toString(), TIMEOUT), "its Service");
      }
      if (found.status() != OK) {
        return CompletableFuture.completedFuture(text(found, "its Service"));
      }
      var now = InferencePoolJson.parse(found.body());
      if (!InferencePoolJson.belongsTo(pool, now)) {
        return CompletableFuture.completedFuture("there is a Service "
            + InferencePoolJson.serviceName(pool) + " that does not belong to the pool");
      }
      return InferencePoolJson.isAsMade(pool, now)
          ? CompletableFuture.completedFuture("")
          : refusal(api.send("PATCH", path, "application/merge-patch+json",
              InferencePoolJson.change(pool, now).toString(), TIMEOUT), "its Service");
    });
  }

  /** Deletes the Service of a pool that has another picker now. */
  private CompletableFuture<String> removeService(InferencePool pool) {
    var api = session.api();
    var path = services() + "/" + InferencePoolJson.serviceName(pool);
    return api.fetch(path, TIMEOUT)
        .thenCompose(found -> found.status() == OK
            && InferencePoolJson.isMadeFor(pool, service, InferencePoolJson.parse(found.body()))
                ? refusal(api.send("DELETE", path, "application/json", "{}", TIMEOUT),
                    "its old Service")
                : CompletableFuture.completedFuture(""));
  }

  private String services() {
    return "api/v1/namespaces/" + namespace + "/services";
  }

  private CompletableFuture<String> writeStatus(InferencePool pool, String problem) {
    var api = session.api();
    var path = InferencePool.KIND.groupPath() + "/namespaces/" + namespace + "/"
        + InferencePool.KIND.plural() + "/" + pool.name();
    return api.fetch(path, TIMEOUT).thenCompose(found -> {
      if (found.status() != OK) {
        return CompletableFuture
            .completedFuture(found.status() == NOT_FOUND ? "" : text(found, "it"));
      }
      JsonNode now = InferencePoolJson.parse(found.body());
      var change = InferencePoolJson.status(pool, now, service, problem, clock.instant());
      return change == null
          ? CompletableFuture.completedFuture("")
          : refusal(api.send("PATCH", path + "/status", "application/merge-patch+json",
              change.toString(), TIMEOUT), "its status");
    });
  }

  private static CompletableFuture<String> refusal(CompletableFuture<ApiAnswer> write,
      String what) {
    return write.thenApply(answer -> answer.status() / 100 == 2 ? "" : text(answer, what));
  }

  private static String text(ApiAnswer answer, String what) {
    return what + " cannot be read or written: " + answer.status() + " " + answer.message();
  }
}
