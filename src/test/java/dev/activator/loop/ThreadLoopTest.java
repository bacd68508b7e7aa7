package dev.activator.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ThreadLoopTest extends LoopContract {
  private final ThreadLoop loop = new ThreadLoop("a thread of its own");

  @AfterEach
  void stop() {
    loop.close();
  }

  @Override
  Loop loop() {
    return loop;
  }

  @Test
  void runsTasksInTheOrderGivenOnADaemonOfItsName() throws Exception {
    var steps = new ArrayList<Integer>();
    var done = new CompletableFuture<Thread>();

    for (int i = 0; i < 1000; i++) {
      int step = i;
      loop.execute(() -> steps.add(step));
    }
    loop.execute(() -> done.complete(Thread.currentThread()));

    var thread = done.get(120, TimeUnit.SECONDS);
    assertThat(steps).hasSize(1000).isSorted();
    assertThat(thread.getName()).isEqualTo("a thread of its own");
    assertThat(thread.isDaemon()).isTrue();
  }

  @Test
  void endsWhatItRunsWhenClosedAndRefusesWhatComesLater() throws Exception {
    var running = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var ran = new ArrayList<String>();
    var ended = new CompletableFuture<Thread>();
    loop.execute(() -> {
      running.countDown();
      try {
        go.await();
        ran.add("in progress");
      } catch (InterruptedException interrupted) {
        ran.add("interrupted");
      }
    });
    loop.execute(() -> ended.complete(Thread.currentThread()));
    running.await();

    loop.close();
    assertThatThrownBy(() -> loop.execute(() -> ran.add("late")))
        .isInstanceOf(RejectedExecutionException.class);
    assertThatThrownBy(() -> loop.schedule(Duration.ZERO, () -> ran.add("later")))
        .isInstanceOf(RejectedExecutionException.class);
    go.countDown();

    ended.get(120, TimeUnit.SECONDS).join();
    assertThat(ran).containsExactly("in progress");
  }
}
