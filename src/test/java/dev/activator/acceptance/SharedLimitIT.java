package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.testing.activators.Callers;
import dev.activator.testing.activators.SharedRevision;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The short form of {@code bench/drills/lending}: the packaged jar, an API over TLS, pods without queue-proxy. */
class SharedLimitIT {
  private static final int PODS = 4;

  private final SharedRevision revision;

  SharedLimitIT() throws Exception {
    revision = new SharedRevision(Path.of(System.getProperty("activator.jar")).toAbsolutePath(),
        List.of("-XX:TieredStopAtLevel=1"), PODS);
  }

  /** Each pod serves another request. */
  private void allPodsAreUsed() {
    var before = revision.served();
    await().until(() -> {
      var now = revision.served();
      return IntStream.range(0, PODS).allMatch(i -> now.get(i) > before.get(i));
    });
  }

  @Test
  void losesNothing_andKeepsTheLimit_whileActivatorsAreReplacedAndKilled() throws Exception {
    try (revision) {
      var old = revision.start(2).getFirst();
      var callers = new Callers(PODS, _ -> revision.activators().getFirst());
      try (callers) {
        allPodsAreUsed();

        revision.start(1);
        revision.terminate(old);
        assertThat(revision.exitCode(old)).isZero();
        allPodsAreUsed();

        revision.kill(revision.activators().getFirst());
        allPodsAreUsed();
      }

      assertThat(callers.lost()).isEmpty();
      assertThat(revision.highestConcurrency()).isEqualTo(1);
    }
  }
}
