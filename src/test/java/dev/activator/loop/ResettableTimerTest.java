package dev.activator.loop;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResettableTimerTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<Duration> ran = new ArrayList<>();
  private final ResettableTimer timer = new ResettableTimer(loop, () -> ran.add(loop.elapsed()));

  @Test
  void runsOnceAfterTheTime() {
    timer.within(ofSeconds(2));
    loop.advance(ofSeconds(10));

    assertThat(ran).containsExactly(ofSeconds(2));
  }

  @Test
  void staysSetWhereItIsSetForEarlier() {
    timer.within(ofSeconds(2));
    timer.within(ofSeconds(3));
    loop.advance(ofSeconds(10));

    assertThat(ran).containsExactly(ofSeconds(2));
  }

  @Test
  void comesEarlierWhereItIsSetForLater() {
    timer.within(ofSeconds(3));
    timer.within(ofSeconds(1));
    loop.advance(ofSeconds(10));

    assertThat(ran).containsExactly(ofSeconds(1));
  }

  @Test
  void runsAtATimeAndAtOnceIfThatIsOver() {
    timer.at(loop.nanoTime() + ofSeconds(2).toNanos());
    timer.at(loop.nanoTime() + ofSeconds(3).toNanos());
    loop.advance(ofSeconds(10));
    timer.at(loop.nanoTime() - ofSeconds(2).toNanos());
    loop.advance(ofSeconds(10));

    assertThat(ran).containsExactly(ofSeconds(2), ofSeconds(10));
  }

  @Test
  void doesNotRunOnceCancelledAndCanBeSetAgain() {
    timer.within(ofSeconds(1));
    timer.cancel();
    loop.advance(ofSeconds(5));
    assertThat(ran).isEmpty();

    timer.within(ofSeconds(1));
    loop.advance(ofSeconds(5));
    assertThat(ran).containsExactly(ofSeconds(6));
  }

  @Test
  void repeatsWhileItsTaskSetsItAgain() {
    var again = new ResettableTimer[1];
    again[0] = new ResettableTimer(loop, () -> {
      ran.add(loop.elapsed());
      if (ran.size() < 3) {
        again[0].within(ofSeconds(1));
      }
    });

    again[0].within(ofSeconds(1));
    loop.advance(ofSeconds(10));

    assertThat(ran).containsExactly(ofSeconds(1), ofSeconds(2), ofSeconds(3));
    assertThat(loop.pending()).isZero();
  }

  @Test
  void repeatsThoughItsTaskThrewBeforeItSetTheTimerAgain() {
    var again = new ResettableTimer[1];
    again[0] = new ResettableTimer(loop, () -> {
      ran.add(loop.elapsed());
      if (ran.size() == 2) {
        throw new IllegalStateException("a bug");
      }
      again[0].within(ofSeconds(5));
    });

    again[0].within(ofSeconds(5));
    assertThatThrownBy(() -> loop.advance(ofSeconds(12))).hasMessage("a bug");
    loop.advance(ofSeconds(7));

    assertThat(ran).containsExactly(ofSeconds(5), ofSeconds(10), ofSeconds(11), ofSeconds(16));
  }

  @Test
  void staysAsItsTaskLeftItBeforeItThrew() {
    var thrown = new ResettableTimer[1];
    thrown[0] = new ResettableTimer(loop, () -> {
      ran.add(loop.elapsed());
      if (ran.size() == 1) {
        thrown[0].within(ofSeconds(3));
      } else {
        thrown[0].cancel();
      }
      throw new IllegalStateException("a bug");
    });

    thrown[0].within(ofSeconds(2));
    assertThatThrownBy(() -> loop.advance(ofSeconds(2))).hasMessage("a bug");
    assertThatThrownBy(() -> loop.advance(ofSeconds(3))).hasMessage("a bug");
    loop.advance(ofSeconds(10));

    assertThat(ran).containsExactly(ofSeconds(2), ofSeconds(5));
    assertThat(loop.pending()).isZero();
  }
}
