package dev.activator.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What every loop on a real thread holds to. */
abstract class LoopContract {
  abstract Loop loop();

  @Test
  void neverRunsATaskInsideTheCallThatGivesIt() throws Exception {
    var steps = new ArrayList<String>();
    var done = new CompletableFuture<Void>();

    loop().execute(() -> {
      loop().execute(() -> {
        steps.add("second");
        done.complete(null);
      });
      steps.add("first");
    });
    done.get(120, TimeUnit.SECONDS);

    assertThat(steps).containsExactly("first", "second");
  }

  @Test
  void itsClockBeginsWithTheProcess_soThatItCannotRunOver() {
    long now = loop().nanoTime();

    assertThat(Duration.ofNanos(now)).isBetween(Duration.ZERO,
        Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime() + 1));
  }

  @Test
  void goesOnAfterATaskThatThrows() throws Exception {
    var next = new CompletableFuture<Void>();
    var scheduled = new CompletableFuture<Void>();

    loop().execute(() -> {
      throw new IllegalStateException("on purpose");
    });
    loop().execute(() -> next.complete(null));
    loop().execute(() -> {
      throw new AssertionError("on purpose");
    });
    loop().schedule(Duration.ofMillis(1), () -> scheduled.complete(null));

    next.get(120, TimeUnit.SECONDS);
    scheduled.get(120, TimeUnit.SECONDS);
  }

  @Test
  void doesNotRunATimerThatWasCancelled() throws Exception {
    var ran = new ArrayList<String>();
    var done = new CompletableFuture<Void>();

    loop().execute(() -> {
      loop().schedule(Duration.ofMillis(1), () -> ran.add("cancelled")).cancel();
      loop().schedule(Duration.ofMillis(5), () -> done.complete(null));
    });
    done.get(120, TimeUnit.SECONDS);

    assertThat(ran).isEmpty();
  }
}
