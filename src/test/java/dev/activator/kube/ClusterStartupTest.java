package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClusterStartupTest {
  @Test
  void givesUpWithTheLastProblem() {
    assertThat(StartFailure.of(
        patience -> new ClusterStartup("http://x", () -> "no such API", List::of, patience).run()))
        .isEqualTo("no such API");
  }

  @Test
  void givesUpOnAnApiThatSaysNothing() {
    var never = new CountDownLatch(1);
    var startup = new ClusterStartup("http://x", () -> {
      try {
        never.await();
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
      return null;
    }, List::of, Duration.ofMillis(50));

    assertThatThrownBy(startup::run).hasMessage("the Kubernetes API at http://x does not answer");
  }

  @Test
  void endsWhenInterrupted_evenIfTheCheckSwallowsTheInterrupt() throws InterruptedException {
    // given an API that is asked in vain, by a client that swallows interrupts
    var asked = new CountDownLatch(1);
    var interrupted = new CompletableFuture<Boolean>();
    var startup = new ClusterStartup("http://x", () -> {
      asked.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException swallowed) {
        return "interrupted";
      }
      return null;
    }, List::of, Duration.ofMinutes(10));
    var starting = Thread.ofVirtual().start(() -> {
      try {
        startup.run();
        interrupted.complete(false);
      } catch (InterruptedException received) {
        interrupted.complete(true);
      }
    });
    asked.await();

    // when the start is told to end
    starting.interrupt();

    // then it does
    assertThat(interrupted).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(true);
  }

  @Test
  void triesAgainUntilAllIsWell() throws InterruptedException {
    var asked = new AtomicInteger();
    var startup = new ClusterStartup("http://x",
        () -> asked.incrementAndGet() < 3 ? "not yet" : null,
        List::of, Duration.ofSeconds(120));

    startup.run();

    assertThat(asked).hasValue(3);
  }
}
