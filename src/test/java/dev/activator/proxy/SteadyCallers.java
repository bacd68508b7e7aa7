package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Callers that are given requests at a steady rate, whatever becomes of those before; each in its turn,
 * so that none stays idle. A machine that is too slow for the rate makes it a lower one.
 */
final class SteadyCallers implements AutoCloseable {
  /** Who sends requests one after another. */
  interface Caller extends AutoCloseable {
    /** Returns once this request has been answered well. */
    void call(int number) throws Exception;
  }

  private static final int OVER = -1;
  /** What a quiet machine answers in a second. */
  private static final int MOST_WAITING = 500;

  private final List<BlockingQueue<Integer>> turns = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger answered = new AtomicInteger();
  private final Queue<String> lost = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private int given;

  SteadyCallers(List<? extends Caller> callers, int aSecond) {
    for (var caller : callers) {
      var turn = new LinkedBlockingQueue<Integer>();
      turns.add(turn);
      threads.add(Thread.ofVirtual().start(() -> callAll(caller, turn)));
    }
    var unused = clock.scheduleAtFixedRate(this::giveNext, 0,
        TimeUnit.SECONDS.toMicros(1) / aSecond, TimeUnit.MICROSECONDS);
  }

  private void giveNext() {
    if (given - answered.get() - lost.size() > MOST_WAITING) {
      return;
    }
    turns.get(given % turns.size()).add(given);
    given++;
  }

  private void callAll(Caller caller, BlockingQueue<Integer> turn) {
    try (caller) {
      for (int number = turn.take(); number != OVER; number = turn.take()) {
        call(caller, number);
      }
    } catch (Exception failure) {
      lost.add("a caller ended: " + failure);
    }
  }

  private void call(Caller caller, int number) {
    try {
      caller.call(number);
      answered.incrementAndGet();
    } catch (Exception failure) {
      lost.add(number + ": " + failure);
    }
  }

  /** Waits until this many have been answered in all. */
  void awaitAnswered(int atLeast) {
    WireTest.eventually(() -> {
      assertThat(lost).isEmpty();
      assertThat(answered).hasValueGreaterThanOrEqualTo(atLeast);
    });
  }

  /** How many have been answered. */
  int answered() {
    return answered.get();
  }

  /** Gives no more, waits for the last answers, and returns how many there were to be. */
  int finish() throws InterruptedException {
    clock.shutdown();
    assertThat(clock.awaitTermination(2, TimeUnit.MINUTES)).isTrue();
    turns.forEach(turn -> turn.add(OVER));
    for (var thread : threads) {
      // A backlog, if the machine is busy.
      assertThat(thread.join(Duration.ofMinutes(2))).isTrue();
    }
    assertThat(lost).isEmpty();
    return given;
  }

  @Override
  public void close() {
    clock.shutdownNow();
    turns.forEach(turn -> turn.add(OVER));
  }
}
