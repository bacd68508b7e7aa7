package dev.activator.kube.reflector;

import static java.time.Duration.ofSeconds;

import dev.activator.testing.LogLines;
import dev.activator.kube.RecordingSink;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;

/** A test of a reflector of things, with what it logs and the time it goes by. */
abstract class Reflected {
  final LogLines log = LogLines.of(ReflectorStats.class);
  final VirtualLoop loop = VirtualLoop.nearOverflow();
  final FakeListerWatcher api = new FakeListerWatcher(loop);
  final RecordingSink<String> sink = new RecordingSink<>();
  final Reflector<String> reflector = new Reflector<>("things", "things.example.com -A", api,
      sink, () -> sink.versions,
      new ReflectorContext(loop, ReflectorSettings.DEFAULT, new Random(1),
          new ApiErrorText("http://x")));

  void start() {
    reflector.start();
    loop.run();
  }

  /** Time goes by, with a bookmark every half minute. */
  void pass(Duration time) {
    for (var left = time; left.isPositive(); left = left.minusSeconds(30)) {
      loop.advance(ofSeconds(30));
      api.last().bookmark("bookmark at " + loop.elapsed());
    }
    loop.run();
  }

  @AfterEach
  void closeLog() {
    log.close();
  }
}
