package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReadTurnTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private int rests;
  private final ReadTurn turn = new ReadTurn(loop, () -> rests++);

  private boolean takesAllOfATurn() {
    boolean all = true;
    for (int i = 0; i < ReadTurn.MAX_PARTS; i++) {
      all &= turn.mayBegin();
      turn.count(1);
    }
    return all;
  }

  @Test
  void schedulesNothing_whenAllPartsBelongToTheTurn() {
    assertThat(takesAllOfATurn()).isTrue();
    turn.readCompletes();
    assertThat(takesAllOfATurn()).isTrue();

    assertThat(loop.pending()).isZero();
  }

  @Test
  void schedulesTheRestOnce_whenMorePartsCome() {
    takesAllOfATurn();

    assertThat(turn.mayBegin()).isFalse();
    assertThat(turn.mayBegin()).isFalse();
    turn.readCompletes();
    assertThat(turn.mayBegin()).isFalse();
    assertThat(turn.isOver()).isTrue();
    assertThat(rests).isZero();

    loop.turn();
    assertThat(rests).isOne();
    assertThat(turn.isOver()).isFalse();
    assertThat(takesAllOfATurn()).isTrue();
    assertThat(loop.pending()).isZero();
  }

  @Test
  void hasTimeForOneHeadAlways_andForMoreInAMillisecond() {
    for (int turns = 0; turns < 3; turns++) {
      assertThat(turn.mayBeginHead()).isTrue();
      loop.advance(Duration.ofNanos(ReadTurn.MAX_NANOS - 1));
      assertThat(turn.mayBeginHead()).isTrue();
      loop.advance(Duration.ofNanos(1));
      assertThat(turn.mayBeginHead()).isFalse();

      assertThat(turn.mayBegin()).isTrue();
      loop.turn();
    }
    assertThat(rests).isEqualTo(3);
  }

  @Test
  void letsAllPartsPass_afterTheConnectionHasEnded() {
    takesAllOfATurn();
    turn.mayBegin();

    turn.lift();

    assertThat(takesAllOfATurn()).isTrue();
    loop.advance(Duration.ofNanos(2 * ReadTurn.MAX_NANOS));
    assertThat(turn.mayBeginHead()).isTrue();
  }
}
