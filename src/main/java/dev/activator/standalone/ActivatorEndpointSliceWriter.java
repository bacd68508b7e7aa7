package dev.activator.standalone;

import dev.activator.kube.WorkQueue;
import dev.activator.standalone.policy.ActivatorEndpointSlice;
import dev.activator.standalone.policy.ActivatorSlicePlanner;
import dev.activator.standalone.policy.ActivatorSlicePlanner.Step;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.loop.Loop;
import dev.activator.loop.policy.Backoff;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the EndpointSlices by which requests to a Service without ready pods reach the activators,
 * while this activator leads.
 *
 * <p><b>Threads.</b> Any thread may call. The state belongs to the loop, which must be the
 * autoscaler's.
 *
 * <p><b>Errors.</b> A refused write is retried with a backoff, also if another client has a slice
 * with the same name. Each different answer is logged once, and becomes an Event of the
 * ScaledService. The last pods stay until the write succeeds.
 */
public final class ActivatorEndpointSliceWriter {
  private static final Logger log = LoggerFactory.getLogger(ActivatorEndpointSliceWriter.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  /**
   * The time between the write of the slices and the removal of the last pods. In it, the nodes'
   * proxies receive the slices.
   */
  private static final Duration PROXY_DELAY = Duration.ofSeconds(1);
  /**
   * How long the slices are kept while the last pods are still ready, since controllers may be slow
   * to remove them.
   */
  private static final Duration MAX_BESIDE_PODS = Duration.ofMinutes(1);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(30);
  private static final double JITTER = 0.5;
  /** The limit of concurrent writes, since each takes a thread of the client. */
  private static final int MAX_WRITES = 50;
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;

  private final Loop loop;
  private final Supplier<@Nullable KubernetesApiClient> api;
  private final BooleanSupplier leads;
  private final BiConsumer<RevisionId, String> warnings;
  private final Map<RevisionId, Caught> all = new HashMap<>();
  private final WorkQueue<RevisionId> queue;

  /** The slices of one ScaledService. */
  private final class Caught {
    private final RevisionId id;
    private ActivatorSlicePlanner state;
    /** The slices that exist, as far as is known. */
    private Map<String, ActivatorEndpointSlice> known;
    private boolean isUnderWay;
    private boolean isGone;
    private long besidePodsUntil;
    /**
     * Completes when it is known whether the last pods may be removed; null if they need not be.
     */
    private @Nullable CompletableFuture<Boolean> mayScaleToZero;
    private String refusal = "";

    Caught(ActivatorSlicePlanner state) {
      this.id = state.object().id();
      this.state = state;
      this.known = new HashMap<>(state.present());
      this.besidePodsUntil = loop.nanoTime();
    }

    void changed(ActivatorSlicePlanner now) {
      state = now;
      if (!now.hasReadyPods()) {
        // From now on, the slices are deleted when a pod becomes ready.
        besidePodsUntil = loop.nanoTime();
      }
      if (!isUnderWay && mayScaleToZero == null) {
        known = new HashMap<>(now.present());
      }
      queue.add(id);
    }

    CompletableFuture<Boolean> prepareScaleToZero() {
      if (!state.catches() || state.whileAtZero().isEmpty()) {
        return CompletableFuture.completedFuture(!state.catches());
      }
      if (!leads.getAsBoolean()) {
        return CompletableFuture.completedFuture(false);
      }
      besidePodsUntil = loop.nanoTime() + MAX_BESIDE_PODS.toNanos();
      var mayGo = mayScaleToZero;
      if (mayGo == null) {
        mayGo = new CompletableFuture<>();
        mayScaleToZero = mayGo;
        // The slices are written in any case, since the watch may be late and still show slices
        // that were deleted.
        known.replaceAll((_, slice) -> unknown(slice));
      }
      queue.add(id);
      return mayGo;
    }

    void cancelScaleToZero() {
      if (mayScaleToZero == null) {
        besidePodsUntil = loop.nanoTime();
        queue.add(id);
      }
    }

    /** Begins a term. The previous leader may have begun to remove the last pods. */
    void takenOver() {
      known = new HashMap<>(state.present());
      if (state.hasReadyPods() && !known.isEmpty()) {
        besidePodsUntil = loop.nanoTime() + MAX_BESIDE_PODS.toNanos();
      }
    }

    private boolean isRemovingPods() {
      return besidePodsUntil - loop.nanoTime() > 0;
    }

    CompletableFuture<WorkQueue.Result> reconcile() {
      var steps = isGone
          ? known.keySet().stream().<Step>map(Step.Delete::new).toList()
          : state.steps(known, isRemovingPods());
      if (steps.isEmpty()) {
        slicesExist();
        if (isGone) {
          all.remove(id, this);
        } else if (isRemovingPods() && state.hasReadyPods()) {
          queue.addAfter(id, Duration.ofNanos(besidePodsUntil - loop.nanoTime()));
        }
        return CompletableFuture.completedFuture(WorkQueue.Done.NOW);
      }
      return send(steps.getFirst());
    }

    private void slicesExist() {
      var request = mayScaleToZero;
      if (request != null) {
        mayScaleToZero = null;
        loop.schedule(PROXY_DELAY, () -> request.complete(leads.getAsBoolean() && mayGo()));
      }
    }

    /**
     * Whether requests reach the activators. The slices may have been deleted again, after pods
     * were not ready for a moment.
     */
    private boolean mayGo() {
      return !state.catches()
          || !state.whileAtZero().isEmpty() && (isRemovingPods() || !state.hasReadyPods());
    }

    private void completeZero(boolean mayGo) {
      var request = mayScaleToZero;
      mayScaleToZero = null;
      if (request != null) {
        request.complete(mayGo);
      }
    }

    private CompletableFuture<WorkQueue.Result> send(Step step) {
      var open = api.get();
      if (open == null) {
        return CompletableFuture.completedFuture(failed("no connection", Duration.ZERO));
      }
      isUnderWay = true;
      var folder = folder();
      var answer = switch (step) {
        case Step.Create(var slice) -> open.send("POST", folder, "application/json",
            ActivatorSliceJson.of(slice), TIMEOUT);
        case Step.Update(var slice) -> open.send("PATCH", folder + "/" + slice.name(),
            "application/merge-patch+json", ActivatorSliceJson.of(slice), TIMEOUT);
        case Step.Delete(var name) -> open.send("DELETE", folder + "/" + name,
            "application/json", "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}", TIMEOUT);
      };
      return answer.handleAsync((response, _) -> answered(step, response), loop)
          .thenCompose(result -> result);
    }

    private String folder() {
      return "apis/discovery.k8s.io/v1/namespaces/" + id.namespace() + "/endpointslices";
    }

    private CompletableFuture<WorkQueue.Result> answered(Step step, @Nullable ApiAnswer answer) {
      int status = answer == null ? 0 : answer.status();
      var open = api.get();
      if (step instanceof Step.Create(var slice) && status == CONFLICT && open != null) {
        return open.fetch(folder() + "?fieldSelector=metadata.name%3D" + slice.name(), TIMEOUT)
            .handleAsync((list, _) -> existing(slice, list), loop);
      }
      return CompletableFuture.completedFuture(ended(isDone(step, status), answer));
    }

    /**
     * Handles a conflict: either the watch is late, or another controller has a slice with this
     * name.
     */
    private WorkQueue.Result existing(ActivatorEndpointSlice slice, @Nullable ApiAnswer list) {
      if (list == null || list.status() != OK) {
        return ended(false, list);
      }
      var problem = ActivatorSliceJson.problemOf(slice, list.body());
      if (problem != null) {
        isUnderWay = false;
        return failed(problem, Duration.ZERO);
      }
      known.put(slice.name(), unknown(slice));
      return ended(true, list);
    }

    private WorkQueue.Result ended(boolean done, @Nullable ApiAnswer answer) {
      isUnderWay = false;
      if (done) {
        refusal = "";
        queue.add(id);
        return WorkQueue.Done.NOW;
      }
      return answer == null
          ? failed("no answer", Duration.ZERO)
          : failed(answer.status() + " " + answer.message(), answer.retryAfter());
    }

    private boolean isDone(Step step, int status) {
      boolean succeeded = status >= 200 && status < 300;
      switch (step) {
        case Step.Create(var slice) -> {
          if (succeeded) {
            known.put(slice.name(), slice);
          }
        }
        case Step.Update(var slice) -> {
          if (status == NOT_FOUND) {
            known.remove(slice.name());
            return true;
          }
          if (succeeded) {
            known.put(slice.name(), slice);
          }
        }
        case Step.Delete(var name) -> {
          if (succeeded || status == NOT_FOUND) {
            known.remove(name);
            return true;
          }
        }
      }
      return succeeded;
    }

    /** A slice with unknown content, so that it is written in any case. */
    private ActivatorEndpointSlice unknown(ActivatorEndpointSlice slice) {
      return new ActivatorEndpointSlice(id, "", slice.service(), slice.family(), Map.of(),
          List.of());
    }

    private WorkQueue.Result failed(String why, Duration retryAfter) {
      if (!why.equals(refusal)) {
        refusal = why;
        var text = "the EndpointSlices by which its Service " + state.object().service()
            + " sends requests to the activators cannot be written: " + why
            + "; its last pods stay meanwhile";
        log.warn("ScaledService {}: {}", id, text);
        warnings.accept(id, text);
      }
      completeZero(false);
      return new WorkQueue.Retry(retryAfter);
    }
  }

  /**
   * @param api null while there is no connection
   * @param leads whether this activator may write now; called on the loop
   * @param warnings gets one sentence, the message of an Event about the ScaledService
   */
  public ActivatorEndpointSliceWriter(Loop loop, Supplier<@Nullable KubernetesApiClient> api,
      BooleanSupplier leads,
      BiConsumer<RevisionId, String> warnings, RandomGenerator random) {
    this.loop = loop;
    this.api = api;
    this.leads = leads;
    this.warnings = warnings;
    this.queue = new WorkQueue<>(loop, MAX_WRITES,
        () -> new Backoff(FIRST_PAUSE, MAX_PAUSE, JITTER, random), leads, this::onTerm,
        this::reconcile);
  }

  public void start() {
    loop.execute(queue::start);
  }

  public void stop() {
    loop.execute(queue::stop);
  }

  private void onTerm(boolean begins) {
    all.values().forEach(caught -> {
      caught.takenOver();
      if (begins) {
        queue.add(caught.id);
      } else {
        caught.completeZero(false);
      }
    });
  }

  private CompletableFuture<WorkQueue.Result> reconcile(RevisionId id) {
    var caught = all.get(id);
    return caught == null
        ? CompletableFuture.completedFuture(WorkQueue.Done.NOW)
        : caught.reconcile();
  }

  public void changed(ActivatorSlicePlanner state) {
    loop.execute(() -> {
      var id = state.object().id();
      var caught = all.get(id);
      if (caught == null) {
        if (!state.object().catchService() && state.present().isEmpty()) {
          return;
        }
        caught = new Caught(state);
        all.put(id, caught);
      }
      caught.isGone = false;
      caught.changed(state);
    });
  }

  /**
   * Deletes the slices of a deleted ScaledService. Kubernetes' garbage collector would also delete
   * them, but later.
   */
  public void gone(RevisionId id) {
    loop.execute(() -> {
      var caught = all.get(id);
      if (caught != null) {
        caught.isGone = true;
        caught.completeZero(true);
        if (leads.getAsBoolean()) {
          queue.add(id);
        } else {
          all.remove(id);
          queue.forget(id);
        }
      }
    });
  }

  /**
   * Makes requests reach the activators. Call before the last pods of a ScaledService are removed.
   *
   * @return whether the pods may be removed, because requests to the Service reach the activators,
   *     or need not
   */
  public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id) {
    return CompletableFuture.supplyAsync(() -> {
      var caught = all.get(id);
      return caught == null ? CompletableFuture.completedFuture(true) : caught.prepareScaleToZero();
    }, loop).thenCompose(answer -> answer);
  }

  /** Call if the last pods stay, although they were allowed to be removed. */
  public void cancelScaleToZero(RevisionId id) {
    loop.execute(() -> {
      var caught = all.get(id);
      if (caught != null) {
        caught.cancelScaleToZero();
      }
    });
  }
}
