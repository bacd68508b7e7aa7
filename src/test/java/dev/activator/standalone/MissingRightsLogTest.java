package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.testing.LogLines;
import dev.activator.kube.ClusterAccess;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.quiescence.Quiescence;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads the log")
class MissingRightsLogTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  @Test
  void saysThatHpasMayNotBeRead() throws Exception {
    assertThat(logged(HpaWatcher.class, BuiltInKinds.HORIZONTAL_POD_AUTOSCALER))
        .startsWith("WARN")
        .contains("list horizontalpodautoscalers.autoscaling -A (403)");
  }

  @Test
  void saysWhyPodTemplatesCannotBeRead() throws Exception {
    assertThat(logged(ScaledWorkloadWatcher.class, BuiltInKinds.DEPLOYMENT))
        .startsWith("WARN The pod templates of Deployment in apps/v1 cannot be read")
        .endsWith("does not allow the activator to list deployments.apps -A (403)");
  }

  /** The one line that a class logs where a kind may not be listed. */
  private static String logged(Class<?> writer, Kind refused) throws Exception {
    try (var api = EmbeddedApi.start();
        var cluster = Quiescence
            .watch(Make.cluster(() -> new ClusterAccess.At(URI.create(api.url())), PATIENCE));
        var log = LogLines.of(writer)) {
      ScaledServiceCrd.createIn(api.store());
      api.store().create(ScaledServiceCrd.of(api.store()), Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
           'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
           'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 20}}}
          """));
      api.faults().add(Match.requests(Verb.LIST).of(refused), Fault.Answer.status(403));
      cluster.leaveOutKnative();
      cluster.setSource(Make.scaledServices());

      cluster.start();

      await().untilAsserted(() -> assertThat(log.lines()).hasSize(1));
      return log.lines().getFirst();
    }
  }
}
