package dev.activator.ext.tcp.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.tcp.policy.TcpConnectionState.Action;
import dev.activator.ext.tcp.policy.TcpConnectionState.Event;
import dev.activator.ext.tcp.policy.TcpConnectionState.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens to a connection, as a table. */
class TcpConnectionStateTest {
  private static final String TO_OPEN = "GRANTED CONNECTED";

  /** The actions of all events, and the end, or else the phase. */
  private static String after(String events) {
    var state = TcpConnectionState.ACCEPTED;
    var actions = new ArrayList<String>();
    for (var event : events.split(" ")) {
      var step = state.on(Event.valueOf(event));
      state = step.next();
      step.actions().forEach(action -> actions.add(action.name()));
    }
    return String.join(" ", actions) + " > " + (state.end() == null ? state.phase() : state.end());
  }

  @ParameterizedTest
  @CsvSource({
      // A permit is waited for; then the pod is dialled.
      "GRANTED,                          DIAL > CONNECTING",
      "HELD GRANTED,                     DIAL > CONNECTING",
      "REJECTED,                         RESET_CLIENT > REJECTED",
      "WAITED_TOO_LONG,                  RESET_CLIENT > WAITED_TOO_LONG",
      "GRANTED CONNECTED,                DIAL JOIN > OPEN",
      // A client that ends before it has sent anything does not wait for a pod, but for the words of one that is there.
      "CLIENT_ENDED,                     RESET_CLIENT > CLIENT_GONE",
      "GRANTED CLIENT_ENDED,             DIAL > CONNECTING",
      "GRANTED CLIENT_ENDED CONNECTED RECEIVED POD_ENDED,"
          + " DIAL JOIN END_TO_POD END_TO_CLIENT > CLOSED",
      "GRANTED CLIENT_ENDED CONNECTED POD_ENDED,"
          + " DIAL JOIN END_TO_POD END_TO_CLIENT > CLOSED",
      "GRANTED CLIENT_ENDED NOT_CONNECTED, DIAL RESET_CLIENT > POD_FAILED",
      "CLIENT_GONE,                      ' > CLIENT_GONE'",
      "HELD CLIENT_GONE,                 ' > CLIENT_GONE'",
      "GRANTED CLIENT_GONE,              DIAL > CLIENT_GONE",
      // One that has sent something may wait for the answer.
      "HELD CLIENT_ENDED,                ' > WAITING'",
      "HELD CLIENT_ENDED GRANTED CONNECTED, DIAL JOIN END_TO_POD > OPEN",
      "HELD CLIENT_ENDED GRANTED CONNECTED RECEIVED POD_ENDED,"
          + " DIAL JOIN END_TO_POD END_TO_CLIENT > CLOSED",
      // A pod that cannot be reached.
      "GRANTED NOT_CONNECTED,            DIAL TRY_ANOTHER_POD > WAITING",
      "GRANTED NOT_CONNECTED NO_OTHER_POD, DIAL TRY_ANOTHER_POD RESET_CLIENT > POD_FAILED",
      "GRANTED NOT_CONNECTED GRANTED CONNECTED, DIAL TRY_ANOTHER_POD DIAL JOIN > OPEN"})
  void beforeTheClientIsConnectedToAPod(String events, String expected) {
    assertThat(after(events)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
      // Before a byte has passed, another pod can serve the connection.
      "POD_GONE,                         TRY_ANOTHER_POD > WAITING",
      "POD_ENDED,                        TRY_ANOTHER_POD > WAITING",
      "SENT POD_GONE,                    RESET_CLIENT > POD_FAILED",
      "RECEIVED POD_GONE,                RESET_CLIENT > POD_FAILED",
      "CLIENT_ENDED POD_GONE,            END_TO_POD RESET_CLIENT > POD_FAILED",
      // Either side may end first.
      "SENT CLIENT_ENDED,                END_TO_POD > OPEN",
      "CLIENT_ENDED,                     END_TO_POD > OPEN",
      "CLIENT_ENDED POD_ENDED,           END_TO_POD END_TO_CLIENT > CLOSED",
      "RECEIVED POD_ENDED,               END_TO_CLIENT > OPEN",
      "SENT POD_ENDED,                   END_TO_CLIENT > OPEN",
      "SENT POD_ENDED SENT CLIENT_ENDED, END_TO_CLIENT END_TO_POD > CLOSED",
      "SENT CLIENT_ENDED RECEIVED POD_ENDED, END_TO_POD END_TO_CLIENT > CLOSED",
      // A failure of one side is one for the other.
      "CLIENT_GONE,                      RESET_POD > CLIENT_GONE",
      "SENT CLIENT_ENDED CLIENT_GONE,    END_TO_POD RESET_POD > CLIENT_GONE",
      "SENT CLIENT_ENDED POD_GONE,       END_TO_POD RESET_CLIENT > POD_FAILED",
      "SENT POD_ENDED CLIENT_GONE,       END_TO_CLIENT RESET_POD > CLIENT_GONE",
      // One that is idle is closed only if that is wanted.
      "SENT IDLE,                        END_TO_CLIENT END_TO_POD > IDLE",
      // Nothing follows the end.
      "CLIENT_GONE POD_GONE CLIENT_ENDED POD_ENDED RECEIVED, RESET_POD > CLIENT_GONE"})
  void whileTheClientIsConnectedToAPod(String events, String expected) {
    assertThat(after(TO_OPEN + " " + events)).isEqualTo("DIAL JOIN " + expected);
  }

