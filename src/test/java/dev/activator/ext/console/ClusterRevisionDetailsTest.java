package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.platform.RevisionDetailsSource.Routing;
import dev.activator.platform.RevisionDetailsSource.RoutingState;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClusterRevisionDetailsTest {
  @ParameterizedTest
  @CsvSource({"active, LIVE", "pending, NEXT", "reserve, SUPERSEDED"})
  void theRoutingStateOfARevisionIsItsLabel(String label, RoutingState state) {
    assertThat(ClusterRevisionDetails.routing(Map.of("serving.knative.dev/service", "web",
        "serving.knative.dev/routingState", label))).isEqualTo(new Routing("web", state));
    assertThat(ClusterRevisionDetails.routing(Map.of("serving.knative.dev/routingState", label)))
        .isNull();
    assertThat(ClusterRevisionDetails.routing(Map.of("serving.knative.dev/service", "web")))
        .isNull();
  }
}
