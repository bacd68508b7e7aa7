package dev.activator.ext.lending;

import static dev.activator.ext.lending.OwnershipState.Action.BEGIN_EPOCH;
import static dev.activator.ext.lending.OwnershipState.Action.CONTINUE;
import static dev.activator.ext.lending.OwnershipState.Action.DIVIDE;
import static dev.activator.ext.lending.OwnershipState.Action.GO_ON_UNLISTED;
import static dev.activator.ext.lending.OwnershipState.Action.OWN_ALL_PODS;
import static dev.activator.ext.lending.OwnershipState.Action.OWN_NO_PODS;
import static dev.activator.ext.lending.OwnershipState.Action.UPDATE_SUBSET;
import static dev.activator.ext.lending.OwnershipState.Action.SETTLE;
import static dev.activator.ext.lending.OwnershipState.Action.STOP_LENDING;
import static dev.activator.ext.lending.OwnershipState.Action.STOP_WAITING_FOR_LIST;
import static dev.activator.ext.lending.OwnershipState.Action.UPDATE_OWNERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.activator.ext.lending.OwnershipState.KnownActivators;
import dev.activator.ext.lending.OwnershipState.Action;
import dev.activator.ext.lending.OwnershipState.Event;
import dev.activator.revision.Destination;
import dev.activator.throttle.PermitSharing.SharedPods;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What each event leads to, in each state. */
class OwnershipStateTest {
  private static final String OWN = "10.0.0.1";
  private static final String PEER = "10.0.0.2";
  private static final Destination POD = new Destination("10.1.0.1", 8012);

  private static final Event ONLY_THIS = activators(OWN);
  private static final Event BOTH = activators(OWN, PEER);
  private static final Event ONLY_THIS_LISTED = new Event.Listed(List.of(OWN));
  private static final Event BOTH_LISTED = new Event.Listed(List.of(OWN, PEER));
  private static final Event EXACT = new Event.PodsChanged(pods(1, true));
  private static final Event WITH_QUEUE_PROXY = new Event.PodsChanged(pods(1, false));
  private static final Event WITHOUT_LIMIT = new Event.PodsChanged(pods(0, true));
  private static final Event WAITED = new Event.WaitedForList();
  private static final Event SUBSET_UPDATED = new Event.SubsetUpdated();
  private static final Event ALL_LEND = new Event.Divide(Set.of());
  private static final Event PEER_SLICES = new Event.Divide(Set.of(PEER));
  private static final Event CLOSED = new Event.Closed();

  private static final List<Event> NEW = List.of();
  private static final List<Event> ALONE = List.of(ONLY_THIS, ONLY_THIS_LISTED);
  private static final List<Event> SHARED = List.of(BOTH, BOTH_LISTED, ALL_LEND);
  private static final List<Event> SLICED = List.of(BOTH, BOTH_LISTED, PEER_SLICES);
  private static final List<Event> GONE = List.of(BOTH, BOTH_LISTED, ALL_LEND, CLOSED);

  private static Event activators(String... addresses) {
    return new Event.ActivatorsChanged(
        new KnownActivators(true, Set.of(addresses), Set.of(), Set.of()));
  }

  private static SharedPods pods(int limit, boolean exact) {
    return new SharedPods(List.of(POD), Set.of(), Set.of(), limit, exact, Duration.ofMinutes(5));
  }

  private static OwnershipState after(List<Event> events) {
    var state = OwnershipState.initial(OWN, true, pods(1, true));
    for (var event : events) {
      state = state.on(event).state();
    }
    return state;
  }

  private static Arguments row(List<Event> before, Event event, Action... actions) {
    return arguments(before, event, List.of(actions));
  }

