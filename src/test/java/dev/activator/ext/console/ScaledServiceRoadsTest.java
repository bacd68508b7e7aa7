package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.StandaloneActivator;
import dev.activator.app.Extensions;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.revision.RevisionId;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.FreePort;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** What the product says of a ScaledService while a road to its pods is broken. */
@Isolated("The end of Spring's context ends the event loops that other tests use.")
class ScaledServiceRoadsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private static ConfigurableApplicationContext product(EmbeddedApi api) {
    return new SpringApplicationBuilder(Stream
        .concat(Stream.of(StandaloneActivator.class), Extensions.ALL.stream())
        .toArray(Class[]::new)).profiles("cluster").logStartupInfo(false)
        .run("--activator.cluster.server=" + api.url(), "--activator.identity.pod-name=activator-0",
            "--activator.identity.pod-ip=127.0.0.1", "--activator.identity.system-namespace=system",
            "--activator.standalone.stats-port=" + FreePort.next(), "--server.port=0",
            "--activator.port.http1=0", "--activator.port.h2c=0", "--activator.profiling.port=0",
            "--activator.console.port=0", "--activator.lending.port=0",
            "--activator.serving.propagation-delay=0s");
  }

  @Test
  void noMorePodsCanBeCreated() {
    try (var api = EmbeddedApi.start()) {
      var store = api.store();
      ScaledServiceCrd.createIn(store);
      store.create(BuiltInKinds.SERVICE, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
           'ports': [{'name': 'http', 'port': 80}]}}
          """));
      store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'replicas': 0,
           'selector': {'matchLabels': {'app': 'web'}}, 'template': {
             'metadata': {'labels': {'app': 'web'}},
             'spec': {'containers': [{'name': 'web', 'image': 'x'}]}}}}
          """));
      store.create(ScaledServiceCrd.of(store), Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
           'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
           'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 5}}}
          """));
      try (var product = product(api)) {
        says(product, WaitState.AT_ZERO, "it is at zero");

        // as the controller of ReplicaSets says it
        store.updateStatus(BuiltInKinds.DEPLOYMENT, "shop", "web", found -> {
          found.set("status", Objects.parse("""
              {'conditions': [{'type': 'ReplicaFailure', 'status': 'True',
                'reason': 'FailedCreate', 'message': 'pods web-1 is forbidden: exceeded quota'}]}
              """));
          return found;
        });
        says(product, WaitState.CANNOT_SCALE, "no pod can start: QuotaExceeded (no more pods of"
            + " Deployment web can be created: pods web-1 is forbidden: exceeded quota)");

        store.updateStatus(BuiltInKinds.DEPLOYMENT, "shop", "web", found -> {
          found.putObject("status");
          return found;
        });
        says(product, WaitState.AT_ZERO, "it is at zero");
      }
    }
  }

  private static void says(ConfigurableApplicationContext product, WaitState state,
      String sentence) {
    await().untilAsserted(() -> {
      var report = product.getBean(RevisionInspector.class).revision(WEB).join();
      assertThat(report.summary()).contains(sentence);
      assertThat(report.state()).isEqualTo(state);
    });
  }
}
