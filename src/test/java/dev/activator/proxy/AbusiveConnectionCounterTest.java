package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.testing.LogLines;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What is told of connections that were ended because of what their callers sent. */
@Isolated
class AbusiveConnectionCounterTest {
  private static final InetSocketAddress CALLER = InetSocketAddress.createUnresolved("caller", 1);

  private final LogLines log = LogLines.of(AbusiveConnectionCounter.class);
  private final AbusiveConnectionCounter ended = new AbusiveConnectionCounter();

  @AfterEach
  void stop() {
    log.close();
  }

  @Test
  void countsEachAndLogsOneInTenSeconds() {
    ended.ended(Reason.CONTROL_FRAMES, CALLER, -1);
    for (int second = 0; second < 10; second++) {
      ended.ended(Reason.PARTIAL_HEADS, CALLER, TimeUnit.SECONDS.toNanos(second) - 1);
    }
    ended.ended(Reason.SLOW_HEAD, CALLER, TimeUnit.SECONDS.toNanos(10) - 1);

    assertThat(ended.count(Reason.CONTROL_FRAMES)).isOne();
    assertThat(ended.count(Reason.PARTIAL_HEADS)).isEqualTo(10);
    assertThat(ended.count(Reason.OTHER_LIMIT)).isZero();
    assertThat(log.lines()).containsExactly(
        "WARN The connection to caller:1 is ended: too many control frames."
            + " 0 others were ended since the last such line",
        "WARN The connection to caller:1 is ended: a head took too long."
            + " 10 others were ended since the last such line");
  }
}
