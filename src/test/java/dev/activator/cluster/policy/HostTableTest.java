package dev.activator.cluster.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.policy.HostTable.Taken;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.WarmTimes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostTableTest {
  private static ScaledService service(String id, String created, String... hosts) {
    var parts = id.split("/");
    return new ScaledService(new RevisionId(parts[0], parts[1]), "u", created, 1,
        new ScaleTargetRef("apps/v1", "Deployment", parts[1]), parts[1], "http", List.of(hosts), 0,
        OptionalInt.empty(), OptionalInt.of(1), 0, Duration.ofSeconds(300), Duration.ofSeconds(60),
        List.of(), Map.of(), Map.of(), null, WarmTimes.NONE,
        false, ScaledServiceStatus.NONE);
  }

  private static ScaledService catching(String id, String created, String service) {
    var plain = service(id, created);
    return new ScaledService(plain.id(), plain.uid(), created, 1, plain.workload(), service, "http",
        List.of(), 0, plain.maxReplicas(), plain.concurrency(), 0, plain.timeout(), plain.window(),
        List.of(), Map.of(), Map.of(), null, WarmTimes.NONE, true, ScaledServiceStatus.NONE);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(nullValues = "none", value = {"svc.shop, shop/web", "svc.shop:8080, shop/web",
      "svc.shop.svc, shop/web", "svc.shop.svc.cluster.local, shop/web", "svc, shop/web",
      "SVC:80, shop/web", "svc., shop/web", "svc.blog, none", "web.shop, shop/web",
      "both, none", "both.shop, shop/b", "both.blog, blog/b", "plain, none"})
  void aServiceThatIsCaughtIsFoundByItsOwnNames(String host, @Nullable String expected) {
    var table = HostTable.of(List.of(catching("shop/web", "2026-01-01", "svc"),
        catching("shop/b", "2026-01-02", "both"), catching("blog/b", "2026-01-03", "both"),
        service("shop/plain", "2026-01-04")), "cluster.local");

    var found = table.find(host);
    assertThat(found == null ? null : found.toString()).isEqualTo(expected);
  }

  private static final HostTable TABLE = HostTable.of(List.of(
      service("shop/web", "2026-01-01", "shop.example.com", "*.shop.example.com"),
      service("shop/pay", "2026-01-02", "pay.shop.example.com", "*.pay.shop.example.com"),
      service("shop/plain", "2026-01-03")), "cluster.local");

  @ParameterizedTest
  @CsvSource({"shop.example.com, shop/web", "SHOP.Example.com, shop/web",
      "shop.example.com., shop/web", "shop.example.com:8080, shop/web",
      "shop.example.com.:80, shop/web", "a.shop.example.com, shop/web",
      "a.b.shop.example.com, shop/web", "pay.shop.example.com, shop/pay",
      "a.pay.shop.example.com, shop/pay", "plain.shop, shop/plain", "plain.shop.svc, shop/plain",
      "plain.shop.svc.cluster.local, shop/plain", "Plain.Shop.svc.cluster.local.:80, shop/plain",
      "web.shop, shop/web", "example.com,", "xshop.example.com,", ".shop.example.com, shop/web",
      "plain.other,", "plain,", "plain.shop.pod,", "plain.shop.svc.example.com,",
      "a.plain.shop.svc.cluster.local,", "'',", "[::1]:8012,", "[::1],", "10.0.0.1:8012,"})
  void exactHostsComeFirstThenTheLongestWildcardThenNames(String host, String service) {
    var found = TABLE.find(host);

    assertThat(found == null ? null : found.toString()).isEqualTo(service);
  }

  @Test
  void aHostThatTwoWantIsTheOlderOnes() {
    var older = service("a/one", "2026-01-01T00:00:00Z", "x.example.com", "*.example.com");
    var younger = service("a/two", "2026-01-02T00:00:00Z", "x.example.com", "y.example.com",
        "*.example.com");

    for (var all : List.of(List.of(older, younger), List.of(younger, older))) {
      var table = HostTable.of(all, "cluster.local");
      assertThat(table.find("x.example.com")).isEqualTo(older.id());
      assertThat(table.find("y.example.com")).isEqualTo(younger.id());
      assertThat(table.taken(older.id())).isEmpty();
      assertThat(table.taken(younger.id())).containsExactly(
          new Taken("*.example.com", older.id()), new Taken("x.example.com", older.id()));
    }
  }

  @Test
  void ofTwoOfTheSameAgeTheNameDecides() {
    var table = HostTable.of(List.of(service("b/two", "t", "x.y"), service("a/one", "t", "x.y")),
        "cluster.local");

    assertThat(table.find("x.y")).isEqualTo(new RevisionId("a", "one"));
  }

  @Test
  void nobodyGetsTheNameOfAnother() {
    var older = service("a/thief", "1", "bank.money", "bank.money.svc.cluster.local");
    var table = HostTable.of(List.of(older, service("money/bank", "2")), "cluster.local");

    assertThat(table.find("bank.money")).isEqualTo(new RevisionId("money", "bank"));
    assertThat(table.taken(older.id())).extracting(Taken::host).containsExactly("bank.money",
        "bank.money.svc.cluster.local");
  }
}
