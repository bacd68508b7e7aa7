package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.testing.LogLines;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads the log")
class RefusedLeaseLogTest {
  private final VirtualLoop loop = new VirtualLoop();

  private static final class NoListener implements LeaderElection.Listener {
    @Override
    public void elected(int term) {
      // only the log matters
    }

    @Override
    public CompletableFuture<Void> deposed() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void onHolder(String holder) {
      // only the log matters
    }
  }

  @Test
  void aLeaseThatMayBeReadButNotWrittenIsLoggedOnce() {
    var lease = new FakeLease();
    lease.refusesWrites = true;
    try (var log = LogLines.of(LeaderElection.class)) {
      Quiescence.watch(new LeaderElection("a", loop, lease, new NoListener(),
          Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), new Random(1), Times.DEFAULT)).start();
      loop.advance(Duration.ofMinutes(1));

      assertThat(log.at(Level.WARN))
          .containsExactly("The lease of the election cannot be used: 403 forbidden");
    }
  }
}
