package dev.activator.ext.lending.link;

import static dev.activator.ext.lending.link.PeerState.Action.Call.DIAL;
import static dev.activator.ext.lending.link.PeerState.Action.Call.FORGET;
import static dev.activator.ext.lending.link.PeerState.Action.Call.FORGET_KEY;
import static dev.activator.ext.lending.link.PeerState.Action.Call.READ_KEY;
import static dev.activator.throttle.PeerSnapshot.State.LEGACY;
import static dev.activator.throttle.PeerSnapshot.State.LINKED;
import static dev.activator.throttle.PeerSnapshot.State.UNAUTHORISED;
import static dev.activator.throttle.PeerSnapshot.State.UNREACHABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.link.PeerState.Action;
import dev.activator.ext.lending.link.PeerState.Event;
import dev.activator.ext.lending.link.PeerState.Link;
import dev.activator.ext.lending.link.PeerState.Pause;
import dev.activator.throttle.PeerSnapshot.State;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What each event leads to, in each state. */
class PeerStateTest {
  private static final PeerId PROCESS = new PeerId("10.0.0.2", "b/1");
  private static final PeerId NEXT = new PeerId("10.0.0.2", "b/2");
  private static final long START = Long.MAX_VALUE - 1_000;
  private static final long NO_LIMIT = Long.MAX_VALUE;

  private static final Event LISTED = new Event.Listed();
  private static final Event UNLISTED = new Event.Unlisted();
  private static final Event DUE = new Event.DialDue(true);
  private static final Event DUE_WITHOUT_KEY = new Event.DialDue(false);
  private static final Event DIALED = linked(PROCESS, true);
  private static final Event ACCEPTED = linked(PROCESS, false);
  private static final Event REFUSED = failed(LEGACY);
  private static final Event CUT = new Event.LinkClosed("cut", false, false);
  private static final Event FINISHED = new Event.LinkClosed("finished", false, true);
  private static final Event BYE = new Event.LinkClosed("bye", true, false);

  private static final Action CONNECTED = new Action.Connected(PROCESS);
  private static final Action DISCONNECTED = new Action.Disconnected(PROCESS);
  private static final Action ENDED = new Action.Ended(PROCESS);
  private static final Action NOW = redial(Pause.NONE);
  private static final Action LATER = redial(Pause.BACKOFF);

  private static Event linked(PeerId process, boolean dialed) {
    return new Event.Linked(new Link(process, dialed));
  }

  private static Event failed(State why) {
    return new Event.AttemptFailed(why, "why", true);
  }

  private static Action redial(Pause pause) {
    return new Action.Redial(pause, NO_LIMIT);
  }

  private static Action within(Duration limit) {
    return new Action.Redial(Pause.BACKOFF, limit.toNanos());
  }

  private static Action notLinked(State why) {
    return new Action.NotLinked(why, "why");
  }

  private static PeerState after(boolean isLarger, List<Event> events) {
    var state = PeerState.initial(isLarger);
    for (var event : events) {
      state = state.on(event, START).state();
    }
    return state;
  }

  private static Arguments row(List<Event> before, Event event, State then, Action... actions) {
    return row(before, Duration.ZERO, event, then, actions);
  }

  private static Arguments row(List<Event> before, Duration later, Event event, State then,
      Action... actions) {
    return arguments(before, later, event, then, List.of(actions));
  }

