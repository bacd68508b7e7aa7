package dev.activator.ext.coldstarts;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.FakeRequest;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServerTimingHeaderTest {
  private final VirtualLoop loop = new VirtualLoop();

  private FakeRequest answered(String annotation, int status) {
    var request = FakeRequest.of(new ServerTimingHeader(), loop, TestRevisions.alone(
        FakeRequest.revision(Map.of("activator.dev/server-timing", annotation))));
    request.begin();
    request.granted(FakeRequest.POD);
    request.forwarding();
    loop.advance(ofMillis(4));
    request.responding(status);
    return request;
  }

  @Test
  void isAddedWhereTheRevisionEnablesIt() {
    assertThat(answered("enabled", 200).responseHeaders).containsExactly(Map.entry(
        "Server-Timing", "queue;dur=0.000, dial;dur=0.000, first-byte;dur=4.000, total;dur=4.000"));
    assertThat(answered("disabled", 200).responseHeaders).isEmpty();
  }

  @Test
  void isNotAddedToAnUpgrade() {
    assertThat(answered("enabled", 101).responseHeaders).isEmpty();
  }
}
