package dev.activator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeletedHostsTest {
  private final ApiStore store = new ApiStore(Clock.systemUTC());
  private final VirtualLoop loop = new VirtualLoop();
  private final DeletedHosts hosts = new DeletedHosts(store, loop);

  @BeforeEach
  void start() {
    ScaledServiceCrd.createIn(store);
    hosts.start();
  }

  private void service(String name) {
    store.create(BuiltInKinds.KNATIVE_SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%s'}, 'spec': {}}""".formatted(name)));
    store.delete(BuiltInKinds.KNATIVE_SERVICE, "shop", name);
    loop.run();
  }

  @Test
  void areThoseOfDeletedServicesAndScaledServices() {
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'hosts': ['shop.example.com'],
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 80}, 'target': {'concurrency': 1}}}"""));
    loop.run();
    assertThat(hosts.contains("shop.example.com")).isFalse();

    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    service("old");

    assertThat(hosts.contains("shop.example.com:8012")).isTrue();
    assertThat(hosts.contains("web.shop.localhost")).isTrue();
    assertThat(hosts.contains("OLD.shop.localhost.")).isTrue();
    assertThat(hosts.contains("new.shop.localhost")).isFalse();
  }

  @Test
  void areTheLastHundred() {
    service("first");
    for (int i = 0; i < 100; i++) {
      service("s" + i);
    }

    assertThat(hosts.contains("first.shop.localhost")).isFalse();
    assertThat(hosts.contains("s0.shop.localhost")).isTrue();
  }
}
