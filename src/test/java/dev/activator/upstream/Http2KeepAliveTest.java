package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.upstream.Http2PodSession.Http2KeepAlive;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Http2KeepAliveTest {
  /**
   * What happens before each check: {@code w} something is written to the pod, {@code a} it answers a
   * PING or sends another frame, {@code r} it sends a part of a response, {@code b} it sends a frame
   * and then something is written, {@code -} nothing, {@code i} nothing, and no request is on its way.
   * What the check does: {@code P} it sends a PING, {@code X} it finds that one was not answered,
   * {@code -} nothing.
   */
  @ParameterizedTest(name = "{0}: {1} leads to {2}")
  @CsvSource({"nothing is written, ------, ------", "nothing is on its way, wiiii, -----",
      "the pod vanishes, w----, -P-XX", "it vanishes after a long silence, -----w---, ------P-X",
      "it vanishes after a sign and a write, b----, -P-XX", "it answers, w-aaaa, -P----",
      "it answers late, w--a---, -P-----", "writes while it is asked, w-ww-, -P-XX",
      "asked again after the next write, w-aw-aw-, -P--P--P",
      "at most three between two parts, w-aw-aw-aw-----, -P--P--P-------",
      "four with a part in between, w-aw-rw-aw-aw-, -P--P--P--P--P",
      "the caller leaves, w-iw---, -P--P-X"})
  void sendsAPing_whenNothingWasReadSinceAWrite(String when, String events, String actions) {
    var pings = Http2KeepAlive.NONE;
    var seen = new StringBuilder();
    boolean waiting = false;
    for (char event : events.toCharArray()) {
      boolean received = "arb".indexOf(event) >= 0;
      waiting = "wb".indexOf(event) >= 0 || waiting && !received;
      pings = event == 'r' ? pings.answered() : pings;
      boolean pinged = pings.pinged();
      pings = pings.check(event != 'i', received, waiting);
      seen.append(pings.unanswered() ? 'X' : pings.pinged() && !pinged ? 'P' : '-');
    }
    assertThat(seen).as(when).hasToString(actions);
  }
}
