package dev.activator.loop;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class LoopDelayTest {
  private final VirtualLoop clock = VirtualLoop.nearOverflow();
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private final LoopDelay delay = new LoopDelay(new Busy(), clock, ofSeconds(1));

  /** A loop whose tasks run when the test says so. */
  private final class Busy implements Loop {
    @Override
    public void execute(Runnable task) {
      waiting.add(task);
    }

    @Override
    public Timer schedule(Duration after, Runnable task) {
      throw new AssertionError("the other loop tells the time");
    }

    @Override
    public long nanoTime() {
      return clock.nanoTime();
    }
  }

  @Test
  void isHowLongTheLastTaskWaited() {
    delay.start();
    clock.run();
    clock.advance(ofMillis(30));
    waiting.remove().run();
    assertThat(delay.nanos()).isEqualTo(ofMillis(30).toNanos());

    clock.advance(ofSeconds(1));
    waiting.remove().run();
    assertThat(delay.nanos()).isEqualTo(ofMillis(30).toNanos());
  }

  @Test
  void growsWhileALoopIsStuckAndGivesItNoMoreTasks() {
    delay.start();
    clock.run();
    clock.advance(ofSeconds(20));

    assertThat(delay.nanos()).isEqualTo(ofSeconds(20).toNanos());
    assertThat(waiting).hasSize(1);
  }

  @Test
  void stops() {
    delay.start();
    clock.run();
    delay.stop();
    clock.advance(ofSeconds(5));

    assertThat(clock.pending()).isZero();
  }
}
