package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.console.CardOrder.Entry;
import dev.activator.platform.RevisionDetailsSource.Routing;
import dev.activator.platform.RevisionDetailsSource.RoutingState;
import dev.activator.revision.RevisionId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CardOrderTest {

  private static Entry entry(String name, String service, RoutingState state, int waiting,
      int rank) {
    return new Entry(id(name), new Routing(service, state), waiting, rank);
  }

  private static Entry alone(String name, int waiting, int rank) {
    return new Entry(id(name), null, waiting, rank);
  }

  private static RevisionId id(String name) {
    return new RevisionId("default", name);
  }

  private static List<String> order(Entry... all) {
    return CardOrder.of(List.of(all)).stream().map(RevisionId::name).toList();
  }

  @Test
  void putsWhereMostRequestsWaitAboveWhatCannotStart() {
    assertThat(order(alone("broken", 0, 0), alone("calm", 0, 3), alone("busy", 14, 1),
        alone("slow", 2, 1))).containsExactly("busy", "slow", "broken", "calm");
  }

  @Test
  void keepsTheRevisionsOfAServiceTogether_theLiveOneFirst_thenTheNext_thenTheNewest() {
    assertThat(order(entry("web-00001", "web", RoutingState.SUPERSEDED, 0, 4),
        entry("web-00002", "web", RoutingState.SUPERSEDED, 1, 4), alone("other", 0, 2),
        entry("web-00003", "web", RoutingState.LIVE, 0, 3),
        entry("web-00004", "web", RoutingState.NEXT, 0, 3)))
        .containsExactly("web-00003", "web-00004", "web-00002", "web-00001", "other");
  }

  @Test
  void servicesOfOneNameInTwoNamespacesAreTwo() {
    var elsewhere = new Entry(new RevisionId("team", "web-00001"),
        new Routing("web", RoutingState.LIVE), 5, 3);

    assertThat(CardOrder.of(List.of(entry("web-00001", "web", RoutingState.LIVE, 0, 3),
        alone("other", 1, 3), elsewhere)))
        .containsExactly(elsewhere.id(), id("other"), id("web-00001"));
  }

  @ParameterizedTest
  @CsvSource({"0, 0, ''", "0, 9, 0 %", "9, 9, 100 %", "5, 6, 83 %"})
  void sharesAreInPercent(int requests, int ofService, String share) {
    assertThat(CardOrder.share(requests, ofService)).isEqualTo(share);
  }
}
