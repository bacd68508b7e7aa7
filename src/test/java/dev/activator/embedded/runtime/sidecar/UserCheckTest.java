package dev.activator.embedded.runtime.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.UserProbe;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UserCheckTest {
  private record Answer(Duration at, boolean ready) {}

  private final VirtualLoop loop = new VirtualLoop();
  private final List<Answer> answers = new ArrayList<>();
  private Duration readyAt = Duration.ofDays(1);
  private int tries;

  @Test
  void passesAtTheFirstTryAfterTheProcessListens() {
    readyAt = Duration.ofMillis(420);

    ask(UserProbe.TCP);
    loop.advance(Duration.ofSeconds(20));

    // tries at 0, 50, … 400, 450
    assertThat(answers).containsExactly(new Answer(Duration.ofMillis(450), true));
  }

  @Test
  void givesUpAfterTenSeconds() {
    ask(UserProbe.TCP);
    loop.advance(Duration.ofSeconds(20));

    assertThat(answers).containsExactly(new Answer(Duration.ofMillis(9_950), false));
  }

  @Test
  void whoAsksMeanwhileSharesTheCheck() {
    readyAt = Duration.ofMillis(100);
    var check = ask(UserProbe.TCP);
    loop.advance(Duration.ofMillis(60));

    check.ask(this::answered);
    loop.advance(Duration.ofSeconds(1));

    assertThat(answers).containsExactly(new Answer(Duration.ofMillis(100), true),
        new Answer(Duration.ofMillis(100), true));
    assertThat(tries).isEqualTo(3);
  }

  @Test
  void triesOnceWhereWhoAsksComesBack() {
    ask(new UserProbe("", UserProbe.Attempts.once(Duration.ofSeconds(1)), 1));
    loop.run();

    assertThat(answers).containsExactly(new Answer(Duration.ZERO, false));
  }

  @Test
  void countsPassesInARow() {
    readyAt = Duration.ZERO;

    ask(new UserProbe("", UserProbe.Attempts.EAGER, 3));
    loop.advance(Duration.ofSeconds(1));

    assertThat(answers).containsExactly(new Answer(Duration.ofMillis(100), true));
  }

  @Test
  void answersNobodyOnceStopped() {
    var check = ask(UserProbe.TCP);

    check.stop();
    check.ask(this::answered);
    loop.advance(Duration.ofSeconds(20));

    assertThat(answers).isEmpty();
    assertThat(tries).isEqualTo(1);
  }

  private UserCheck ask(UserProbe probe) {
    var check = new UserCheck(loop, probe, (timeout, answer) -> {
      tries++;
      answer.accept(loop.elapsed().compareTo(readyAt) >= 0);
    });
    check.ask(this::answered);
    return check;
  }

  private void answered(boolean ready) {
    answers.add(new Answer(loop.elapsed(), ready));
  }
}
