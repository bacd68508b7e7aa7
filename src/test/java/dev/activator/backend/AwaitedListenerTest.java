package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.TRAITS;
import static dev.activator.backend.Fixtures.notReady;
import static dev.activator.backend.Fixtures.pods;
import static dev.activator.backend.Fixtures.ready;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.Loop;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A pod that refused, while a request waits: the test says when attempts to connect to it end. */
class AwaitedListenerTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<HealthyDestinations> published = new ArrayList<>();
  private final List<Attempts> attempts = new ArrayList<>();
  private final FakePods pods = new FakePods(loop) {
    @Override
    public void awaitListener(Loop on, ProbeRequest next, Duration pause, Duration limit,
        Consumer<Boolean> refused) {
      attempts.add(new Attempts(pause, limit, refused));
    }
  };
  private final RevisionWatcher watcher = Fixtures.watcher(TRAITS, loop, pods, published::add);

  private record Attempts(Duration pause, Duration limit, Consumer<Boolean> refused) {}

  @BeforeEach
  void aPodRefusedOnce() {
    watcher.onRequestWaits(loop);
    watcher.listed(notReady(A));
    loop.run();
    assertThat(attempts).singleElement().returns(Duration.ZERO, Attempts::limit);
    end(true);
    assertThat(attempts).hasSize(2);
  }

  private void end(boolean refused) {
    attempts.getLast().refused.accept(refused);
    loop.advance(ofMillis(20));
  }

  @Test
  void isNotProbed_beforeSomethingListens() {
    loop.advance(ofMillis(400));

    assertThat(pods.asked()).isEmpty();
    assertThat(attempts).hasSize(2);
    assertThat(attempts.getLast().pause).isEqualTo(ofMillis(1));
    assertThat(attempts.getLast().limit).isEqualTo(ofMillis(500));
  }

  @Test
  void isProbedAtOnce_whenSomethingListens() {
    end(false);

    assertThat(pods.asked()).hasSize(1);
    assertThat(published).containsExactly(pods(A));
  }

  @Test
  void isTriedAgain_whenNothingListenedUntilTheEnd() {
    end(true);

    assertThat(pods.asked()).isEmpty();
    assertThat(attempts).hasSize(3);
  }

  @Test
  void isProbedWithoutAnAttempt_whenItIsListedAsReady() {
    watcher.listed(ready(B));
    loop.advance(ofMillis(20));

    assertThat(attempts).hasSize(2);
    assertThat(pods.asked(B)).hasSize(1);
  }

  @Test
  void isNotProbed_whenItWasRemovedMeanwhile() {
    watcher.listed(PodsByReadiness.NONE);
    end(false);

    assertThat(pods.asked()).isEmpty();
    assertThat(published).isEmpty();
  }

  @Test
  void isProbed_whenItWasRemovedAndListedAgainMeanwhile() {
    watcher.listed(PodsByReadiness.NONE);
    watcher.listed(notReady(A));
    end(false);
    assertThat(pods.asked()).isEmpty();
    end(false);

    assertThat(pods.asked()).hasSize(1);
    assertThat(published).containsExactly(pods(A));
  }
}