  @Test
  void heldBytesCountAsSentOnceThePodHasThem() {
    assertThat(after("HELD GRANTED CONNECTED POD_GONE"))
        .isEqualTo("DIAL JOIN RESET_CLIENT > POD_FAILED");
  }

  @ParameterizedTest
  @ValueSource(strings = {"POD_GONE:5", "POD_ENDED:5"})
  void podsThatAcceptAndFailAreTriedAFewTimes(String row) {
    var failing = row.split(":");
    var once = " GRANTED CONNECTED " + failing[0];
    int max = Integer.parseInt(failing[1]);

    assertThat(after(once.repeat(max).strip())).endsWith("> WAITING");
    assertThat(after(once.repeat(max + 1).strip())).endsWith("RESET_CLIENT > POD_FAILED");
  }

  @Test
  void podsThatCannotBeReachedAreTriedMoreOften_asThatCostsThemNothing() {
    assertThat(after(" GRANTED NOT_CONNECTED".repeat(16).strip())).endsWith("> WAITING");
    assertThat(after(" GRANTED NOT_CONNECTED".repeat(17).strip())).endsWith("> POD_FAILED");
  }

  @Test
  void anyOrderOfEventsEndsOnce_andJoinsOnlyWhatIsConnected() {
    var random = RandomGenerator.of("L64X128MixRandom");
    var events = Event.values();
    for (int run = 0; run < 20_000; run++) {
      var state = TcpConnectionState.ACCEPTED;
      var last = List.<Action>of();
      for (int i = 0; i < 30; i++) {
        boolean wasOver = state.end() != null;
        var step = state.on(events[random.nextInt(events.length)]);
        if (wasOver) {
          assertThat(step.next()).isEqualTo(state);
          assertThat(step.actions()).isEmpty();
        }
        state = step.next();
        last = step.actions();
        assertThat(state.end() == null).isEqualTo(state.phase() != Phase.ENDED);
        assertThat(last.contains(Action.JOIN)).isEqualTo(last.contains(Action.JOIN)
            && state.phase() == Phase.OPEN);
        assertThat(Stream.of(Action.RESET_CLIENT, Action.RESET_POD).filter(last::contains).count())
            .isLessThanOrEqualTo(state.end() == null ? 0 : 1);
      }
    }
  }
}
