package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.policy.HostRule;
import dev.activator.proxy.route.Addressing;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.Admission.Rejection;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Where callers run the revisions themselves. */
class StartMessagesTest extends WireTest {
  @Override
  ProxySettings settings() {
    return new ProxySettings("cluster.local", HostRule.NONE, new Addressing.ByPod(),
        Duration.ofSeconds(60), 256 << 20, true);
  }

  @Test
  void aCallerIsToldInFullWhyAStartFailed() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      Awaitility.await().until(() -> activator.throttle.queued() == 1);
      activator.throttle.reject(new Rejection.CannotStart(Activator.HELLO,
          new StartFailure("ExitCode3", "exit code 3: no database", "now")));

      assertThat(caller.readBody(caller.readHead())).contains("exit code 3: no database");
    }
  }
}