  static Stream<Arguments> table() {
    return Stream.of(
        // Nothing is known, and the limit must be kept, so no pod may be used.
        row(NEW, ONLY_THIS, CONTINUE), row(NEW, BOTH, CONTINUE),
        row(NEW, ONLY_THIS_LISTED, CONTINUE), row(NEW, EXACT, DIVIDE),
        row(NEW, WITH_QUEUE_PROXY, UPDATE_SUBSET),
        row(NEW, WAITED, GO_ON_UNLISTED, STOP_WAITING_FOR_LIST, UPDATE_SUBSET, CONTINUE),
        row(NEW, SUBSET_UPDATED, DIVIDE, SETTLE), row(NEW, ALL_LEND, BEGIN_EPOCH), row(NEW, CLOSED),
        // This activator is the only one.
        row(ALONE, ONLY_THIS, STOP_WAITING_FOR_LIST, CONTINUE),
        row(ALONE, BOTH, STOP_WAITING_FOR_LIST, OWN_ALL_PODS, UPDATE_SUBSET, CONTINUE),
        row(ALONE, BOTH_LISTED, STOP_WAITING_FOR_LIST, CONTINUE), row(ALONE, EXACT),
        row(ALONE, WITH_QUEUE_PROXY), row(ALONE, WAITED, STOP_WAITING_FOR_LIST, CONTINUE),
        row(ALONE, SUBSET_UPDATED, STOP_LENDING), row(ALONE, CLOSED),
        // Two activators lend.
        row(SHARED, ONLY_THIS, STOP_WAITING_FOR_LIST, UPDATE_SUBSET, CONTINUE),
        row(SHARED, BOTH, STOP_WAITING_FOR_LIST, CONTINUE),
        row(SHARED, ONLY_THIS_LISTED, STOP_WAITING_FOR_LIST, CONTINUE), row(SHARED, EXACT, DIVIDE),
        row(SHARED, WITH_QUEUE_PROXY, DIVIDE), row(SHARED, SUBSET_UPDATED, DIVIDE, SETTLE),
        row(SHARED, ALL_LEND), row(SHARED, PEER_SLICES, UPDATE_OWNERS, BEGIN_EPOCH),
        row(SHARED, WAITED, STOP_WAITING_FOR_LIST, CONTINUE), row(SHARED, CLOSED),
        // Pods are divided by Knative's rule, because the peer does so.
        row(SLICED, PEER_SLICES), row(SLICED, ALL_LEND, UPDATE_OWNERS, OWN_NO_PODS, BEGIN_EPOCH),
        row(SLICED, EXACT, DIVIDE), row(SLICED, SUBSET_UPDATED, DIVIDE, SETTLE),
        // The revision was deleted.
        row(GONE, ONLY_THIS, STOP_WAITING_FOR_LIST, CONTINUE), row(GONE, EXACT),
        row(GONE, SUBSET_UPDATED, STOP_LENDING),
        row(GONE, WAITED, STOP_WAITING_FOR_LIST, CONTINUE));
  }

  @ParameterizedTest
  @MethodSource("table")
  void leadsToActions(List<Event> before, Event event, List<Action> actions) {
    assertThat(after(before).on(event).actions()).isEqualTo(actions);
  }

  @Test
  void usesNoPod_beforeItIsListedWithTheOthers_ifTheLimitIsExact() {
    assertThat(after(NEW).awaitsList()).isTrue();
    assertThat(after(List.of(BOTH)).areAllKnown()).as("not listed yet").isFalse();
    assertThat(after(SHARED).areAllKnown()).as("the peer is not linked yet").isFalse();
    assertThat(after(ALONE).areAllKnown()).isTrue();
  }

  @Test
  void beginsAnEpochWithoutPods_whenTheLimitIsRemoved() {
    var state = after(SHARED).on(WITHOUT_LIMIT).state();

    assertThat(state.on(ALL_LEND).actions()).containsExactly(OWN_NO_PODS, BEGIN_EPOCH);
  }

  @Test
  void takesBothKindsOfSlicesForTheSameView() {
    assertThat(after(SLICED).isSameView(OwnershipState.SLICED)).isTrue();
    assertThat(after(SHARED).isSameView(OwnershipState.SLICED)).isFalse();
  }
}
