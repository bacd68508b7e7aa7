package dev.activator.cluster.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.cluster.policy.HostTable.Taken;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.WarmTimes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
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
        ScaledServiceStatus.NONE);
  }

  private static final HostTable TABLE = HostTable.of(List.of(
      service("shop/web", "2026-01-01", "shop.example.com", "*.shop.example.com"),
      service("shop/pay", "2026-01-02", "pay.shop.example.com", "*.pay.shop.example.com"),
      service("shop/plain", "2026-01-03")), "cluster.local", DomainRules.ANY);

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
      var table = HostTable.of(all, "cluster.local", DomainRules.ANY);
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
        "cluster.local", DomainRules.ANY);

    assertThat(table.find("x.y")).isEqualTo(new RevisionId("a", "one"));
  }

  @Test
  void nobodyGetsTheNameOfAnother() {
    var older = service("a/thief", "1", "bank.money", "bank.money.svc.cluster.local");
    var table = HostTable.of(List.of(older, service("money/bank", "2")), "cluster.local", DomainRules.ANY);

    assertThat(table.find("bank.money")).isEqualTo(new RevisionId("money", "bank"));
    assertThat(table.taken(older.id())).extracting(Taken::host).containsExactly("bank.money",
        "bank.money.svc.cluster.local");
  }

  @Test
  void aHostThatItsNamespaceMayNotClaimIsNotServed() {
    var rules = DomainRules.parse("a=*.a.example.com a.example.com, *=*.apps.example.com");
    var own = service("a/one", "2", "a.example.com", "*.x.a.example.com");
    var thief = service("b/two", "1", "a.example.com", "*.example.com", "b.apps.example.com");
    var table = HostTable.of(List.of(own, thief), "cluster.local", rules);

    assertThat(table.find("a.example.com")).isEqualTo(own.id());
    assertThat(table.find("1.x.a.example.com")).isEqualTo(own.id());
    assertThat(table.find("b.apps.example.com")).isEqualTo(thief.id());
    assertThat(table.find("other.example.com")).isNull();
    assertThat(table.find("two.b")).as("its own name").isEqualTo(thief.id());
    assertThat(table.taken(thief.id())).containsExactly(new Taken("*.example.com", null),
        new Taken("a.example.com", null));
    assertThat(table.taken(own.id())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      ''                               | shop | any.example.com   | true
      shop=a.example.com               | shop | a.example.com     | true
      shop=a.example.com               | shop | b.a.example.com   | false
      shop=*.example.com               | shop | example.com       | false
      shop=*.example.com               | shop | *.example.com     | true
      shop=*.example.com               | shop | *.com             | false
      shop=*.example.com               | shop | xexample.com      | false
      shop=*.example.com               | blog | a.example.com     | false
      shop=a.example.com, *=*          | blog | a.example.com     | true
      shop=a.example.com, *=*          | shop | b.example.com     | false
      """)
  void domainsBelongToNamespaces(String rules, String namespace, String host, boolean allowed) {
    assertThat(DomainRules.parse(rules).allow(namespace, host)).isEqualTo(allowed);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      shop                     | 'shop' is not a namespace
      shop=Example.com         | 'Example.com' of shop is neither a host
      shop=a.*.com             | 'a.*.com' of shop
      shop=                    | '' of shop
      a=x.y, a=z.y             | there are two entries for a
      """)
  void rulesThatCannotBeReadAreNamed(String rules, String problem) {
    assertThatThrownBy(() -> DomainRules.parse(rules)).hasMessageContaining(problem);
  }
}
