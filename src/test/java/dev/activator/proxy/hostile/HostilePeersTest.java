package dev.activator.proxy.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HostilePeersTest {
  @Test
  void tryIt() {
    long from = Long.getLong("hostile.from", 0);
    long n = Long.getLong("hostile.count", 100);
    int bad = 0;
    ((ch.qos.logback.classic.Logger) org.slf4j.LoggerFactory.getLogger("ROOT")).setLevel(
        ch.qos.logback.classic.Level.toLevel(System.getProperty("hostile.log", "WARN")));
    long begun = System.nanoTime();
    for (long seed = from; seed < from + n; seed++) {
      var run = new Run(Generator.sequence(seed));
      var faults = run.faults();
      var q = Generator.sequence(seed);
      if (Boolean.getBoolean("hostile.one") && q.version().isHttp2() && !q.podSpeaksOther() && q.plans().size() == 8) {
        System.out.println("ONE? " + run.story());
      }
      if (!faults.isEmpty()) {
        bad++;
        if (bad <= Integer.getInteger("hostile.show", 3)) {
          System.out.println(run.story());
        }
        System.out.println("FAULT " + seed + " " + faults);
      }
    }
    System.out.println(bad + " of " + n + " in " + (System.nanoTime() - begun) / 1_000_000 + " ms");
  }
}
