package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.EventCorrelator.Happening;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class EventCorrelatorTest {
  private final EventCorrelator correlator = new EventCorrelator();
  private Instant now = Instant.parse("2026-01-01T10:00:00Z");

  private EventCorrelator.Step on(String about, String message) {
    return correlator.on(new Happening(about, "Warning", "Crashed", message), now);
  }

  @Test
  void countsWhatHappensAgain() {
    var first = on("a", "exit code 1").series();
    now = now.plusSeconds(5);
    var again = on("a", "exit code 1").series();

    assertThat(again.number()).isEqualTo(first.number());
    assertThat(again.count()).isEqualTo(2);
    assertThat(again.firstTime()).isEqualTo(first.firstTime());
    assertThat(again.lastTime()).isEqualTo(now);
    assertThat(on("b", "exit code 1").series().count()).isEqualTo(1);
  }

  @Test
  void combinesMessagesThatDifferAfterTheTenth() {
    for (int i = 0; i < EventCorrelator.SIMILAR; i++) {
      assertThat(on("a", "line " + i).series().count()).isEqualTo(1);
    }

    var combined = on("a", "line 10").series();
    var more = on("a", "line 11").series();

    assertThat(combined.last().message()).isEqualTo("(combined from similar events): line 10");
    assertThat(more.number()).isEqualTo(combined.number());
    assertThat(more.count()).isEqualTo(2);
    assertThat(more.last().message()).isEqualTo("(combined from similar events): line 11");
    assertThat(on("a", "line 3").series().count()).isEqualTo(2);
    assertThat(on("b", "line 12").series().last().message()).isEqualTo("line 12");

    now = now.plus(EventCorrelator.SIMILAR_WITHIN);
    assertThat(on("a", "line 13").series().last().message()).isEqualTo("line 13");
  }

  @Test
  void forgetsWhatIsAnHourOld() {
    var old = on("a", "old").series();
    now = now.plus(Duration.ofMinutes(30));
    var kept = on("a", "kept").series();
    now = now.plus(Duration.ofMinutes(30));

    var step = on("a", "new");

    assertThat(step.expired()).containsExactly(old);
    assertThat(on("a", "kept").series().number()).isEqualTo(kept.number());
  }

  @Test
  void keepsAThousand() {
    for (int i = 0; i < EventCorrelator.MAX_SERIES; i++) {
      assertThat(on("object " + i, "x").expired()).isEmpty();
    }
    on("object 0", "x");

    assertThat(on("one more", "x").expired()).hasSize(1)
        .allMatch(series -> series.last().about().equals("object 1"));
  }
}
