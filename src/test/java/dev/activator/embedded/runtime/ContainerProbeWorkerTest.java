package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContainerProbeWorkerTest {
  private static final Duration EAGER = ContainerProbeWorker.EAGER_PERIOD;

  private final VirtualLoop loop = new VirtualLoop();
  private final List<String> received = new ArrayList<>();
  private int attempts;

  @Test
  void isProbedOftenUntilItPassesAndThenEveryTenSeconds() {
    probe(0, 0, 1, 3, () -> loop.elapsed().toMillis() >= 420);

    loop.advance(Duration.ofSeconds(30));

    // attempts at 0, 50, … 400, 450, and then at 10.45 and 20.45 s
    assertThat(received).containsExactly("failed after 100 ms", "passed after 450 ms");
    assertThat(attempts).isEqualTo(12);
  }

  @Test
  void isProbedOnceASecondIfItDoesNotPassWithinFiveSeconds() {
    probe(0, 0, 1, 3, () -> false);

    loop.advance(Duration.ofMillis(4_990));
    assertThat(attempts).isEqualTo(100);
    loop.advance(Duration.ofSeconds(10));
    assertThat(attempts).isEqualTo(110);
  }

  @ParameterizedTest
  @CsvSource({"true, 7050", "false, 8000"})
  void isProbedOftenWhileNothingListens_becauseThatFillsNoLog(boolean nothingListens, int passed) {
    new ContainerProbeWorker(loop, Runnable::run, LocalProbe.connecting(1), EAGER,
        () -> loop.elapsed().toMillis() < 7_020
            ? new LocalProbe.Outcome("nothing listens", nothingListens)
            : LocalProbe.Outcome.PASSED,
        listener()).start();

    loop.advance(Duration.ofSeconds(8));

    assertThat(received).containsExactly("failed after 100 ms", "passed after " + passed + " ms");
  }

  @ParameterizedTest
  @CsvSource({"0, 200", "1, 167", "30, 17", "900, 1"})
  void aCommandPausesAsLongAsItTook_withinBounds(int tookMillis, int within1s) {
    var timing = new LocalProbe(new LocalProbe.Exec(List.of("is-ready")), Duration.ZERO,
        Duration.ZERO, Duration.ofSeconds(1), 1, 3);
    new ContainerProbeWorker(loop, task -> loop.schedule(Duration.ofMillis(tookMillis), task),
        timing, ContainerProbeWorker.AS_IT_TAKES, () -> {
          attempts++;
          return LocalProbe.Outcome.of("no");
        }, listener()).start();

    loop.advance(Duration.ofMillis(999));

    assertThat(attempts).isEqualTo(within1s);
  }

  @Test
  void keepsItsOwnPeriodAndInitialDelay() {
    probe(2, 3, 1, 3, () -> loop.elapsed().toSeconds() >= 6);

    loop.advance(Duration.ofSeconds(12));

    // attempts at 2, 5, 8, 11
    assertThat(received).containsExactly("passed after 8000 ms");
    assertThat(attempts).isEqualTo(4);
  }

  @Test
  void countsSuccessesAndFailuresInARow() {
    // given one that passes, fails once, passes, and then fails for good
    probe(0, 1, 2, 2, () -> attempts != 2 && attempts < 6);

    loop.advance(Duration.ofSeconds(20));

    assertThat(received).containsExactly("passed after 3000 ms", "failed after 6000 ms");
  }

  @Test
  void anAttemptThatCannotBeMadeIsAFailureAndTheNextOneFollows() {
    probe(0, 1, 1, 2, () -> {
      if (attempts < 4) {
        throw new IllegalArgumentException("port out of range:70000");
      }
      return true;
    });

    loop.advance(Duration.ofSeconds(10));

    assertThat(received).containsExactly("failed after 1000 ms", "passed after 3000 ms");
  }

  @Test
  void reportsNothingOnceStopped() {
    var probe = probe(0, 1, 2, 1, () -> true);

    probe.stop();
    loop.advance(Duration.ofSeconds(20));

    assertThat(received).isEmpty();
    assertThat(attempts).isLessThan(2);
  }

  private ContainerProbeWorker probe(int delay, int period, int successes, int failures,
      BooleanSupplier passes) {
    var timing = new LocalProbe(new LocalProbe.Connect(1), Duration.ofSeconds(delay),
        Duration.ofSeconds(period), Duration.ofSeconds(1), successes, failures);
    var probe = new ContainerProbeWorker(loop, Runnable::run, timing, EAGER, () -> {
      attempts++;
      return LocalProbe.Outcome.of(passes.getAsBoolean() ? "" : "no");
    }, listener());
    probe.start();
    return probe;
  }

  private ContainerProbeWorker.Listener listener() {
    return new ContainerProbeWorker.Listener() {
      @Override
      public void passed() {
        received.add("passed after " + loop.elapsed().toMillis() + " ms");
      }

      @Override
      public void failed(String problem) {
        received.add("failed after " + loop.elapsed().toMillis() + " ms");
      }
    };
  }
}
