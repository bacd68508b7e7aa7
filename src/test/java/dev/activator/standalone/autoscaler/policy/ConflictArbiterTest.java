package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Event;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.On;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Seen;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Settings;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConflictArbiterTest {
  private static final long SECOND = 1_000_000_000L;

  private ConflictArbiter arbiter = ConflictArbiter.EMPTY;

  private static RevisionId id(String name) {
    return new RevisionId("gpu", name);
  }

  /** Adds workloads, such as {@code "a:b"} for one that names another. */
  private void add(String all) {
    for (var one : all.split(" ")) {
      var parts = one.split(":", -1);
      var with = Arrays.stream(parts[1].split(",")).filter(name -> !name.isEmpty())
          .map(ConflictArbiterTest::id).collect(Collectors.toSet());
      on(0, new Event.Configured(id(parts[0]),
          new Settings(new ConflictSpec(with, Duration.ofSeconds(10)), Duration.ofSeconds(30))));
    }
  }

  private void on(long second, Event event) {
    arbiter = arbiter.on(second * SECOND, event);
  }

  /**
   * Sees a workload.
   *
   * @param how any of {@code off}, {@code ending}, {@code decided} to be off, {@code ready},
   *     {@code wanted} and {@code busy}
   */
  private void see(long second, String name, String how) {
    on(second, new Event.Observed(id(name), new Seen(seen(how), how.contains("ready"),
        how.contains("wanted") || how.contains("busy"), how.contains("busy"))));
  }

  private static On seen(String how) {
    return how.contains("off")
        ? On.OFF
        : how.contains("ending")
            ? On.ENDING
            : how.contains("decided") ? On.DECIDED_OFF : On.ON;
  }

  private String phases() {
    return arbiter.members().keySet().stream()
        .map(id -> id.name() + " " + arbiter.phase(id).name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));
  }

  @ParameterizedTest(name = "{0}; {1} → {2}")
  @CsvSource(delimiter = '|', value = {
      "a:b b: | a off, b off | a off, b off",
      "a:b b: | a off busy | a waiting, b unknown",
      "a:b b: | a off busy, b off | a running, b off",
      "b:a a: | a off busy, b off | a running, b off",
      "a:b b: | a ending busy, b off busy | a yielding, b waiting",
      "a:b b: | a ending busy, b off busy, after 1, a off busy | a waiting, b running",
      "a:b b: | a decided ready busy, b off | a running, b off",
      "a:b b: | a decided ready busy, b off busy | a yielding, b waiting",
      "a:b b: | a ready, b off wanted | a running, b waiting",
      "a:b b: | a ready, b off busy | a yielding, b waiting",
      "a:b b: | a ready busy, b off busy | a running, b waiting",
      "a:b b: | a ready busy, b off busy, after 9 | a running, b waiting",
      "a:b b: | a ready busy, b off busy, after 10 | a yielding, b waiting",
      "a:b b: | a busy, b off busy, after 29 | a running, b waiting",
      "a:b b: | a busy, b off busy, after 30 | a yielding, b waiting",
      "a:b b: | a ready busy, b off wanted, after 99 | a running, b waiting",
      "a:b b: | a ready, b off busy, a off | a off, b running",
      "a:b b: | a ready busy, b off busy, after 10, a off busy | a waiting, b running",
      "a:b b: | a ready, b off busy, b off | a yielding, b off",
      "a:b b: | a ready busy, b ready | a running, b yielding",
      "a:b b: | a off busy, b off, a off | a off, b off",
      "a:b b: | a off busy, b off, b off busy | a running, b waiting",
      "a: b: | a ready busy, b ready busy | a running, b running",
      "a:x b: | a ready busy, b ready busy | a running, b running",
      "a:b b:c c: | a ready busy, b off, c ready busy | a running, b off, c running",
      "a:b b:c c: | a ready busy, b off busy, c ready, after 10 | a yielding, b waiting, c yielding",
      "a:b b:c c: | a ready, c off, b off busy, c off busy | a yielding, b waiting, c waiting",
      "a:b b:c c:a | a ready busy, b off, c off busy, b off busy, after 10, a off busy |"
          + " a waiting, b running, c waiting"})
  void onlyOneOfThoseThatConflictRuns(String all, String seen, String phases) {
    add(all);
    long second = 0;
    for (var one : seen.split(", ")) {
      var words = one.strip().split(" ", 2);
      if (words[0].equals("after")) {
        second = Long.parseLong(words[1]);
        on(second, new Event.TimePassed());
      } else {
        see(second, words[0], words[1]);
      }
    }

    assertThat(phases()).isEqualTo(phases.strip());
  }

  @Test
  void isDueWhenTheOneThatRunsHasToYield() {
    add("a:b b:");
    see(1, "a", "busy");
    assertThat(arbiter.again(SECOND)).isEmpty();

    see(2, "b", "off busy");
    assertThat(arbiter.again(2 * SECOND)).hasValue(31 * SECOND);

    see(5, "a", "ready busy");
    assertThat(arbiter.again(5 * SECOND)).hasValue(15 * SECOND);
  }

  @Test
  void forgetsOneThatIsRemoved() {
    add("a:b b:");
    see(0, "a", "ready busy");
    see(0, "b", "off busy");

    on(1, new Event.Removed(id("a")));

    assertThat(phases()).isEqualTo("b running");
  }

  @Test
  void saysWhatItWaitsFor() {
    add("a:b b:c c:");
    see(0, "b", "off busy");
    assertThat(arbiter.reason(id("a"))).contains("not known yet");

    see(0, "a", "ready busy");
    see(1, "c", "off busy");
    assertThat(arbiter.reason(id("a"))).isEmpty();
    assertThat(arbiter.reason(id("b")))
        .isEqualTo("it waits until a has stopped (spec.conflictsWith)");
    assertThat(arbiter.reason(id("c")))
        .isEqualTo("it waits until b has had its turn (spec.conflictsWith)");

    on(10, new Event.TimePassed());
    assertThat(arbiter.reason(id("a"))).isEqualTo("it stops, because requests wait for b");
  }

  @Test
  void saysWhyOneStops_evenIfNoneWaitsForIt() {
    add("a:b b:");
    see(0, "a", "ready busy");
    see(0, "b", "ready busy");
    assertThat(arbiter.reason(id("b")))
        .isEqualTo("it stops, because a runs (spec.conflictsWith)");

    see(1, "a", "off");
    assertThat(arbiter.reason(id("b")))
        .isEqualTo("it stops, because one that it conflicts with waited (spec.conflictsWith)");
  }
}
