package dev.activator.embedded.api.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.policy.ReadParameters.Freshness.AtLeast;
import dev.activator.embedded.api.policy.ReadParameters.Freshness.Exactly;
import dev.activator.embedded.api.policy.ReadParameters.Freshness.Newest;
import dev.activator.embedded.api.policy.ReadParameters.Freshness.Whatever;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.InvalidParameter.Flaw;
import dev.activator.embedded.api.policy.ReadParameters.InvalidParameter;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ReadParametersTest {
  static Stream<Arguments> lists() {
    return Stream.of(Arguments.of("", "", 0, new Newest(), false),
        Arguments.of("", "", 5, new Newest(), true),
        Arguments.of("0", "", 0, new Whatever(), false),
        Arguments.of("0", "NotOlderThan", 500, new Whatever(), false),
        Arguments.of("7", "", 0, new AtLeast(7), false),
        Arguments.of("7", "NotOlderThan", 0, new AtLeast(7), false),
        Arguments.of("7", "NotOlderThan", 5, new AtLeast(7), true),
        Arguments.of("7", "", 5, new Exactly(7), true),
        Arguments.of("7", "Exact", 0, new Exactly(7), false));
  }

  @ParameterizedTest(name = "version ''{0}'', match ''{1}'', limit {2}")
  @MethodSource("lists")
  void saysHowNewAListMustBe(String version, String match, int limit, Freshness expected,
      boolean paged) {
    var parameters = new ReadParameters(version, match, Optional.empty(), limit, false);

    assertThat(parameters.list()).isEqualTo(expected);
    assertThat(parameters.paged()).isEqualTo(paged);
  }

  static Stream<Arguments> watches() {
    return Stream.of(Arguments.of("", null, new WatchStart.Snapshot(new Newest())),
        Arguments.of("", true, new WatchStart.Snapshot(new Newest())),
        Arguments.of("0", null, new WatchStart.Snapshot(new Whatever())),
        Arguments.of("0", true, new WatchStart.Snapshot(new Whatever())),
        Arguments.of("7", null, new WatchStart.After(7)),
        Arguments.of("7", true, new WatchStart.Snapshot(new AtLeast(7))),
        Arguments.of("7", false, new WatchStart.After(7)),
        Arguments.of("", false, new WatchStart.Now(new Newest())),
        Arguments.of("0", false, new WatchStart.Now(new Whatever())));
  }

  @ParameterizedTest(name = "version ''{0}'', initial events {1}")
  @MethodSource("watches")
  void saysWhereAWatchBegins(String version, Boolean initial, WatchStart expected) {
    String match = initial == null ? "" : "NotOlderThan";
    var parameters = new ReadParameters(version, match, Optional.ofNullable(initial), 0, false);

    assertThat(parameters.watch()).isEqualTo(expected);
  }

  @Test
  void refusesWhatDoesNotGoTogether() {
    assertRefused(() -> list("", "Exact", false), Flaw.FORBIDDEN, "resourceVersionMatch");
    assertRefused(() -> list("0", "Exact", false), Flaw.FORBIDDEN, "resourceVersionMatch");
    assertRefused(() -> list("5", "Newer", false), Flaw.UNSUPPORTED, "resourceVersionMatch");
    assertRefused(() -> list("5", "Exact", true), Flaw.FORBIDDEN, "resourceVersionMatch");
    assertRefused(() -> list("abc", "", false), Flaw.MALFORMED, "resourceVersion");
    assertRefused(() -> new ReadParameters("", "", Optional.of(true), 0, false).list(),
        Flaw.FORBIDDEN, "sendInitialEvents");
    assertRefused(() -> new ReadParameters("", "", Optional.of(true), 0, false).watch(),
        Flaw.FORBIDDEN, "resourceVersionMatch");
    assertRefused(() -> new ReadParameters("5", "NotOlderThan", Optional.empty(), 0, false).watch(),
        Flaw.FORBIDDEN, "resourceVersionMatch");
  }

  private static void list(String version, String match, boolean continuing) {
    new ReadParameters(version, match, Optional.empty(), 0, continuing).list();
  }

  private static void assertRefused(Runnable read, Flaw flaw, String field) {
    assertThatThrownBy(read::run).isInstanceOfSatisfying(InvalidParameter.class, refused -> {
      assertThat(refused.flaw()).isEqualTo(flaw);
      assertThat(refused.field()).isEqualTo(field);
    });
  }

  @ParameterizedTest(name = "\"{0}\" means {1}")
  @CsvSource({"true, true", "1, true", "True, true", "'', true", "no, true", "false, false",
      "False, false", "0, false"})
  void aFlagIsSetUnlessItSaysNo(String value, boolean yes) {
    assertThat(ReadParameters.isYes(value)).isEqualTo(yes);
  }

  @Test
  void saysHowNewAnObjectMustBeThatIsRead() {
    assertThat(new ReadParameters("", "", Optional.empty(), 0, false).get()).isEmpty();
    assertThat(new ReadParameters("0", "", Optional.empty(), 0, false).get())
        .contains(new Whatever());
    assertThat(new ReadParameters("7", "", Optional.empty(), 0, false).get())
        .contains(new AtLeast(7));
  }
}
