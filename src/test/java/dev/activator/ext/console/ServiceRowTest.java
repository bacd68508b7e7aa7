package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.console.RevisionCardData.Badge;
import dev.activator.ext.console.RevisionHourHistory.LastHour;
import dev.activator.platform.RevisionDetailsSource.CardDetails;
import dev.activator.platform.RevisionDetailsSource.Routing;
import dev.activator.platform.RevisionDetailsSource.RoutingState;
import dev.activator.revision.RevisionId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServiceRowTest {

  private static RevisionCardData card(RevisionId id, @Nullable Routing routing, int waiting,
      String badge) {
    var now = Diagnoses.waiting(id, waiting);
    return new RevisionCardData(now, WaitDiagnosis.of(now),
        new CardDetails("Revision", List.of(), null, null, routing, true), new Badge(badge, "any"),
        new MinuteHistory.LastMinute(new int[60], new int[60], new MinuteHistory.Durations()),
        LastHour.NONE, null);
  }

  private static RevisionCardData card(String name, String service, RoutingState state, int waiting,
      String badge) {
    return card(id(name), new Routing(service, state), waiting, badge);
  }

  private static RevisionCardData alone(String name, int waiting, String badge) {
    return card(id(name), null, waiting, badge);
  }

  private static RevisionId id(String name) {
    return new RevisionId("default", name);
  }

  private static List<RevisionId> order(RevisionCardData... all) {
    return ServiceRow.of(Arrays.asList(all), Map.of()).stream()
        .flatMap(row -> row.cards().stream()).map(RevisionCardData::id).toList();
  }

  private static List<String> names(RevisionCardData... all) {
    return order(all).stream().map(RevisionId::name).toList();
  }

  @Test
  void putsWhereMostRequestsWaitAboveWhatCannotStart() {
    assertThat(names(alone("broken", 0, "bad"), alone("calm", 0, "good"), alone("busy", 14, "warn"),
        alone("slow", 2, "warn"))).containsExactly("busy", "slow", "broken", "calm");
  }

  @Test
  void keepsTheRevisionsOfAServiceTogether_theLiveOneFirst_thenTheNext_thenTheNewest() {
    assertThat(names(card("web-00001", "web", RoutingState.SUPERSEDED, 0, "idle"),
        card("web-00002", "web", RoutingState.SUPERSEDED, 1, "idle"), alone("other", 0, "busy"),
        card("web-00003", "web", RoutingState.LIVE, 0, "good"),
        card("web-00004", "web", RoutingState.NEXT, 0, "good")))
        .containsExactly("web-00003", "web-00004", "web-00002", "web-00001", "other");
  }

  @Test
  void servicesOfOneNameInTwoNamespacesAreTwo() {
    var elsewhere = card(new RevisionId("team", "web-00001"),
        new Routing("web", RoutingState.LIVE), 5, "good");

    assertThat(order(card("web-00001", "web", RoutingState.LIVE, 0, "good"),
        alone("other", 1, "good"), elsewhere))
        .containsExactly(elsewhere.id(), id("other"), id("web-00001"));
  }

  @ParameterizedTest
  @CsvSource({"0, 0, ''", "0, 9, 0 %", "9, 9, 100 %", "5, 6, 83 %"})
  void sharesAreInPercent(int requests, int ofService, String share) {
    assertThat(ServiceRow.share(requests, ofService)).isEqualTo(share);
  }
}
