package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A pod that closes each connection on which it is asked in HTTP/2. */
class Http1OnlyPodTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private final AtomicInteger askedInHttp2 = new AtomicInteger();

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  private ScriptedPod http1Only() throws IOException {
    return pod(caller -> {
      while (!caller.readHead().start().startsWith("PRI ")) {
        caller.send(OK);
      }
      askedInHttp2.incrementAndGet();
    });
  }

  @Test
  void isNotCalledInHttp2AgainAtOnceAndServesHttp1() throws Exception {
    http1Only();
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int stream = 1; stream < 10; stream += 2) {
        caller.headers(stream, true, SecuredTest.HEAD);
        assertThat(caller.response(stream)).isEqualTo("502 the pod does not answer in HTTP/2\n");
      }
    }

    // The first request opened three, the others none.
    assertThat(askedInHttp2).hasValue(3);
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void givesWayToAnotherPodWhereTheRevisionsPortIsNamedH2c() throws Exception {
    activator.revisions.put(new Revision(Activator.HELLO, "", PortProtocol.H2C, 0,
        RequestTimeouts.DEFAULT, true, null, Map.of(), Map.of(), null));
    http1Only();
    var other = idlePod(caller -> {
      var pod = RawHttp2.pod(caller);
      pod.headers(pod.read(RawHttp2.HEADERS).stream(), true, ":status", "204");
      caller.awaitEnd();
    });
    activator.throttle.retriesGoTo(other.destination());

    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, SecuredTest.HEAD);
      assertThat(caller.response(1)).isEqualTo("204 ");
    }
    assertThat(askedInHttp2).hasValue(3);
  }
}
