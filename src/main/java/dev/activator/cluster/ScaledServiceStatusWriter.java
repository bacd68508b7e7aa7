package dev.activator.cluster;

import dev.activator.cluster.policy.ResolvedScaledService;
import dev.activator.cluster.policy.ResolvedScaledService.Trouble;
import dev.activator.cluster.policy.ScaledServiceStatus;
import dev.activator.cluster.policy.ScaledServiceStatus.Scaling;
import dev.activator.cluster.reflector.KubernetesApiClient;
import dev.activator.cluster.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.loop.policy.Backoff;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
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
  /** The minimum time between two writes of one status. */
  private static final Duration PERIOD = Duration.ofSeconds(1);
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
  private final Set<RevisionId> stale = new LinkedHashSet<>();
  private final ResettableTimer writing;
  private final ResettableTimer leading;
  private final ResettableTimer checks;
  private final LogLimit limit = new LogLimit();
  private boolean led;
  private int underWay;
  private @Nullable CompletableFuture<Void> finishing;

  private static final class Entry {
    private ResolvedScaledService state;
    private @Nullable Scaling scaling;
    /** The status that was written last in this term; null before. */
    private @Nullable ScaledServiceStatus written;
    private long notBefore;
    private boolean isUnderWay;
    /**
     * The time until which the watch may show an older status. After it, another status means that
     * another client has replaced ours.
     */
    private long shownBy;
    /** The refusal that was logged last; empty after a success. */
    private String refusal = "";
    private boolean failed;
    private final Backoff refusals;
    private final Backoff outages;
    /**
     * The pauses before a replaced status is written again. They grow, because the other client may
     * replace it each time, or the watch may be down.
     */
    private final Backoff replacements;
    private Duration patience = AFTER_FAILURE;
    private long replacedAt;

    Entry(ResolvedScaledService state, long now, RandomGenerator random) {
      this.state = state;
      this.notBefore = now;
      this.refusals = new Backoff(AFTER_FAILURE, MAX_AFTER_REFUSAL, JITTER, random);
      this.outages = new Backoff(AFTER_FAILURE, MAX_AFTER_OUTAGE, JITTER, random);
      this.replacements = new Backoff(AFTER_FAILURE, MAX_AFTER_REFUSAL, JITTER, random);
      this.replacedAt = now;
    }

    /** Whether the watch shows a status that differs from the written one. */
    boolean differs() {
      return written != null && !isUnderWay && !written.equals(state.object().status());
    }

    void replaced(long now) {
      written = null;
      if (now - replacedAt > MAX_AFTER_REFUSAL.toNanos()) {
        replacements.reset();
      }
      patience = replacements.next();
      replacedAt = now;
    }

    Duration pause(@Nullable ApiAnswer answer) {
      failed = true;
      if (answer == null) {
        return outages.next();
      }
      boolean unavailable = answer.status() == TOO_MANY_REQUESTS
          || answer.status() >= SERVER_ERROR;
      return (unavailable ? outages : refusals).next(answer.retryAfter());
    }

    void succeeded() {
      failed = false;
      refusal = "";
      refusals.reset();
      outages.reset();
    }
  }

  /**
   * @param api null while there is no connection
   * @param leads whether this activator may write now; called on the loop
   * @param random jitter
   */
  ScaledServiceStatusWriter(Loop loop, Supplier<@Nullable KubernetesApiClient> api,
      InstantSource clock,
      BooleanSupplier leads, RandomGenerator random) {
    this.loop = loop;
    this.api = api;
    this.clock = clock;
    this.events = new EventWriter(api, clock);
    this.leads = leads;
    this.random = random;
    this.writing = new ResettableTimer(loop, this::write);
    this.leading = new ResettableTimer(loop, this::refreshLeader);
    this.checks = new ResettableTimer(loop, this::checkAll);
  }

  public void start() {
    loop.execute(this::refreshLeader);
  }

  /**
   * Writes all pending statuses at once. Call before another activator may lead.
   *
   * @return a future that completes when each write has been tried once
   */
  public CompletableFuture<Void> finish() {
    var done = new CompletableFuture<Void>();
    loop.execute(() -> {
      finishing = done;
      stale.removeIf(id -> {
        var entry = entries.get(id);
        if (entry == null || entry.failed) {
          // The write would be refused again.
          return true;
        }
        entry.notBefore = loop.nanoTime();
        return false;
      });
      write();
    });
    return done;
  }

  public void stop() {
    loop.execute(() -> {
      writing.cancel();
      leading.cancel();
      checks.cancel();
      led = false;
    });
  }

  public void changed(ResolvedScaledService state) {
    loop.execute(() -> {
      var known = entries.computeIfAbsent(state.object().id(),
          _ -> new Entry(state, loop.nanoTime(), random));
      if (!known.state.object().uid().equals(state.object().uid())) {
        known.written = null;
        known.scaling = null;
        known.notBefore = loop.nanoTime();
        known.succeeded();
      }
      if (state.target() == null) {
        known.scaling = null;
      }
      known.state = state;
      check(known);
      scheduleWrite(state.object().id());
    });
  }

  /** Whether another client has replaced the status, so that it must be written again. */
  private boolean check(Entry entry) {
    long now = loop.nanoTime();
    boolean differs = entry.differs();
    if (differs && entry.shownBy - now > 0) {
      checks.at(entry.shownBy);
      return false;
    }
    if (differs) {
      entry.replaced(now);
    }
    return differs;
  }

  private void checkAll() {
    entries.forEach((id, entry) -> {
      if (check(entry)) {
        scheduleWrite(id);
      }
    });
  }

  public void gone(RevisionId id) {
    loop.execute(() -> {
      stale.remove(id);
      var known = entries.remove(id);
      if (known != null && led && known.scaling != null
          && known.scaling.desiredReplicas().equals(OptionalInt.of(0))) {
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
        completeFinish();
        known.scaling = now;
        scheduleWrite(id);
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

  private void refreshLeader() {
    leading.within(PERIOD);
    boolean now = leads.getAsBoolean();
    if (!now) {
      entries.values().forEach(one -> one.scaling = null);
      stale.clear();
    }
    if (now == led) {
      return;
    }
    if (now) {
      completeFinish();
    }
    led = now;
    entries.values().forEach(one -> {
      // Another leader may have written in the meantime.
      one.written = null;
      one.notBefore = loop.nanoTime();
      one.succeeded();
    });
    if (now) {
      entries.keySet().forEach(this::scheduleWrite);
    }
  }

  private void scheduleWrite(RevisionId id) {
    if (led && finishing == null) {
      stale.add(id);
      writing.within(Duration.ZERO);
    }
  }

  private void write() {
    long now = loop.nanoTime();
    long next = Long.MAX_VALUE;
    for (var id : new ArrayList<>(stale)) {
      var entry = entries.get(id);
      if (entry == null || !leads.getAsBoolean()) {
        stale.remove(id);
      } else if (entry.notBefore - now > 0) {
        next = Math.min(next, entry.notBefore - now);
      } else if (!entry.isUnderWay && underWay < MAX_WRITES) {
        stale.remove(id);
        write(id, entry);
      }
    }
    if (next < Long.MAX_VALUE) {
      writing.within(next);
    }
    if (stale.isEmpty() && underWay == 0) {
      completeFinish();
    }
  }

  private void completeFinish() {
    var waiting = finishing;
    finishing = null;
    if (waiting != null) {
      // The next term may have begun unnoticed. It writes the remaining statuses, so its decisions
      // must be kept.
      led = false;
      stale.clear();
      waiting.complete(null);
    }
  }

  private void write(RevisionId id, Entry entry) {
    var open = api.get();
    var before = entry.written == null ? entry.state.object().status() : entry.written;
    var next = before.next(entry.state, entry.scaling, now());
    if (open == null || next.equals(before)) {
      warnings(entry);
      return;
    }
    var uid = entry.state.object().uid();
    entry.isUnderWay = true;
    entry.notBefore = loop.nanoTime() + PERIOD.toNanos();
    underWay++;
    open.send("PATCH", "apis/" + API_VERSION + "/namespaces/" + id.namespace()
        + "/scaledservices/" + id.name() + "/status", "application/merge-patch+json",
        json(uid, next), TIMEOUT)
        .whenCompleteAsync((answer, failure) -> written(id, entry, uid, before, next, answer),
            loop);
  }

  private void written(RevisionId id, Entry entry, String uid, ScaledServiceStatus before,
      ScaledServiceStatus next, @Nullable ApiAnswer answer) {
    entry.isUnderWay = false;
    underWay--;
    boolean isWritten = answer != null && answer.status() < 300;
    if (!entry.state.object().uid().equals(uid)) {
      // The object was deleted and created again in the meantime, and has no status yet.
      scheduleWrite(id);
    } else if (isWritten) {
      entry.succeeded();
      entry.written = next;
      entry.shownBy = loop.nanoTime() + entry.patience.toNanos();
      check(entry);
      if (!next.trouble().isEmpty() && !next.trouble().equals(before.trouble())) {
        event(entry, true, next.trouble(), next.conditions().getFirst().message());
      }
      warnings(entry);
    } else {
      if (answer == null || answer.status() != NOT_FOUND && answer.status() != CONFLICT) {
        refused(id, entry, answer);
      }
      entry.notBefore = loop.nanoTime() + entry.pause(answer).toNanos();
      scheduleWrite(id);
    }
    writing.within(Duration.ZERO);
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
  private static String json(String uid, ScaledServiceStatus status) {
    var patch = JSON.createObjectNode();
    patch.putObject("metadata").put("uid", uid);
    var now = patch.putObject("status");
    put(now, "replicas", status.replicas());
    put(now, "desiredReplicas", status.desiredReplicas());
    now.put("observedGeneration", status.observedGeneration());
    var conditions = now.putArray("conditions");
    for (var one : status.conditions()) {
      conditions.addObject().put("type", one.type()).put("status", one.status())
          .put("reason", one.reason()).put("message", one.message())
          .put("lastTransitionTime", one.since()).put("observedGeneration", one.generation());
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
}
