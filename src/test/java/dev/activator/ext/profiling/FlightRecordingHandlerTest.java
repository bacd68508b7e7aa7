package dev.activator.ext.profiling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class FlightRecordingHandlerTest {
  private static final Duration LONG = Duration.ofSeconds(120);

  @Test
  void endsARecordingWhoseCallerLeavesAsItBegins() throws Exception {
    var begins = new CountDownLatch(1);
    var left = new CountDownLatch(1);
    var recording = new Recording();
    var caller = FlightRecordingHandler.during(() -> {
      recording.start();
      begins.countDown();
      awaitIgnoringInterrupts(left);
      return recording;
    }, _ -> Mono.never()).subscribe();
    assertThat(begins.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();

    caller.dispose();
    left.countDown();

    await().until(() -> recording.getState() == RecordingState.CLOSED);
  }

  @Test
  void endsARecordingWhoseCallerLeavesWhileItRuns() {
    var recording = new Recording();
    var caller = FlightRecordingHandler.during(() -> {
      recording.start();
      return recording;
    }, _ -> Mono.never()).subscribe();
    await().until(() -> recording.getState() == RecordingState.RUNNING);

    caller.dispose();

    await().until(() -> recording.getState() == RecordingState.CLOSED);
  }

  @Test
  void endsARecordingThatWasSent() {
    var recording = new Recording();

    FlightRecordingHandler.during(() -> recording, _ -> Mono.<Void>empty()).block(LONG);

    assertThat(recording.getState()).isEqualTo(RecordingState.CLOSED);
  }

  /** The start of a recording is not cut short by who leaves. */
  private static void awaitIgnoringInterrupts(CountDownLatch latch) {
    boolean interrupted = false;
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException left) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
