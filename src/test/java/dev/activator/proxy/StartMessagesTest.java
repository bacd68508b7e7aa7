package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionStartFailure;
import dev.activator.throttle.ThrottleDecision.Rejection;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Where callers run the revisions themselves. */
class StartMessagesTest extends WireTest {
  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.tellingAllOfStarts();
  }

  @Test
  void aCallerGetsTheWholeCauseOfAFailedStart() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      Awaitility.await().until(() -> activator.throttle.queued() == 1);
      activator.throttle.reject(new Rejection.CannotStart(Activator.HELLO,
          new RevisionStartFailure("ExitCode3", "exit code 3: no database", "now")));

      assertThat(caller.readBody(caller.readHead())).contains("exit code 3: no database");
    }
  }
}
