package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.ProbeVerdict.CheckProcess;
import dev.activator.embedded.runtime.policy.ProbeVerdict.Echo;
import dev.activator.embedded.runtime.policy.ProbeVerdict.Refuse;
import dev.activator.embedded.runtime.policy.ProbeVerdict.Traffic;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ProbeVerdictTest {
  record Row(String userAgent, String probe, @Nullable String hash, ProbeVerdict serving,
      ProbeVerdict draining) {}

  static Stream<Row> table() {
    var shuttingDown = new Refuse(503, "shutting down");
    var noHash = new Refuse(400,
        "a probe request must contain a non-empty \"K-Network-Hash\" header");
    var wrong = new Refuse(400, "unexpected probe header value: test-probe");
    var missing = new Refuse(400, "unexpected probe header value: ");
    return Stream.of(
        new Row("Knative-Activator-Probe", "queue", null, new CheckProcess(), shuttingDown),
        new Row("Knative-Autoscaling-Probe", "queue", null, new CheckProcess(), shuttingDown),
        new Row("kube-probe/1.34", "queue", null, new CheckProcess(), shuttingDown),
        new Row("kube-probe/1.34", "test-probe", null, wrong, shuttingDown),
        new Row("kube-probe/1.34", "", null, missing, shuttingDown),
        new Row("curl/8", "probe", "h", new Echo("h"), shuttingDown),
        new Row("curl/8", "probe", "", noHash, shuttingDown),
        new Row("curl/8", "probe", null, noHash, shuttingDown),
        new Row("curl/8", "queue", null, new Traffic(), new Traffic()),
        new Row("curl/8", "", null, new Traffic(), new Traffic()),
        new Row("knative-activator-probe", "queue", null, new Traffic(), new Traffic()));
  }

  @ParameterizedTest
  @MethodSource("table")
  void decidesByHeadersAlone(Row row) {
    assertThat(ProbeVerdict.of(row.userAgent(), row.probe(), row.hash(), false))
        .isEqualTo(row.serving());
    assertThat(ProbeVerdict.of(row.userAgent(), row.probe(), row.hash(), true))
        .isEqualTo(row.draining());
  }
}
