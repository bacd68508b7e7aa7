package dev.activator.kube;

import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.policy.Backoff;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of keys whose objects have to be reconciled. A key that is added several times before its
 * turn is reconciled once. A key that is added while it is reconciled is reconciled again
 * afterwards, so there is never more than one reconciliation of a key. Keys are taken in the order
 * in which they became due, and only while this process leads.
 *
 * <p><b>Threads.</b> Confined to the loop.
 *
 * <p><b>Errors.</b> A reconciliation that throws, or whose future fails, is logged and retried.
 *
 * <p><b>Source.</b> client-go's {@code util/workqueue}: {@link #add} and {@link #addAfter} are its
 * {@code Add} and {@code AddAfter}; {@link Retry} is its {@code AddRateLimited}; {@link Done} its
 * {@code Forget}; {@link #drain} its {@code ShutDownWithDrain}. Unlike there, an added key is not
 * reconciled before the pause after a failure has ended, because the API would refuse it again.
 *
 * @param <K> has {@code equals} and {@code hashCode}
 */
public final class WorkQueue<K> {
  private static final Logger log = LoggerFactory.getLogger(WorkQueue.class);
  private static final Duration GATE_PERIOD = Duration.ofSeconds(1);

  private final Loop loop;
  private final int maxConcurrent;
  private final Supplier<Backoff> backoffs;
  private final BooleanSupplier leads;
  private final Consumer<Boolean> onTerm;
  private final Function<K, CompletableFuture<Result>> reconcile;
  /** The keys that are due, wait for a time, or are being reconciled. */
  private final Map<K, Item> items = new HashMap<>();
  private final LinkedHashSet<Item> due = new LinkedHashSet<>();
  private final ResettableTimer gate;
  private boolean isStarted;
  /** Whether this process led at the last check; null before the first, and after a drain. */
  private @Nullable Boolean wasLeader;
  private boolean isRunScheduled;
  private int underWay;
  private @Nullable CompletableFuture<Void> draining;

  /** The result of a reconciliation. */
  public sealed interface Result {}

  /**
   * Nothing is left to do until the key is added again.
   *
   * @param period the minimum time from the begin of this reconciliation to that of the next
   */
  public record Done(Duration period) implements Result {
    public static final Done NOW = new Done(Duration.ZERO);
  }

  /**
   * The reconciliation failed, and is repeated after a pause that grows from failure to failure.
   *
   * @param retryAfter the pause that the server requested; zero if none
   * @param limit the maximum of the pause for this kind of failure
   */
  public record Retry(Duration retryAfter, Duration limit) implements Result {
    /** @param retryAfter the pause that the server requested; zero if none */
    public Retry(Duration retryAfter) {
      this(retryAfter, Duration.ofNanos(Long.MAX_VALUE));
    }
  }

  private final class Item {
    private final K key;
    private final ResettableTimer timer = new ResettableTimer(loop, this::onTimer);
    private boolean isDirty;
    private boolean isUnderWay;
    /** Whether the result of the current reconciliation no longer counts. */
    private boolean isForgotten;
    private long notBefore = loop.nanoTime();
    private boolean isDelayed;
    private long delayedUntil;
    /** Null unless the last reconciliation failed. */
    private @Nullable Backoff backoff;

    Item(K key) {
      this.key = key;
    }

    private void onTimer() {
      if (isDelayed && delayedUntil - loop.nanoTime() <= 0) {
        isDelayed = false;
        isDirty = true;
      }
      settle();
    }

    /** Makes the key due, sets its timer, or removes it. */
    void settle() {
      if (isUnderWay) {
        return;
      }
      boolean isEarly = draining == null && notBefore - loop.nanoTime() > 0;
      if (isDirty && !isEarly) {
        due.add(this);
        scheduleRun();
      } else if (isEarly) {
        timer.at(notBefore);
      } else if (isDelayed) {
        timer.at(delayedUntil);
      } else {
        timer.cancel();
        items.remove(key, this);
      }
    }

    void forget() {
      isDirty = false;
      isDelayed = false;
      isForgotten = isUnderWay;
      backoff = null;
      notBefore = loop.nanoTime();
      timer.cancel();
      due.remove(this);
      settle();
    }

    void ended(Result result, long began) {
      isUnderWay = false;
      if (isForgotten) {
        isForgotten = false;
      } else {
        switch (result) {
          case Done(var period) -> {
            backoff = null;
            notBefore = began + period.toNanos();
          }
          case Retry(var retryAfter, var limit) -> {
            isDirty = draining == null;
            backoff = backoff == null ? backoffs.get() : backoff;
            notBefore = loop.nanoTime() + backoff.next(retryAfter, limit).toNanos();
          }
        }
      }
      settle();
    }
  }

  /**
   * @param maxConcurrent the maximum number of concurrent reconciliations
   * @param backoffs makes the schedule of the pauses after failures of one key
   * @param leads whether this process leads, and may reconcile; called on the loop
   * @param onTerm called when a term begins (true) or ends. The keys of earlier terms are forgotten
   *     by then; at the begin, the receiver adds all keys.
   * @param reconcile begins to reconcile a key; must not block. The future may complete on any
   *     thread.
   */
  public WorkQueue(Loop loop, int maxConcurrent, Supplier<Backoff> backoffs, BooleanSupplier leads,
      Consumer<Boolean> onTerm, Function<K, CompletableFuture<Result>> reconcile) {
    this.loop = loop;
    this.maxConcurrent = maxConcurrent;
    this.backoffs = backoffs;
    this.leads = leads;
    this.onTerm = onTerm;
    this.reconcile = reconcile;
    this.gate = new ResettableTimer(loop, this::start);
  }

  /** Begins to check once a second whether this process leads. Nothing is reconciled before. */
  public void start() {
    isStarted = true;
    gate.within(GATE_PERIOD);
    checkLeader();
    run();
  }

  /** Ends the term. Does not wait for reconciliations that are under way. */
  public void stop() {
    isStarted = false;
    gate.cancel();
    checkLeader();
    run();
  }

  /** Reconciles the key as soon as possible. Does nothing during a {@link #drain}. */
  public void add(K key) {
    if (draining == null) {
      var item = items.computeIfAbsent(key, Item::new);
      item.isDirty = true;
      item.settle();
    }
  }

  /** Adds the key after this time. If it is called again before, the earlier time counts. */
  public void addAfter(K key, Duration delay) {
    if (draining == null) {
      var item = items.computeIfAbsent(key, Item::new);
      long until = loop.nanoTime() + delay.toNanos();
      item.delayedUntil = item.isDelayed && item.delayedUntil - until < 0
          ? item.delayedUntil
          : until;
      item.isDelayed = true;
      item.settle();
    }
  }

  /**
   * Removes the key, and forgets its pauses. If it is being reconciled, the result is ignored. Call
   * it if the key belongs to another object from now on.
   */
  public void forget(K key) {
    var item = items.get(key);
    if (item != null) {
      item.forget();
    }
  }

  /**
   * Reconciles all added keys at once, also those that were added for later, except those that have
   * failed, and ends the term. Completes when each was tried once.
   */
  public CompletableFuture<Void> drain() {
    var done = draining;
    if (done == null) {
      done = new CompletableFuture<>();
      draining = done;
      for (var item : List.copyOf(items.values())) {
        item.isDirty |= item.isDelayed;
        item.isDelayed = false;
        if (item.backoff != null && !item.isUnderWay) {
          item.forget();
        }
        item.settle();
      }
      scheduleRun();
    }
    return done;
  }

  /** Ends a drain before it is complete, because the next term has begun. */
  public void endDrain() {
    var done = draining;
    if (done != null) {
      draining = null;
      wasLeader = null;
      forgetAll();
      done.complete(null);
    }
  }

  private void forgetAll() {
    List.copyOf(items.values()).forEach(Item::forget);
  }

  private boolean checkLeader() {
    boolean isLeader = isStarted && leads.getAsBoolean();
    if (wasLeader == null || isLeader != wasLeader) {
      if (isLeader) {
        endDrain();
      }
      wasLeader = isLeader;
      forgetAll();
      onTerm.accept(isLeader);
    } else if (!isLeader) {
      forgetAll();
    }
    return isLeader;
  }

  private void scheduleRun() {
    if (!isRunScheduled) {
      isRunScheduled = true;
      loop.execute(this::run);
    }
  }

  private void run() {
    isRunScheduled = false;
    while (!due.isEmpty() && underWay < maxConcurrent && checkLeader() && !due.isEmpty()) {
      reconcile(due.removeFirst());
    }
    if (due.isEmpty() && underWay == 0) {
      endDrain();
    }
  }

  private void reconcile(Item item) {
    item.isDirty = false;
    item.isUnderWay = true;
    underWay++;
    long began = loop.nanoTime();
    var answer = begin(item.key);
    if (answer.isDone()) {
      ended(item, answer, began);
    } else {
      // If the loop has been closed meanwhile, nothing is left to do.
      var _ = answer.whenComplete((_, _) -> loop.execute(() -> {
        ended(item, answer, began);
        run();
      }));
    }
  }

  private void ended(Item item, CompletableFuture<Result> answer, long began) {
    underWay--;
    if (answer.isCompletedExceptionally()) {
      log.error("{} could not be reconciled, and is tried again", item.key, answer.exceptionNow());
      item.ended(new Retry(Duration.ZERO), began);
    } else {
      item.ended(answer.resultNow(), began);
    }
  }

  private CompletableFuture<Result> begin(K key) {
    try {
      return reconcile.apply(key);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
