package dev.activator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.proxy.policy.MapFields;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalHostsTest {
  private final EmbeddedPlatform.LocalHosts hosts = new EmbeddedPlatform.LocalHosts(
      (namespace, service) -> service.equals("hello")
          ? new RevisionId(namespace, service + "-00001")
          : null,
      (host, target, _) -> host.equals("shop.default") && target.startsWith("/api")
          ? new RevisionId("default", "shop:api")
          : null);

  @ParameterizedTest
  @CsvSource({"hello.default.localhost, default/hello-00001",
      "HELLO.Default.LocalHost, default/hello-00001",
      "hello.default.localhost., default/hello-00001",
      "hello.default.localhost.:8012, default/hello-00001",
      "hello.default.svc.cluster.local, default/hello-00001",
      "hello.default.svc.cluster.local.:80, default/hello-00001",
      "other.default.localhost, default/other", "other.default.svc.cluster.local,",
      "hello.default.localhost:8012, default/hello-00001", "hello.shop.localhost, shop/hello-00001",
      "hello.localhost,", "localhost,", "a.hello.default.localhost,",
      "hello.default.local,", "hello..localhost,", ".default.localhost,", "127.0.0.1:8012,",
      "[::1]:8012,"})
  void nameTheServiceTheNamespaceAndNothingElse(String host, String revision) {
    var found = hosts.revision(host, "/", MapFields.of());

    assertThat(found == null ? null : found.toString()).isEqualTo(revision);
  }

  @Test
  void aRuleOfAScaledServiceChoosesItsPort() {
    assertThat(hosts.revision("shop.default.localhost:8012", "/api", MapFields.of()))
        .hasToString("default/shop:api");
    assertThat(hosts.revision("shop.default.localhost:8012", "/", MapFields.of()))
        .hasToString("default/shop");
  }

  @Test
  void listsHostsOfServicesAndScaledServices() {
    var scaled = Json.object();
    ObjectMeta.of(scaled).put("namespace", "shop").put("name", "web");
    scaled.putObject("spec").putArray("hosts").add("shop.example.com").add("*.example.org");
    scaled.withObject("/spec").putArray("rules").addObject().putArray("hosts")
        .add("api.example.org");

    assertThat(EmbeddedPlatform.LocalHosts.of(List.of(new RevisionId("default", "hello")),
        List.of(scaled))).containsExactly("*.example.org", "api.example.org",
            "hello.default.localhost",
            "shop.example.com", "web.shop.localhost");
  }

  @Test
  void listsNoHost_whenAScaledServiceTakesConnectionsOnly() {
    var pg = Json.object();
    ObjectMeta.of(pg).put("namespace", "shop").put("name", "pg");
    pg.withObject("/spec/serviceRef").put("name", "pg");
    pg.withObject("/spec").putArray("ports").addObject().put("port", "pg").put("protocol", "tcp");
    var withHttp = pg.deepCopy();
    withHttp.withObject("/spec/serviceRef").put("port", "http");

    assertThat(EmbeddedPlatform.LocalHosts.of(List.of(), List.of(pg))).isEmpty();
    assertThat(EmbeddedPlatform.LocalHosts.of(List.of(), List.of(withHttp)))
        .containsExactly("pg.shop.localhost");
  }

  @Test
  void hintsAtOtherHosts_whenAHostIsUnknown() {
    assertThat(EmbeddedPlatform.LocalHosts.hint(true, List.of("a.b", "c.d")))
        .isEqualTo(": it was deleted; there are a.b, c.d");
    assertThat(EmbeddedPlatform.LocalHosts.hint(false, List.of())).isEmpty();
  }

  @Test
  void saysHowManyMoreHostsThereAre() {
    var many = IntStream.range(0, 30)
        .mapToObj(i -> new RevisionId("default", "s" + (char) ('A' + i))).toList();

    var listed = EmbeddedPlatform.LocalHosts.of(many, List.of());

    assertThat(listed.getLast()).isEqualTo((30 - (listed.size() - 1)) + " more");
  }
}
