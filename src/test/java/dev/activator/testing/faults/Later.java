package dev.activator.testing.faults;

import dev.activator.loop.Loop;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** Pauses as publishers, by the clock of the loop. */
final class Later {
  private Later() {}

  /** Completes after the pause, on the loop. */
  static Mono<Void> of(FaultClock clock, Pause pause) {
    return Mono.defer(() -> in(clock.loop(), clock.draw(pause)));
  }

  private static Mono<Void> in(Loop loop, Duration length) {
    return Mono.create(sink -> {
      var timer = loop.schedule(length, sink::success);
      sink.onCancel(timer::cancel);
    });
  }
}
