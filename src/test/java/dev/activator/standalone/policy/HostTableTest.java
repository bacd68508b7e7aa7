package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.NamespaceHostRules;
import dev.activator.standalone.policy.ScaledService.ServiceRef;
import dev.activator.standalone.policy.ScaledServiceRouteTable.Taken;
import dev.activator.standalone.decode.ScaledServiceRulesReader;
import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.MapFields;
import dev.activator.revision.RevisionId;
import dev.activator.testing.TestValues;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.dataformat.yaml.YAMLMapper;

class HostTableTest {
  private static ScaledService service(String id, String created, String... hosts) {
    return service(id, created, List.of(), hosts);
  }

  /** @param rules as in spec.rules, in YAML */
  private static ScaledService withRules(String id, String created, String rules, String... hosts) {
    var read = ScaledServiceRulesReader.read(new YAMLMapper().readValue(rules, Object.class));
    assertThat(read.problems()).isEmpty();
    return service(id, created, read.rules(), hosts);
  }

  private static ScaledService service(String id, String created, List<ScaledServiceRoute> rules,
      String... hosts) {
    var parts = id.split("/");
    return TestValues.scaledService(new RevisionId(parts[0], parts[1]), created, List.of(hosts),
        rules, List.of());
  }

  private static ScaledService catching(String id, String created, String service) {
    var plain = service(id, created);
    return new ScaledService(plain.id(), plain.uid(), created, 1, plain.workload(),
        new ServiceRef(service, "http", null), List.of(), List.of(), List.of(), 0,
        plain.maxReplicas(), plain.load(), 0, plain.timeout(), plain.window(), List.of(), Map.of(),
        Map.of(), null, KeepWarmSettings.NONE, true, plain.tcp(), plain.conflicts(), plain.idle(),
        plain.status());
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(nullValues = "none", value = {"svc.shop, shop/web", "svc.shop:8080, shop/web",
      "svc.shop.svc, shop/web", "svc.shop.svc.cluster.local, shop/web", "svc, shop/web",
      "SVC:80, shop/web", "svc., shop/web", "svc.blog, none", "web.shop, shop/web",
      "both, none", "both.shop, shop/b", "both.blog, blog/b", "plain, none"})
  void aServiceThatIsCaughtIsFoundByItsOwnNames(String host, @Nullable String expected) {
    var table = ScaledServiceRouteTable.of(List.of(catching("shop/web", "2026-01-01", "svc"),
        catching("shop/b", "2026-01-02", "both"), catching("blog/b", "2026-01-03", "both"),
        service("shop/plain", "2026-01-04")), "cluster.local", NamespaceHostRules.ANY);

    var found = table.find(host, "/", NO_HEADERS);
    assertThat(found == null ? null : found.toString()).isEqualTo(expected);
  }

  private static final HeaderFieldList NO_HEADERS = MapFields.of();
  private static final ScaledServiceRouteTable TABLE = ScaledServiceRouteTable.of(List.of(
      service("shop/web", "2026-01-01", "shop.example.com", "*.shop.example.com"),
      service("shop/pay", "2026-01-02", "pay.shop.example.com", "*.pay.shop.example.com"),
      service("shop/plain", "2026-01-03")), "cluster.local", NamespaceHostRules.ANY);

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
    var found = TABLE.find(host, "/", NO_HEADERS);

    assertThat(TABLE.has(host)).isEqualTo(found != null);
    assertThat(found == null ? null : found.toString()).isEqualTo(service);
  }

  @Test
  void aHostThatTwoWantIsTheOlderOnes() {
    var older = service("a/one", "2026-01-01T00:00:00Z", "x.example.com", "*.example.com");
    var younger = service("a/two", "2026-01-02T00:00:00Z", "x.example.com", "y.example.com",
        "*.example.com");

    for (var all : List.of(List.of(older, younger), List.of(younger, older))) {
      var table = ScaledServiceRouteTable.of(all, "cluster.local", NamespaceHostRules.ANY);
      assertThat(table.find("x.example.com", "/", NO_HEADERS)).isEqualTo(older.id());
      assertThat(table.find("y.example.com", "/", NO_HEADERS)).isEqualTo(younger.id());
      assertThat(table.taken(older.id())).isEmpty();
      assertThat(table.taken(younger.id())).containsExactly(
          new Taken("*.example.com", older.id()), new Taken("x.example.com", older.id()));
    }
  }

