package dev.activator.standalone;

import dev.activator.kube.EventWriter;
import dev.activator.kube.WorkQueue;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ScaledServiceStatus;
import dev.activator.standalone.policy.ScaledServiceStatus.Scaling;
import dev.activator.standalone.policy.WorkloadStart;
import dev.activator.standalone.policy.WorkloadStart.Event;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.loop.policy.Backoff;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.RevisionStartProgress;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the statuses of ScaledServices, and Events about them, while this activator leads.
 *
 * <p><b>Threads.</b> Any thread may call. The state belongs to the loop.
 *
 * <p><b>Errors.</b> A refused write is logged once for each different answer, and retried with a
 * backoff from 5 s to 5 min, or up to 30 s while the API is unavailable.
 */
public final class ScaledServiceStatusWriter {
  private static final Logger log = LoggerFactory.getLogger(ScaledServiceStatusWriter.class);
  private static final JsonMapper JSON = new JsonMapper();
  private static final String API_VERSION = "activator.dev/v1alpha1";
  private static final String KIND = "ScaledService";
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  /** How long a write waits for the decision that follows a change of pods, or leads to it. */
  private static final Duration DELAY = Duration.ofMillis(200);
  /** The minimum time between two writes of one status. */
  private static final Duration PERIOD = Duration.ofSeconds(1);
  /** How long a named object may be missing until an Event says so: objects applied together come one by one. */
  private static final Duration UNTIL_MISSED = Duration.ofSeconds(3);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);
  private static final Duration MAX_AFTER_REFUSAL = Duration.ofMinutes(5);
  private static final Duration MAX_AFTER_OUTAGE = Duration.ofSeconds(30);
  private static final double JITTER = 0.5;
  private static final int MAX_WRITES = 10;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private final Loop loop;
  private final Supplier<@Nullable KubernetesApiClient> api;
  private final InstantSource clock;
  private final EventWriter events;
  private final BooleanSupplier leads;
  private final RandomGenerator random;
  private final Map<RevisionId, Entry> entries = new HashMap<>();
  private final WorkQueue<RevisionId> queue;
  private final LogLimit limit = new LogLimit();

  private static final class Entry {
    private ResolvedScaledService state;
    private @Nullable Scaling scaling;
    private WorkloadStart start = WorkloadStart.NONE;
    /** Its ports whose readinessProbe ready pods fail. */
    private final Map<RevisionId, Trouble> failedProbes = new TreeMap<>();
    /** The status that was written last in this term; null before. */
    private @Nullable ScaledServiceStatus written;
    /** Whether an Event must still say why it is not ready. */
    private boolean eventIsDue;
    private long notReadySince;
    /**
     * The time until which the watch may show an older status. After it, another status means that
     * another client has replaced ours.
     */
    private long shownBy;
    /** The refusal that was logged last; empty after a success. */
    private String refusal = "";
    /**
     * The pauses before a replaced status is written again. They grow, because the other client may
     * replace it each time, or the watch may be down.
     */
    private final Backoff replacements;
    private Duration patience = AFTER_FAILURE;
    private long replacedAt;

    Entry(ResolvedScaledService state, long now, RandomGenerator random) {
      this.state = state;
      this.replacements = new Backoff(AFTER_FAILURE, MAX_AFTER_REFUSAL, JITTER, random);
      this.replacedAt = now;
    }

    /** Whether the watch shows a status that differs from the written one. */
    boolean differs() {
      return written != null && !written.equals(state.object().status());
    }

    void replaced(long now) {
      written = null;
      if (now - replacedAt > MAX_AFTER_REFUSAL.toNanos()) {
        replacements.reset();
      }
      patience = replacements.next();
      replacedAt = now;
    }
  }

  /**
   * @param api null while there is no connection
   * @param leads whether this activator may write now; called on the loop
   * @param random jitter
   */
  public ScaledServiceStatusWriter(Loop loop, Supplier<@Nullable KubernetesApiClient> api,
      InstantSource clock,
      BooleanSupplier leads, RandomGenerator random) {
    this.loop = loop;
    this.api = api;
    this.clock = clock;
    this.events = new EventWriter(api, clock);
    this.leads = leads;
    this.random = random;
    this.queue = new WorkQueue<>(loop, MAX_WRITES,
        () -> new Backoff(AFTER_FAILURE, MAX_AFTER_REFUSAL, JITTER, random), leads, this::onTerm,
        this::reconcile);
  }

  public void start() {
    loop.execute(queue::start);
  }

  /**
   * Writes all pending statuses at once. Call before another activator may lead.
   *
   * @return a future that completes when each write has been tried once
   */
  public CompletableFuture<Void> finish() {
    return CompletableFuture.supplyAsync(queue::drain, loop).thenCompose(done -> done);
  }

  public void stop() {
    loop.execute(queue::stop);
  }

  /** Call after {@link #gone} for an object that was created again under the same name. */
  public void changed(ResolvedScaledService state) {
    loop.execute(() -> {
      var id = state.object().id();
      var known = entries.computeIfAbsent(id, _ -> new Entry(state, loop.nanoTime(), random));
      if (state.target() == null) {
        known.scaling = null;
        update(known, new Event.Unscaled());
      }
      boolean isEdited = known.state == state
          || known.state.object().generation() != state.object().generation();
      known.state = state;
      if (isEdited) {
        queue.add(id);
      } else {
        queue.addAfter(id, DELAY);
      }
    });
  }

  public void gone(RevisionId id) {
    loop.execute(() -> {
      queue.forget(id);
      var known = entries.remove(id);
      if (known != null && leads.getAsBoolean() && known.scaling != null
          && known.scaling.desiredReplicas().equals(OptionalInt.of(0))
      // Pods that are asleep are woken, and the workload keeps its replicas.
          && known.state.object().idle().state() == null) {
        event(known, true, "LeftAtZero", "ScaledService " + id.name() + " is deleted, and "
            + known.state.object().workload() + " keeps 0 replicas");
      }
    });
  }

  public void scaled(RevisionId id, Scaling now) {
    loop.execute(() -> {
      var known = entries.get(id);
      // If the ScaledService does not scale a workload, the decision may be about a Knative
      // revision with the same name.
      if (known != null && known.state.target() != null) {
        // This decision belongs to a new term, which does not wait for the last writes of the
        // previous term.
        queue.endDrain();
        known.scaling = now;
        update(known, new Event.Decided(now.state().equals(ScaleState.WAKING.text())));
        queue.add(id);
      }
    });
  }

  /** Call with the start of pods for which requests wait here, and with none when none do. */
  public void starts(RevisionStartProgress now) {
    onStart(now.revision(), new Event.Progressed(now));
  }

  /** Call when pods of a revision are watched and none can start, and when one may start or the watch ends. */
  public void startFailed(ContainerFailure now) {
    var failure = now.failure();
    onStart(now.revision(), new Event.Failed(failure == null
        ? null
        : new Trouble(failure.reason(),
            "no pod starts: " + failure.since() + ", " + failure.message())));
  }

  private void onStart(RevisionId revision, Event event) {
    change(revision, known -> update(known, event));
  }

  /** Changes what is known of a revision or of one of its ports, and writes what follows. */
  private void change(RevisionId revision, Consumer<Entry> change) {
    var id = revision.withoutPort();
    loop.execute(() -> {
      var known = entries.get(id);
      if (known != null) {
        change.accept(known);
        queue.add(id);
      }
    });
  }

  private void update(Entry entry, Event event) {
    entry.start = entry.start.on(event, loop.nanoTime());
  }

  /**
   * Call with why ready pods fail the readinessProbe of a port, at least once, and with an empty text
   * once they do not.
   */
  public void portProbeFails(RevisionId port, String why) {
    change(port, known -> {
      if (why.isEmpty()) {
        known.failedProbes.remove(port);
      } else {
        known.failedProbes.put(port,
            new Trouble("PortProbeFails", "ready pods get no connections, as"
                + " they fail the readinessProbe in spec.ports: " + why));
      }
    });
  }

  /**
   * Writes an Event about the ScaledService, if this activator leads.
   *
   * @param reason one word
   */
  public void happened(RevisionId id, boolean warning, String reason, String message) {
    loop.execute(() -> {
      var known = entries.get(id);
      if (known != null && leads.getAsBoolean()) {
        event(known, warning, reason, message);
      }
    });
  }

  private void onTerm(boolean begins) {
    entries.forEach((id, entry) -> {
      // Another leader may have written in the meantime.
      entry.written = null;
      entry.refusal = "";
      if (begins) {
        queue.add(id);
      } else {
        entry.scaling = null;
        update(entry, new Event.Forgotten());
      }
    });
  }

  private CompletableFuture<WorkQueue.Result> reconcile(RevisionId id) {
    var entry = entries.get(id);
    if (entry == null) {
      return CompletableFuture.completedFuture(WorkQueue.Done.NOW);
    }
    checkShown(id, entry);
    update(entry, new Event.TimePassed());
    long untilUnready = entry.start.nanosUntilUnready(loop.nanoTime());
    if (untilUnready > 0) {
      queue.addAfter(id, Duration.ofNanos(untilUnready));
    }
    var open = api.get();
    var before = entry.written == null ? entry.state.object().status() : entry.written;
    var next = next(entry, before);
    if (open == null || next.equals(before)) {
      eventWhenDue(id, entry, before);
      warnings(entry);
      return CompletableFuture.completedFuture(WorkQueue.Done.NOW);
    }
    return open.send("PATCH", "apis/" + API_VERSION + "/namespaces/" + id.namespace()
        + "/scaledservices/" + id.name() + "/status", "application/merge-patch+json",
        json(entry.state.object().uid(), before, next), TIMEOUT)
        .handleAsync((answer, _) -> written(id, entry, before, next, answer), loop);
  }

  private ScaledServiceStatus next(Entry entry, ScaledServiceStatus before) {
    var now = now();
    var start = entry.start.trouble();
    var port = entry.failedProbes.values().stream().findFirst().orElse(null);
    var next = before.next(entry.state, entry.scaling, start == null ? port : start, now);
    var unscheduled = entry.start.unscheduled();
    return unscheduled == null || next.conditions().isEmpty()
        ? next
        : next.unscheduled(unscheduled.reason(), unscheduled.message(), before, now);
  }

  /** Writes a status again that another client has replaced. */
  private void checkShown(RevisionId id, Entry entry) {
    if (entry.differs()) {
      long now = loop.nanoTime();
      if (entry.shownBy - now > 0) {
        queue.addAfter(id, Duration.ofNanos(entry.shownBy - now));
      } else {
        entry.replaced(now);
      }
    }
  }

  private WorkQueue.Result written(RevisionId id, Entry entry, ScaledServiceStatus before,
      ScaledServiceStatus next, @Nullable ApiAnswer answer) {
    if (entries.get(id) != entry) {
      // The object was deleted in the meantime.
      return WorkQueue.Done.NOW;
    }
    if (answer != null && answer.status() < 300) {
      entry.refusal = "";
      entry.written = next;
      entry.shownBy = loop.nanoTime() + entry.patience.toNanos();
      checkShown(id, entry);
      if (!next.trouble().equals(before.trouble())) {
        entry.eventIsDue = !next.trouble().isEmpty();
        entry.notReadySince = loop.nanoTime();
      }
      eventWhenDue(id, entry, next);
      warnings(entry);
      return new WorkQueue.Done(PERIOD);
    }
    if (answer == null || answer.status() != NOT_FOUND && answer.status() != CONFLICT) {
      refused(id, entry, answer);
    }
    if (answer == null) {
      return new WorkQueue.Retry(Duration.ZERO, MAX_AFTER_OUTAGE);
    }
    boolean isUnavailable = answer.status() == TOO_MANY_REQUESTS
        || answer.status() >= SERVER_ERROR;
    return new WorkQueue.Retry(answer.retryAfter(),
        isUnavailable ? MAX_AFTER_OUTAGE : MAX_AFTER_REFUSAL);
  }

  private void refused(RevisionId id, Entry entry, @Nullable ApiAnswer answer) {
    var now = answer == null ? "no answer" : answer.status() + " " + answer.message();
    if (!now.equals(entry.refusal)) {
      limit.log(loop.nanoTime(), others -> {
        entry.refusal = now;
        log.warn(
            "The status of ScaledService {} cannot be written: {}. {} other writes failed since"
                + " the last such line",
            id, now, others);
      });
    }
  }

  /** Writes the Event that says why it is not ready, once. */
  private void eventWhenDue(RevisionId id, Entry entry, ScaledServiceStatus shown) {
    if (!entry.eventIsDue) {
      return;
    }
    long left = shown.mayEndSoon()
        ? entry.notReadySince + UNTIL_MISSED.toNanos() - loop.nanoTime()
        : 0;
    if (left > 0) {
      queue.addAfter(id, Duration.ofNanos(left));
    } else {
      entry.eventIsDue = false;
      event(entry, true, shown.trouble(), shown.conditions().getFirst().message());
    }
  }

  private void warnings(Entry entry) {
    for (Trouble one : entry.state.warnings()) {
      event(entry, true, one.reason(), one.message());
    }
  }

  private void event(Entry entry, boolean warning, String reason, String message) {
    var object = entry.state.object();
    var _ = events.write(new EventWriter.Regarding(API_VERSION, KIND, object.id().namespace(),
        object.id().name(), object.uid()), warning, reason, message);
  }

  private String now() {
    return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /**
   * @param uid a precondition, so that an object created again under the same name does not get
   *     this status
   */
  private static String json(String uid, ScaledServiceStatus before, ScaledServiceStatus status) {
    var patch = JSON.createObjectNode();
    patch.putObject("metadata").put("uid", uid);
    var now = patch.putObject("status");
    put(now, "replicas", status.replicas());
    put(now, "desiredReplicas", status.desiredReplicas());
    put(now, "state", status.state());
    put(now, "target", status.target());
    now.put("observedGeneration", status.observedGeneration());
    var conditions = now.putArray("conditions");
    for (var one : status.conditions()) {
      conditions.addObject().put("type", one.type()).put("status", one.status())
          .put("reason", one.reason()).put("message", one.message())
          .put("lastTransitionTime", one.since()).put("observedGeneration", one.generation());
    }
    if (!status.ports().equals(before.ports())) {
      var ports = now.putArray("ports");
      new TreeMap<>(status.ports()).forEach(
          (port, number) -> ports.addObject().put("port", port).put("number", number));
    }
    return patch.toString();
  }

  /** Sets a field. A merge patch removes a field that is null. */
  private static void put(ObjectNode object, String field, OptionalInt value) {
    if (value.isPresent()) {
      object.put(field, value.getAsInt());
    } else {
      object.putNull(field);
    }
  }

  private static void put(ObjectNode object, String field, String value) {
    object.put(field, value.isEmpty() ? null : value);
  }
}
