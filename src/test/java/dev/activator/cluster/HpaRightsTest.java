package dev.activator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.cluster.Cluster.Sources;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.runtime.ScaledServiceKind;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads the log")
class HpaRightsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  @Test
  void saysThatHpasMayNotBeRead() throws Exception {
    try (var api = EmbeddedApi.start();
        var cluster = new Cluster(() -> new ClusterAccess.At(URI.create(api.url())),
            KubernetesVersion.MINIMUM, PATIENCE, ReflectorSettings.DEFAULT, new Random(1),
            AddressSource.DEFAULT);
        var log = new LogOf(ScaledServices.class)) {
      ScaledServiceKind.createIn(api.store());
      api.faults().add(Match.requests(Verb.LIST).of(Kinds.HORIZONTAL_POD_AUTOSCALER),
          Fault.Answer.status(403));
      cluster.follows(Sources.SCALED_SERVICES, "cluster.local");

      cluster.start();

      await()
          .untilAsserted(() -> assertThat(log.lines()).singleElement().asString()
              .startsWith("WARN").contains("list horizontalpodautoscalers.autoscaling (403)"));
    }
  }
}