  @Test
  void ofTwoOfTheSameAgeTheNameDecides() {
    var table = ScaledServiceRouteTable.of(
        List.of(service("b/two", "t", "x.y"), service("a/one", "t", "x.y")),
        "cluster.local", NamespaceHostRules.ANY);

    assertThat(table.find("x.y", "/", NO_HEADERS)).isEqualTo(new RevisionId("a", "one"));
  }

  @Test
  void noRevisionGetsTheNameOfAnother() {
    var older = service("a/thief", "1", "bank.money", "bank.money.svc.cluster.local");
    var table = ScaledServiceRouteTable.of(List.of(older, service("money/bank", "2")),
        "cluster.local",
        NamespaceHostRules.ANY);

    assertThat(table.find("bank.money", "/", NO_HEADERS))
        .isEqualTo(new RevisionId("money", "bank"));
    assertThat(table.taken(older.id())).extracting(Taken::host).containsExactly("bank.money",
        "bank.money.svc.cluster.local");
  }

  @ParameterizedTest
  @CsvSource({"bank.money, money/bank", "bank.money.svc, money/bank",
      "bank.money.svc.cluster.local, money/bank", "vault.money, money/safe",
      "vault.money.svc.cluster.local, money/safe", "vault, money/safe", "other.money, a/thief",
      "x.bank.money, a/thief"})
  void noWildcardAndNoShortHostHasTheNameOfAnother(String host, String expected) {
    var thief = service("a/thief", "1", "*.money", "*.svc", "*.money.svc.cluster.local",
        "*.cluster.local", "vault");
    var table = ScaledServiceRouteTable.of(List.of(thief, service("money/bank", "2"),
        catching("money/safe", "3", "vault")), "cluster.local", NamespaceHostRules.ANY);

    assertThat(table.find(host, "/", NO_HEADERS)).asString().isEqualTo(expected);
    assertThat(table.taken(thief.id()))
        .containsExactly(new Taken("vault", new RevisionId("money", "safe")));
  }

  /** Each dot of a host is looked up: one of a MiB would keep an event loop for minutes. */
  @ParameterizedTest
  @CsvSource({"253, '', shop/web", "253, '.:8080', shop/web", "254, '',", "100000, '',"})
  void aHostThatIsTooLongForANameIsUnknown(int length, String behind, String expected) {
    int more = length - "shop.example.com".length();
    var host = "a".repeat(more % 2) + "a.".repeat(more / 2) + "shop.example.com";

    var found = TABLE.find(host + behind, "/", NO_HEADERS);

    assertThat(found == null ? null : found.toString()).isEqualTo(expected);
    assertThat(TABLE.has(host + behind)).isEqualTo(found != null);
  }

  /** As three workloads share a host. */
  private static final ScaledServiceRouteTable SHARED = ScaledServiceRouteTable.of(List.of(
      withRules("shop/web", "1", "[{pathPrefix: /}]", "shop.example.com"),
      withRules("shop/api", "2", """
          - {pathPrefix: /api/, serviceRef: {port: http}}
          - {path: /api/grpc, serviceRef: {port: grpc}}
          - {pathPrefix: /api, headers: [{name: X-Env, value: canary}], serviceRef: {port: canary}}
          - {pathPrefix: /api/v2, serviceRef: {port: 9000}}
          """, "shop.example.com", "*.example.com"),
      withRules("shop/admin", "3", """
          - {path: /login}
          - hosts: [admin.example.com]
            headers: [{name: x-team, valuePrefix: ops-}, {name: Authorization}]
          - hosts: [admin.example.com]
            headers: [{name: x-team, value: ops-1}]
            serviceRef: {port: one}
          """, "shop.example.com", "admin.shop")), "cluster.local", NamespaceHostRules.ANY);

