package dev.activator.ext.coldstarts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.Activator;
import dev.activator.proxy.WireTest;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.RawPeer;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ServerTimingHeaderTest extends WireTest {
  private static final String OK = """
      HTTP/1.1 200 OK\r
      Content-Length: 2\r
      Server-Timing: db;dur=1\r
      \r
      ok""";
  private static final String SWITCHING = """
      HTTP/1.1 101 Switching Protocols\r
      Connection: Upgrade\r
      Upgrade: x\r
      \r
      """;

  @BeforeEach
  void observe() {
    activator.requests.showTo(new ServerTimingHeader());
  }

  private void revisionHas(String annotation) {
    activator.revisions.put(new Revision(Activator.HELLO, "", PortProtocol.HTTP1, 0,
        RequestTimeouts.DEFAULT, true, null, Map.of(),
        Map.of("activator.dev/server-timing", annotation), null));
  }

  private RawPeer.Head head(String... headers) throws Exception {
    try (var caller = activator.get("/", headers)) {
      return caller.readHead();
    }
  }

  @Test
  void isAddedToThatOfThePod_whereTheRevisionEnablesIt() throws Exception {
    revisionHas("enabled");
    pod(OK);

    var shown = head().all("Server-Timing");

    assertThat(shown).hasSize(2).contains("db;dur=1");
    assertThat(shown.getLast()).matches("queue;dur=0\\.000, dial;dur=[0-9.]+,"
        + " first-byte;dur=[0-9.]+, total;dur=[0-9.]+");
  }

  @Test
  void isNotAddedElsewhere() throws Exception {
    revisionHas("disabled");
    pod(OK);

    assertThat(head().all("Server-Timing")).containsExactly("db;dur=1");
  }

  @Test
  void isNotAddedToAnUpgrade() throws Exception {
    revisionHas("enabled");
    pod(SWITCHING);

    assertThat(head("Connection: Upgrade", "Upgrade: x").all("Server-Timing")).isEmpty();
  }
}
