package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Requests that arrive while the only pod, which runs, is ejected for a moment. */
class EjectedLastPodTest extends ThrottlerScene {
  private HeldRequest request(Duration patience) {
    var request = new HeldRequest(loop).patience(patience);
    request.received(throttler.admit(exist.of(ID), request));
    loop.run();
    return request;
  }

  /** A start of five seconds, after which the pod serves. */
  private void startedInFiveSeconds() {
    exists(1);
    var first = request();
    loop.advance(Duration.ofSeconds(5));
    pods(A);
    first.release();
    loop.run();
  }

  @Test
  void waitsForAnEjectedPod_whoseStartTakesLongerThanItsDeadline() {
    startedInFiveSeconds();
    var undelivered = request();
    undelivered.retry();
    loop.run();

    var next = request(Duration.ofSeconds(3));

    assertThat(next.answers()).isEmpty();
    loop.advance(Duration.ofMillis(300));
    undelivered.release();
    loop.run();
    assertThat(next.destination()).isEqualTo(A);
  }

  @Test
  void waitsForAnEjectedPod_whileAFailureLasts() {
    exists(1);
    pods(A);
    failsToStart(RevisionStartFailure.shown("TargetTaken", "older"));
    var undelivered = request();
    undelivered.retry();
    loop.run();

    var next = request();

    assertThat(next.answers()).isEmpty();
    loop.advance(Duration.ofMillis(300));
    undelivered.release();
    loop.run();
    assertThat(next.destination()).isEqualTo(A);
  }

  /** As in the product: the watcher publishes that no pod answers until its probe has ended. */
  @Test
  void waitsForAPodThatIsProbedAgain_whoseStartTakesLongerThanItsDeadline() {
    startedInFiveSeconds();
    throttler.unreachable().subscribe("watcher", _ -> throttler.onDestinations(
        HealthyDestinations.pods(ID, DestinationSet.NONE)));
    var undelivered = request();
    undelivered.retry();
    loop.run();

    var next = request(Duration.ofSeconds(3));

    assertThat(next.answers()).isEmpty();
    loop.advance(Duration.ofMillis(10));
    pods(A);
    undelivered.release();
    loop.run();
    assertThat(next.destination()).isEqualTo(A);
  }
}
