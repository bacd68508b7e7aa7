package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.NamespaceHostRules;
import dev.activator.config.PortRange;
import dev.activator.kube.Yaml;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which ports of the activators lead to which ScaledServices. */
class TcpPortTableTest {
  private static final TcpPortTable.Allowed RANGE = new TcpPortTable.Allowed(
      new PortRange(9100, 9102), false, NamespaceHostRules.ANY);
  private static final TcpPortTable.Allowed SNI = new TcpPortTable.Allowed(
      new PortRange(9100, 9102), true, NamespaceHostRules.parse("other=*.example.com, *=*.test"));

  /** @param status such as {@code pg 9100}; empty for none */
  private static ScaledService object(String name, int created, String ports, String status) {
    return Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: %s, uid: u,
          creationTimestamp: "2026-01-01T00:00:0%dZ"}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}
          serviceRef: {name: %s}
          ports: [%s]
          target: {concurrency: 20}
        status: {ports: [%s]}
        """.formatted(name, created, name, name, items(ports, "{port: %s, protocol: tcp}"),
        items(status, "{port: %s, number: %s}"))).value();
  }

  private static String items(String rows, String form) {
    return rows.isEmpty()
        ? ""
        : Stream.of(rows.split(","))
            .map(row -> form.formatted((Object[]) row.strip().split(" ")))
            .collect(Collectors.joining(", "));
  }

  private static TcpPortTable table(List<ScaledService> objects, TcpPortTable.Allowed allowed) {
    return TcpPortTable.of(objects, allowed, Set.of(), _ -> null);
  }

  private static Map<String, Integer> chosen(TcpPortTable table, ScaledService of) {
    return table.of(of).chosen();
  }

  @Test
  void aPortThatTheStatusSaysIsKept_andOpenAtOnce() {
    var old = object("old", 1, "pg", "");
    var known = object("known", 2, "pg", "pg 9100");
    var table = table(List.of(old, known), RANGE);

    assertThat(table.of(known)).isEqualTo(
        new TcpPortTable.Assigned(Map.of("pg", 9100), Map.of("pg", 9100),
            Map.of("pg", List.of()), List.of()));
    assertThat(table.of(old))
        .isEqualTo(new TcpPortTable.Assigned(Map.of("pg", 9101), Map.of(),
            Map.of("pg", List.of()), List.of()));
  }

  @Test
  void theOlderOneHasAPortThatTwoStatusesSay() {
    var older = object("older", 1, "pg", "pg 9101");
    var younger = object("younger", 2, "pg", "pg 9101");
    var table = table(List.of(younger, older), RANGE);

    assertThat(table.of(older).open()).isEqualTo(Map.of("pg", 9101));
    assertThat(table.of(younger).open()).isEmpty();
    assertThat(chosen(table, younger)).isEqualTo(Map.of("pg", 9100));
  }

  @Test
  void theYoungestGetsNoneOnceAllAreInUse() {
    var first = object("first", 1, "pg, ssh", "");
    var second = object("second", 2, "pg, ssh", "");
    var table = table(List.of(second, first), RANGE);

    assertThat(chosen(table, first)).isEqualTo(Map.of("pg", 9100, "ssh", 9101));
    assertThat(chosen(table, second)).isEqualTo(Map.of("pg", 9102));
    assertThat(table.of(second).troubles()).containsExactly(new Trouble("NoFreeTcpPort",
        "no port of the activators leads to port ssh: other ScaledServices have all of"
            + " activator.standalone.tcp-ports (9100-9102)"));
    var none = table(List.of(first), TcpPortTable.Allowed.NONE).of(first);
    assertThat(none.chosen()).isEmpty();
    assertThat(none.troubles()).extracting(Trouble::message)
        .contains("no port of the activators leads to port pg: activator.standalone.tcp-ports is"
            + " not set");
  }

  @Test
  void aPortOutsideTheRange_orOfAPortThatIsGone_isNotKept() {
    var moved = object("moved", 1, "pg", "pg 9000, ssh 9100");
    var table = table(List.of(moved), RANGE);

    assertThat(table.of(moved).open()).isEmpty();
    assertThat(chosen(table, moved)).isEqualTo(Map.of("pg", 9100));
  }

  private static ScaledService named(String name, int created, String ports) {
    return Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: %s, uid: u,
          creationTimestamp: "2026-01-01T00:00:0%dZ"}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}
          serviceRef: {name: %s}
          ports: [%s]
          target: {concurrency: 20}
        """.formatted(name, created, name, name, ports)).value();
  }

  @Test
  void aServerNameBelongsToTheOldest_andItsPortNeedsNoOther() {
    var older = named("older", 1, "{port: pg, protocol: tcp, sni: [a.test, b.test]}");
    var younger = named("younger", 2,
        "{port: pg, protocol: tcp, sni: [b.test, c.test, db.example.com]}");
    var table = table(List.of(younger, older), SNI);

    assertThat(table.of(older)).isEqualTo(new TcpPortTable.Assigned(Map.of(), Map.of(),
        Map.of("pg", List.of("a.test", "b.test")), List.of()));
    assertThat(table.of(younger).sni()).isEqualTo(Map.of("pg", List.of("c.test")));
    assertThat(table.of(younger).troubles()).containsExactly(
        new Trouble("SniTaken",
            "the server name b.test of port pg belongs to ScaledService shop/older"),
        new Trouble("HostNotAllowed", "namespace shop may not claim the host db.example.com"
            + " (activator.standalone.domains)"));
  }

  @Test
  void aServerNameOfTwoPortsBelongsToTheFirst() {
    var object = named("one", 1, "{port: pg, protocol: tcp, sni: [a.test]},"
        + " {port: ssh, protocol: tcp, sni: [a.test]}");

    assertThat(table(List.of(object), SNI).of(object).troubles())
        .containsExactly(new Trouble("SniTaken",
            "the server name a.test of port ssh belongs to another port"));
  }

  @Test
  void withoutAPortForServerNames_onesOwnPortIsLeft() {
    var object = named("one", 1, "{port: pg, protocol: tcp, sni: [a.test]}");
    var assigned = table(List.of(object), RANGE).of(object);

    assertThat(assigned.chosen()).isEqualTo(Map.of("pg", 9100));
    assertThat(assigned.sni()).isEqualTo(Map.of("pg", List.of()));
    assertThat(assigned.troubles()).extracting(Trouble::reason).containsExactly("SniNotEnabled");
  }

  @Test
  void aPortOfAnotherField_orOfAnItemBefore_usesNeitherAPortNorAName() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u, creationTimestamp: "2026-01-01T00:00:00Z"}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: web, port: http}
          rules: [{pathPrefix: /admin, serviceRef: {port: admin}}]
          ports: [{port: 80, protocol: tcp, sni: [a.test]}, {port: 8080, protocol: tcp},
            {port: pg, protocol: tcp}, {port: 5432, protocol: tcp, sni: [b.test]},
            {port: ssh, protocol: tcp}]
          target: {concurrency: 20}
        status: {ports: [{port: "80", number: 9100}]}
        """).value();
    var service = new KubernetesService("shop", "web", Map.of(),
        List.of(port("http", 80), port("admin", 8080), port("pg", 5432), port("ssh", 22)), false);

    var assigned = TcpPortTable.of(List.of(object), SNI, Set.of(), _ -> service).of(object);

    assertThat(assigned).isEqualTo(new TcpPortTable.Assigned(Map.of("pg", 9100, "ssh", 9101),
        Map.of(), Map.of("pg", List.of(), "ssh", List.of()), List.of()));
  }

  private static TcpPortTable.Assigned taken(ScaledService object, Integer... taken) {
    return TcpPortTable.of(List.of(object), RANGE, Set.of(taken), _ -> null).of(object);
  }

  @Test
  void aPortThatAnotherProgramHasIsReplaced_whileThereIsAnother() {
    var known = object("known", 1, "pg, ssh", "pg 9100");

    assertThat(taken(known, 9100)).isEqualTo(new TcpPortTable.Assigned(
        Map.of("pg", 9101, "ssh", 9102), Map.of("pg", 9100),
        Map.of("pg", List.of(), "ssh", List.of()), List.of()));
    assertThat(taken(known, 9100, 9101, 9102)).isEqualTo(new TcpPortTable.Assigned(
        Map.of("pg", 9100, "ssh", 9101), Map.of("pg", 9100),
        Map.of("pg", List.of(), "ssh", List.of()),
        List.of(new Trouble("PortInUse", "the activators cannot listen on port 9100, which leads"
            + " to port pg: another program has it"),
            new Trouble("PortInUse", "the activators cannot listen on port 9101, which leads"
                + " to port ssh: another program has it"))));
  }

  private static KubernetesService.Port port(String name, int number) {
    return new KubernetesService.Port(name, number, name, "");
  }

  @Test
  void saysWhosePortsDiffer() {
    var one = object("one", 1, "pg", "");
    var two = object("two", 2, "pg", "");
    var before = table(List.of(one, two), RANGE);
    var shown = object("one", 1, "pg", "pg 9100");

    assertThat(table(List.of(shown, two), RANGE).differences(before))
        .containsExactly(new RevisionId("shop", "one"));
  }
}