  static Stream<Arguments> table() {
    var dialing = List.of(LISTED, DUE);
    var linked = List.of(LISTED, DUE, DIALED);
    var refused = List.of(LISTED, DUE, REFUSED);
    var lost = List.of(LISTED, DUE, DIALED, CUT);
    var finished = List.of(LISTED, DUE, DIALED, FINISHED);
    var draining = List.of(LISTED, DUE, DIALED, UNLISTED);
    var noProof = PeerState.REFUSED;
    var restart = PeerState.RESTART;
    var second = Duration.ofSeconds(1);
    return Stream.of(
        // A peer that is listed is dialled, with the key.
        row(List.of(), LISTED, UNREACHABLE, NOW), row(List.of(LISTED), DUE, UNREACHABLE, DIAL),
        row(List.of(LISTED), DUE_WITHOUT_KEY, UNREACHABLE, READ_KEY),
        row(List.of(LISTED, DUE_WITHOUT_KEY), new Event.KeyRead(""), UNREACHABLE, DIAL),
        row(List.of(LISTED, DUE_WITHOUT_KEY), new Event.KeyRead("why"), UNAUTHORISED,
            notLinked(UNAUTHORISED), FORGET_KEY, redial(Pause.NO_KEY)),
        row(List.of(LISTED, DUE_WITHOUT_KEY, ACCEPTED), new Event.KeyRead("why"), LINKED),
        row(List.of(LISTED), new Event.KeyRead(""), UNREACHABLE),
        // There is one attempt at a time, and none while there is a link.
        row(dialing, DUE, UNREACHABLE), row(linked, DUE, LINKED), row(linked, LISTED, LINKED),
        // An attempt that fails is repeated, as often as its failure allows.
        row(dialing, failed(UNREACHABLE), UNREACHABLE, notLinked(UNREACHABLE), LATER),
        row(List.of(LISTED, DUE, failed(UNREACHABLE)), failed(UNREACHABLE), UNREACHABLE, LATER),
        // A peer that refuses connections may be restarting, and lends nothing if it goes on.
        row(dialing, REFUSED, UNREACHABLE, notLinked(UNREACHABLE), within(restart)),
        row(refused, second, REFUSED, UNREACHABLE, within(restart.minus(second))),
        row(refused, restart, REFUSED, LEGACY, notLinked(LEGACY), redial(Pause.LEGACY)),
        row(List.of(LISTED, DUE, REFUSED, failed(UNREACHABLE)), restart, REFUSED, UNREACHABLE,
            within(restart)),
        row(List.of(LISTED, DUE, REFUSED, DIALED, CUT), restart, REFUSED, UNREACHABLE,
            within(noProof.minus(restart))),
        row(dialing, failed(UNAUTHORISED), UNAUTHORISED, notLinked(UNAUTHORISED), FORGET_KEY,
            LATER),
        row(dialing, new Event.AttemptFailed(UNAUTHORISED, "why", false), UNAUTHORISED,
            notLinked(UNAUTHORISED), FORGET_KEY, redial(Pause.NO_KEY)),
        row(List.of(LISTED, DUE, ACCEPTED), failed(UNREACHABLE), LINKED),
        // A link
        row(dialing, DIALED, LINKED, CONNECTED), row(List.of(LISTED), ACCEPTED, LINKED, CONNECTED),
        row(linked, ACCEPTED, LINKED, DISCONNECTED, CONNECTED),
        row(linked, linked(NEXT, false), LINKED, DISCONNECTED, ENDED, new Action.Connected(NEXT)),
        row(linked, BYE, UNREACHABLE, DISCONNECTED, ENDED, LATER),
        row(linked, CUT, UNREACHABLE, DISCONNECTED, LATER),
        row(lost, ACCEPTED, LINKED, CONNECTED),
        row(lost, linked(NEXT, true), LINKED, ENDED, new Action.Connected(NEXT)),
        // A refused connection proves the end of a lost process after a while.
        row(lost, second, REFUSED, UNREACHABLE, within(noProof.minus(second))),
        row(lost, noProof, REFUSED, UNREACHABLE, ENDED, LATER),
        row(finished, second, REFUSED, UNREACHABLE, within(noProof.minus(second))),
        row(List.of(LISTED, DIALED, FINISHED, UNLISTED), Duration.ZERO, REFUSED, UNREACHABLE,
            within(second)),
        row(List.of(LISTED, DIALED, FINISHED, UNLISTED), second, REFUSED, UNREACHABLE, ENDED, LATER,
            FORGET),
        row(List.of(LISTED, DIALED, CUT, UNLISTED), second, REFUSED, UNREACHABLE,
            within(noProof.minus(second))),
        row(lost, noProof, failed(UNREACHABLE), UNREACHABLE, LATER),
        // A peer that is listed no more is forgotten, unless it is linked or lost.
        row(List.of(), UNLISTED, UNREACHABLE, FORGET), row(dialing, UNLISTED, UNREACHABLE, FORGET),
        row(linked, UNLISTED, LINKED), row(lost, UNLISTED, UNREACHABLE, NOW),
        row(draining, BYE, UNREACHABLE, DISCONNECTED, ENDED, LATER, FORGET),
        row(draining, CUT, UNREACHABLE, DISCONNECTED, LATER),
        row(List.of(LISTED, DIALED, UNLISTED, CUT), PeerState.LOST, DUE, UNREACHABLE, DIAL),
        row(List.of(LISTED, DIALED, UNLISTED, CUT), PeerState.LOST.plusNanos(1), DUE, UNREACHABLE,
            FORGET));
  }

  @ParameterizedTest
  @MethodSource("table")
  void leadsTo(List<Event> before, Duration later, Event event, State then, List<Action> actions) {
    var step = after(true, before).on(event, START + later.toNanos());

    assertThat(step.actions()).isEqualTo(actions);
    assertThat(step.state().status().state()).isEqualTo(then);
  }

  @ParameterizedTest
  @MethodSource("connections")
  void prefersTheConnectionOfTheSmallerAddress(boolean isLarger, List<Event> before, Duration later,
      PeerId process, boolean isDialed, boolean prefersAnother) {
    assertThat(after(isLarger, before)
        .prefersAnother(new Link(process, isDialed), START + later.toNanos()))
        .isEqualTo(prefersAnother);
  }

  static Stream<Arguments> connections() {
    var none = List.of(LISTED);
    var dialing = List.of(LISTED, DUE);
    var soon = Duration.ZERO;
    return Stream.of(
        // To a larger address, this side's connections stay.
        arguments(true, none, soon, PROCESS, false, false),
        arguments(true, dialing, soon, PROCESS, true, false),
        arguments(true, dialing, soon, PROCESS, false, true),
        arguments(true, dialing, PeerState.TURN, PROCESS, false, false),
        arguments(true, List.of(LISTED, DIALED), soon, PROCESS, false, true),
        arguments(true, List.of(LISTED, DIALED), soon, NEXT, false, false),
        arguments(true, List.of(LISTED, DIALED), soon, PROCESS, true, false),
        arguments(true, List.of(LISTED, ACCEPTED), soon, PROCESS, true, false),
        // To a smaller address, the other side's do.
        arguments(false, dialing, soon, PROCESS, false, false),
        arguments(false, dialing, soon, PROCESS, true, false),
        arguments(false, List.of(LISTED, ACCEPTED), soon, PROCESS, true, true),
        arguments(false, List.of(LISTED, ACCEPTED), soon, NEXT, true, false),
        arguments(false, List.of(LISTED, ACCEPTED), soon, PROCESS, false, false));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void leavesTheFirstAttemptToTheSmallerAddress(boolean isLarger) {
    assertThat(PeerState.initial(isLarger).on(LISTED, START).actions())
        .containsExactly(isLarger ? NOW : redial(Pause.TURN));
  }
}