  /** Semantics of HTTPRouteMatch in the Gateway API: one row for each sentence of its reference. */
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      // A prefix matches whole elements of the path, case counts, and a slash at its end does not.
      "shop.example.com | /api | | shop/api", "shop.example.com | /api/ | | shop/api",
      "shop.example.com | /api/v1 | | shop/api", "shop.example.com | /apis | | shop/web",
      "shop.example.com | /API | | shop/web", "shop.example.com | / | | shop/web",
      "shop.example.com | * | | shop/web", "shop.example.com | /api/../x | | shop/api",
      // The query is no part of it.
      "shop.example.com | /api?a=/b | | shop/api", "shop.example.com | /?/api | | shop/web",
      "shop.example.com | /login?next=/ | | shop/admin",
      // An exact path is before every prefix, and matches nothing else.
      "shop.example.com | /api/grpc | | shop/api:grpc",
      "shop.example.com | /api/grpc/ | | shop/api", "shop.example.com | /login/ | | shop/web",
      "shop.example.com | /api/grpc | X-Env: canary | shop/api:grpc",
      // The longest prefix is before more headers, and these are before none.
      "shop.example.com | /api/v2/a | X-Env: canary | shop/api:9000",
      "shop.example.com | /api/v1 | X-Env: canary | shop/api:canary",
      // Names of headers ignore case, values do not; one of several lines is enough.
      "shop.example.com | /api/v1 | x-eNV: canary | shop/api:canary",
      "shop.example.com | /api/v1 | X-Env: Canary | shop/api",
      "shop.example.com | /api/v1 | X-Env: canary-2 | shop/api",
      "shop.example.com | /api/v1 | X-Env: a; X-Env: canary | shop/api:canary",
      // All headers of a rule must match; more of them are before fewer.
      "admin.example.com | / | X-Team: ops-1 | shop/admin:one",
      "admin.example.com | / | X-Team: ops-1; Authorization: x | shop/admin",
      "admin.example.com | /x | X-Team: ops-2; Authorization: x | shop/admin",
      // A host whose rules do not match leaves requests to a wildcard.
      "admin.example.com | /api | X-Team: dev | shop/api",
      "admin.example.com | /x | X-Team: dev |",
      // A port of the rule that is the ScaledService's own is no other revision.
      "a.example.com | /api/v1 | | shop/api", "a.example.com | /other | |",
      // Names of their own always reach a ScaledService; rules without hosts choose the port.
      "api.shop | /other | | shop/api", "api.shop | /api/grpc | | shop/api:grpc",
      "admin.shop.svc.cluster.local | /login | X-Team: ops-1 | shop/admin"})
  void theMostSpecificRuleGetsARequest(String host, String target, String headers,
      String revision) {
    var fields = headers == null
        ? NO_HEADERS
        : MapFields.of(headers.split("(: |; )"));

    var found = SHARED.find(host, target, fields);

    assertThat(found == null ? null : found.toString()).isEqualTo(revision);
    assertThat(SHARED.has(host)).isTrue();
  }

  @Test
  void ofEquallySpecificRules_theOlderObjectsIsFirst_thenTheNameDecides_thenTheOrder() {
    var young = withRules("shop/a", "2", "[{headers: [{name: A}]}]", "x.y");
    var old = withRules("shop/b", "1", "[{headers: [{name: B}]}, {headers: [{name: C}], serviceRef:"
        + " {port: c}}]", "x.y");
    var both = MapFields.of("A", "1", "B", "1", "C", "1");

    assertThat(ScaledServiceRouteTable.of(List.of(young, old), "", NamespaceHostRules.ANY)
        .find("x.y", "/", both))
        .isEqualTo(old.id());
    var sameAge = withRules("shop/a", "1", "[{headers: [{name: A}]}]", "x.y");
    assertThat(ScaledServiceRouteTable.of(List.of(old, sameAge), "", NamespaceHostRules.ANY)
        .find("x.y", "/", both))
        .isEqualTo(sameAge.id());
  }

  @Test
  void aRuleThatTwoWantIsTheOlderOnes() {
    var older = withRules("shop/one", "1",
        "[{pathPrefix: /a}, {path: /b, headers: [{name: X, value: v}]}]", "x.y");
    var younger = withRules("shop/two", "2", "[{pathPrefix: /a/}, {path: /a},"
        + " {path: /b, headers: [{name: x, value: v}]}, {path: /c}]", "x.y");
    var table = ScaledServiceRouteTable.of(List.of(younger, older), "", NamespaceHostRules.ANY);

    assertThat(table.taken(older.id())).isEmpty();
    assertThat(table.taken(younger.id())).containsExactly(
        new Taken("x.y", "path prefix /a", older.id()),
        new Taken("x.y", "path /b and header x: v", older.id()));
    assertThat(table.find("x.y", "/a", NO_HEADERS)).isEqualTo(younger.id());
    assertThat(table.find("x.y", "/a/b", NO_HEADERS)).isEqualTo(older.id());
    assertThat(table.find("x.y", "/c", NO_HEADERS)).isEqualTo(younger.id());
  }

  @Test
  void noOtherNamespaceGetsAPartOfAHost() {
    var older = withRules("money/bank", "1", "[{pathPrefix: /pay}]", "bank.example.com");
    var thief = withRules("shop/thief", "2", "[{path: /pay/cards}, {pathPrefix: /other}]",
        "bank.example.com", "shop.example.com");
    var table = ScaledServiceRouteTable.of(List.of(thief, older), "", NamespaceHostRules.ANY);

    assertThat(table.taken(thief.id())).containsExactly(new Taken("bank.example.com", older.id()));
    assertThat(table.find("bank.example.com", "/pay/cards", NO_HEADERS)).isEqualTo(older.id());
    assertThat(table.find("bank.example.com", "/other", NO_HEADERS)).isNull();
    assertThat(table.find("shop.example.com", "/other", NO_HEADERS)).isEqualTo(thief.id());
  }

  @Test
  void withRulesThatAllAreBroken_noRequestForItsHostsIsItsOwn() {
    var read = ScaledServiceRulesReader.read(List.of(Map.of("path", "no slash")));
    var broken = TestValues.scaledService(new RevisionId("shop", "web"), "1", List.of("x.y"),
        read.rules(), read.problems());
    var table = ScaledServiceRouteTable.of(List.of(broken), "", NamespaceHostRules.ANY);

    assertThat(read.problems()).hasSize(1);
    assertThat(table.find("x.y", "/", NO_HEADERS)).isNull();
    assertThat(table.find("web.shop", "/", NO_HEADERS)).isEqualTo(broken.id());
  }

  @Test
  void aHostThatItsNamespaceMayNotClaimIsNotServed() {
    var rules = NamespaceHostRules.parse("a=*.a.example.com a.example.com, *=*.apps.example.com");
    var own = service("a/one", "2", "a.example.com", "*.x.a.example.com");
    var thief = service("b/two", "1", "a.example.com", "*.example.com", "b.apps.example.com");
    var table = ScaledServiceRouteTable.of(List.of(own, thief), "cluster.local", rules);

    assertThat(table.find("a.example.com", "/", NO_HEADERS)).isEqualTo(own.id());
    assertThat(table.find("1.x.a.example.com", "/", NO_HEADERS)).isEqualTo(own.id());
    assertThat(table.find("b.apps.example.com", "/", NO_HEADERS)).isEqualTo(thief.id());
    assertThat(table.find("other.example.com", "/", NO_HEADERS)).isNull();
    assertThat(table.find("two.b", "/", NO_HEADERS)).as("its own name").isEqualTo(thief.id());
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
    assertThat(NamespaceHostRules.parse(rules).allow(namespace, host)).isEqualTo(allowed);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      shop            | is not a namespace
      shop=Example.com | Example.com
      shop=a.*.com    | neither a host
      shop=           | neither a host
      a=x.y, a=z.y    | two entries for a
      """)
  void rulesThatCannotBeReadAreNamed(String rules, String problem) {
    assertThatThrownBy(() -> NamespaceHostRules.parse(rules)).hasMessageContaining(problem);
  }
}
