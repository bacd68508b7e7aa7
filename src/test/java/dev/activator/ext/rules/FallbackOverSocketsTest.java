package dev.activator.ext.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ColdStartRulesReader;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.Activator;
import dev.activator.proxy.WireTest;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.TestValues;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What takes requests while their revision starts, over sockets. */
class FallbackOverSocketsTest extends WireTest {
  private static final RevisionId SPARE = new RevisionId("default", "spare");

  private void fallsBack(String fallback) {
    activator.revisions.put(TestValues.withRules(Revision.of(Activator.HELLO, 0),
        ColdStartRulesReader.read(Map.of(), Map.of(ColdStartRulesReader.FALLBACK, fallback))));
  }

  @Test
  void anAnswerLeavesTheConnectionUsable() throws Exception {
    fallsBack(
        "{after: 100ms, respond: {status: 202, body: soon, headers: [{name: Location, value: /l}]}}");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 3");
        caller.send("abc");
        var head = caller.readHead();
        assertThat(head.start()).isEqualTo("HTTP/1.1 202 Accepted");
        assertThat(head.header("Location")).isEqualTo("/l");
        assertThat(head.header("K-Activator-Reason")).isEqualTo("fallback");
        assertThat(caller.readBody(head)).isEqualTo("soon");
      }
    }
    assertThat(activator.requests.ended).hasSize(2)
        .allSatisfy(
            seen -> assertThat(seen.request().outcome()).isEqualTo(RequestOutcome.FALLBACK));
    // The stand-in keeps the start requested.
    assertThat(activator.counted).hasValue(1);
    assertThat(activator.throttle.queued()).isEqualTo(1);
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    eventually(() -> assertThat(activator.counted).hasValue(0));
  }

  @Test
  void anotherServiceGetsTheBodyOnce() throws Exception {
    fallsBack("{after: 100ms, service: spare}");
    activator.revisions.put(Revision.of(SPARE, 0));
    var spares = new FakeThrottle();
    activator.admission = (revision, caller) -> revision.id().equals(SPARE)
        ? spares.admit(revision, caller)
        : activator.throttle.admit(revision, caller);
    var pod = idlePod(caller -> {
      var head = caller.readHead();
      seen.add(head);
      var body = caller.readBody(head);
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    });
    spares.grow(pod.destination(), 1);

    try (var caller = activator.connect()) {
      Activator.request(caller, "POST /x HTTP/1.1", "Content-Length: 6");
      caller.send("abc");
      assertThat(seen().start()).isEqualTo("POST /x HTTP/1.1");
      caller.send("def");
      assertThat(response(caller)).isEqualTo("200 abcdef");
    }
    assertThat(spares.granted()).isEqualTo(1);
    eventually(() -> assertThat(spares.inFlight()).isZero());
    activator.throttle.grow(pod.destination(), 1);
    eventually(() -> assertThat(activator.counted).hasValue(0));
  }
}
