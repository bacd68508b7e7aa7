package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.StatusException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class ScaledServiceCrdTest {
  private final ApiStore store = new ApiStore(Clock.systemUTC());
  private Kind kind;

  @BeforeEach
  void define() {
    ScaledServiceCrd.createIn(store);
    kind = ScaledServiceCrd.of(store);
  }

  private static ObjectNode service(String more) {
    return Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}%s}}
        """.formatted(more));
  }

  @Test
  void defaultsAreSetAndUnknownFieldsRemoved() {
    var stored = store.create(kind, service(", 'target': {'concurrency': 20}, 'replica': 7"));

    assertThat(stored.path("spec").toString()).isEqualTo(Objects.parse("""
        {'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 20},
         'minReplicas': 0, 'containerConcurrency': 0, 'timeoutSeconds': 300,
         'scaleDown': {'stabilizationWindowSeconds': 60}, 'catchService': false}
        """).toString());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "'minReplicas': -1 | spec.minReplicas | greater than or equal to 0",
      "'minReplicas': 'two' | spec.minReplicas | Invalid value: \"string\": spec.minReplicas in body must be of type integer: \"string\"",
      "'minReplicas': 5000000000 | spec.minReplicas | less than or equal to 2147483647",
      "'maxReplicas': 0 | spec.maxReplicas | greater than or equal to 1",
      "'minReplicas': 3, 'maxReplicas': 2 | spec | Invalid value: maxReplicas must be at least minReplicas",
      "'minReplicas': 2 | spec | must be 0 or 1 without maxReplicas",
      "'target': {'concurrency': 0} | spec.target.concurrency | greater than or equal to 1",
      "'target': {} | spec.target | needs concurrency, requestsPerSecond or queueMilliseconds",
      "'target': {'requestsPerSecond': 0} | spec.target.requestsPerSecond | greater than or equal to 1",
      "'target': {'queueMilliseconds': 5} | spec.target.queueMilliseconds | greater than or equal to 10",
      "'target': {'queueMilliseconds': 700000} | spec.target.queueMilliseconds | to 600000",
      "'containerConcurrency': 0, 'target': {'concurrency': 1, 'queueMilliseconds': 50} | spec | target.queueMilliseconds needs containerConcurrency",
      "'containerConcurrency': 0, 'target': {'queueMilliseconds': 50} | spec | target.concurrency, target.requestsPerSecond or containerConcurrency must be given",
      "'containerConcurrency': 1001 | spec.containerConcurrency | less than or equal to 1000",
      "'timeoutSeconds': 86401 | spec.timeoutSeconds | less than or equal to 86400",
      "'scaleDown': {'stabilizationWindowSeconds': 5} | spec.scaleDown.stabilizationWindowSeconds | to 6",
      "'hosts': ['Shop.example.com'] | spec.hosts[0] | must be a host in lower case",
      "'hosts': ['shop.example.com', 'a b'] | spec.hosts[1] | must be a host in lower case",
      "'hosts': ['shop.example.com:80'] | spec.hosts[0] | without a port",
      "'hosts': ['*'] | spec.hosts[0] | such as shop.example.com or *.example.com",
      "'hosts': ['a.b', 'a.b'] | spec.hosts[1] | Duplicate value: \"a.b\"",
      "'ports': [{'protocol': 'tcp'}] | spec.ports[0].port | Required value",
      "'ports': [{'port': 'pg', 'protocol': 'udp'}] | spec.ports[0].protocol | supported values: \"tcp\"",
      "'ports': [{'port': 'pg', 'protocol': 'tcp', 'closeIdle': true}] | spec.ports[0] | closeIdle needs idleAfterSeconds",
      "'ports': [{'port': 'pg', 'protocol': 'tcp', 'idleAfterSeconds': 0}] | spec.ports[0].idleAfterSeconds | greater than or equal to 1",
      "'ports': [{'port': 'pg', 'protocol': 'tcp', 'proxyProtocol': 'v3'}] | spec.ports[0].proxyProtocol | supported values: \"v1\", \"v2\"",
      "'ports': [{'port': 'pg', 'protocol': 'tcp', 'readinessProbe': {'send': 'a'}}] | spec.ports[0].readinessProbe.expect | Required value",
      "'ports': [{'port': 'pg', 'protocol': 'tcp', 'readinessProbe': {'expect': 'ā'}}] | spec.ports[0].readinessProbe.expect | may have no characters beyond U+00FF",
      "'ports': [{'port': 'pg', 'protocol': 'tcp', 'sni': ['*.a.b']}] | spec.ports[0].sni[0] | must be a host name in lower case",
      "'containerConcurrency': 5, 'ports': [{'port': 'pg', 'protocol': 'tcp'}] | spec | containerConcurrency cannot be kept over several ports",
      "'serviceRef': {'name': 'web'} | spec | serviceRef.port may be left out only beside ports",
      "'serviceRef': {'name': 'web'}, 'ports': [{'port': 'pg', 'protocol': 'tcp'}], 'hosts': ['a.b'] | spec | hosts and rules are for HTTP requests",
      "'rules': [{'hosts': []}] | spec.rules[0].hosts | should have at least 1 items",
      "'rules': [{'hosts': ['Api.example.com']}] | spec.rules[0].hosts[0] | must be a host in lower",
      "'rules': [{'path': '/a', 'pathPrefix': '/'}] | spec.rules[0] | may have path or pathPrefix, not both",
      "'rules': [{'path': 'api'}] | spec.rules[0].path | must be a path as callers send it, that begins with /",
      "'rules': [{'pathPrefix': '/a/../b'}] | spec.rules[0].pathPrefix | has no //, /./, /../, %2F, ? or #",
      "'rules': [{'pathPrefix': '/a?b'}] | spec.rules[0].pathPrefix | has no //",
      "'rules': [{'path': '/ä'}] | spec.rules[0].path | as callers send it",
      "'rules': [{'headers': [{'value': 'a'}]}] | spec.rules[0].headers[0].name | Required value",
      "'rules': [{'headers': [{'name': 'X', 'value': '', 'valuePrefix': ''}]}] | spec.rules[0].headers[0] | not both",
      "'rules': [{'serviceRef': {}}] | spec.rules[0].serviceRef.port | Required value",
      "'rules': [{'serviceRef': {'port': true}}] | spec.rules[0].serviceRef.port | must be of type integer,string",
      "'rules': [{'serviceRef': {'port': 'grpc'}}] | spec | containerConcurrency cannot be kept over several ports; leave it out, or use target",
      "'hosts': ['a.b'], 'rules': [{'hosts': ['c.d']}] | spec | leave hosts out, or add a rule without",
      "'conflictsWith': ['other', 'other'] | spec.conflictsWith[1] | Duplicate value",
      "'conflictsWith': [''] | spec.conflictsWith[0] | at least 1",
      "'yieldAfterSeconds': 0 | spec.yieldAfterSeconds | greater than or equal to 1",
      "'wakeWith': ['Cart'] | spec.wakeWith[0] | must be the name of a ScaledService",
      "'wakeWith': ['cart.a.b'] | spec.wakeWith[0] | its name, a dot and its namespace",
      "'wakeWith': ['cart', 'cart'] | spec.wakeWith[1] | Duplicate value",
      "'hosts': 'a.b' | spec.hosts | must be of type array",
      "'tls': {} | spec.tls | needs either caCertificateRefs or wellKnownCACertificates",
      "'tls': {'caCertificateRefs': [{'name': 'a'}], 'wellKnownCACertificates': 'System', 'hostname': 'a'} | spec.tls | needs either",
      "'tls': {'wellKnownCACertificates': 'System'} | spec.tls | needs hostname",
      "'tls': {'wellKnownCACertificates': 'Java', 'hostname': 'a.b'} | spec.tls.wellKnownCACertificates | supported values: \"System\"",
      "'tls': {'caCertificateRefs': []} | spec.tls.caCertificateRefs | should have at least 1 items",
      "'tls': {'caCertificateRefs': [{'key': 'a'}]} | spec.tls.caCertificateRefs[0].name | Required value",
      "'tls': {'caCertificateRefs': [{'kind': 'File', 'name': 'a'}]} | spec.tls.caCertificateRefs[0].kind | supported values: \"ConfigMap\", \"Secret\"",
      "'tls': {'caCertificateRefs': [{'name': 'a'}], 'hostname': '*.b'} | spec.tls.hostname | must be a host name in lower case",
      "'tls': {'caCertificateRefs': [{'name': 'a'}], 'hostname': '10.0.0.1'} | spec.tls.hostname | must be a host name",
      "'doNotWake': [{'refuse': {}}] | spec.doNotWake[0] | needs a condition",
      "'doNotWake': [{'path': '/a'}] | spec.doNotWake[0] | needs either respond or refuse",
      "'doNotWake': [{'path': '/a', 'pathPrefix': '/', 'refuse': {}}] | spec.doNotWake[0] | not both",
      "'doNotWake': [{'headers': [{'name': 'X', 'value': '', 'valuePrefix': ''}], 'refuse': {}}] | spec.doNotWake[0].headers[0] | not both",
      "'doNotWake': [{'path': '/a', 'respond': {'status': 204, 'body': 'x'}}] | spec.doNotWake[0].respond | no body with the status 204",
      "'doNotWake': [{'path': '/a', 'respond': {'status': 101}}] | spec.doNotWake[0].respond.status | to 200",
      "'doNotWake': [{'path': '/a', 'refuse': {}, 'always': 1}] | spec.doNotWake[0].always | of type boolean",
      "'fallback': {'after': '2s'} | spec.fallback | needs either service or respond",
      "'fallback': {'after': 'soon', 'service': 'a'} | spec.fallback.after | such as 500ms",
      "'fallback': {'respond': {'status': 204, 'body': 'x'}} | spec.fallback.respond | no body with",
      "'idleConnections': {'ignoreAfterSeconds': 0} | spec.idleConnections.ignoreAfterSeconds | to 1",
      "'schedule': {'windows': [{'start': '8:00', 'end': '18:00', 'minReplicas': 1}]} | spec.schedule.windows[0].start | must be a time",
      "'schedule': {'windows': [{'start': '08:00', 'end': '24:00', 'minReplicas': 1}]} | spec.schedule.windows[0].end | must be a time",
      "'schedule': {'windows': [{'days': ['Monday'], 'start': '08:00', 'end': '18:00', 'minReplicas': 1}]} | spec.schedule.windows[0].days[0] | Unsupported value: \"Monday\": supported values: \"Mon\"",
      "'schedule': {'windows': [{'start': '08:00', 'end': '18:00'}]} | spec.schedule.windows[0].minReplicas | Required value",
      "'keepWarm': {'mode': 'sometimes'} | spec.keepWarm.mode | supported values: \"off\", \"observe\", \"on\"",
      "'keepWarm': {'mode': 'on', 'maxSeconds': 5} | spec.keepWarm.maxSeconds | to 60",
      "'idle': {} | spec.idle.do | Required value",
      "'idle': {'do': 'shrink', 'shrink': {'limits': {}}} | spec.idle.shrink.limits | should have at least 1 properties",
      "'idle': {'do': 'doze'} | spec.idle.do | supported values: \"sleep\", \"shrink\", \"freeze\"",
      "'idle': {'do': 'freeze', 'sleep': {}} | spec.idle | sleep is only for do sleep",
      "'idle': {'do': 'freeze'}, 'catchService': true | spec | requests to their Service would reach them",
      "'containerConcurrency': 0, 'target': {'concurrency': 1}, 'idle': {'do': 'freeze'}, 'ports': [{'port': 'pg', 'protocol': 'tcp'}] | spec | bytes of open connections would reach pods that are asleep",
      "'idle': {'do': 'sleep'}, 'tls': {'caCertificateRefs': [{'name': 'a'}]} | spec | over plain HTTP",
      "'affinity': {} | spec.affinity | needs one of header, cookie and query",
      "'affinity': {'header': 'a', 'query': 'b'} | spec.affinity | needs one of header, cookie and query",
      "'affinity': {'header': 'a', 'cookie': 'c', 'query': 'b'} | spec.affinity | needs one of",
      "'affinity': {'header': 'a: b'} | spec.affinity.header | must be a name of letters",
      "'affinity': {'query': 'a=b'} | spec.affinity.query | must be a name of letters",
      "'affinity': {'cookie': 'a b'} | spec.affinity.cookie | must be empty, or a name of letters",
      "'affinity': {'header': 'a', 'mode': 'sticky'} | spec.affinity.mode | supported values: \"prefer\", \"strict\", \"exclusive\"",
      "'affinity': {'header': 'a', 'onPodGone': 'reject'} | spec.affinity | onPodGone reject needs the mode strict",
      "'affinity': {'header': 'a', 'mode': 'exclusive'} | spec | affinity.mode exclusive needs target.concurrency 1",
      "'containerConcurrency': 0, 'target': {'concurrency': 1}, 'affinity': {'header': 'a', 'mode': 'exclusive'}, 'rules': [{'serviceRef': {'port': 'grpc'}}] | spec | affinity.mode exclusive cannot be kept over several ports",
      "'affinity': {'cookie': '', 'mode': 'strict', 'onPodGone': 'reject'} | spec.affinity | onPodGone reject needs a key that pods issue",
      "'wake': {'patch': {'apiVersion': 'a/v1', 'kind': 'S', 'name': 's', 'running': {}, 'stopped': {}}} | spec | needs either scaleTargetRef or wake",
      "'scaleTargetRef': null | spec | needs either scaleTargetRef or wake",
      "'scaleTargetRef': null, 'wake': {} | spec.wake | needs either patch or http",
      "'scaleTargetRef': null, 'wake': {'http': {'start': {'url': 'http://a/'}}} | spec.wake.http.stop | Required value",
      "'scaleTargetRef': null, 'wake': {'http': {'start': {'url': 'ftp://a/'}, 'stop': {'url': 'http://a/'}}} | spec.wake.http.start.url | must be an http or https URL",
      "'scaleTargetRef': null, 'wake': {'http': {'start': {'url': 'http://u:p@a/'}, 'stop': {'url': 'http://a/'}}} | spec.wake.http.start.url | without user and password",
      "'scaleTargetRef': null, 'wake': {'http': {'start': {'url': 'http://a/'}, 'stop': {'url': 'http://a/', 'method': 'HEAD'}}} | spec.wake.http.stop.method | supported values: \"GET\"",
      "'scaleTargetRef': null, 'wake': {'http': {'start': {'url': 'http://a/', 'headersFrom': [{'name': 'A', 'secretKeyRef': {'name': 's'}}]}, 'stop': {'url': 'http://a/'}}} | spec.wake.http.start.headersFrom[0].secretKeyRef.key | Required value",
      "'scaleTargetRef': null, 'wake': {'http': {'start': {'url': 'http://a/'}, 'stop': {'url': 'http://a/'}, 'timeoutSeconds': 11}} | spec.wake.http.timeoutSeconds | to 10",
      "'scaleTargetRef': null, 'wake': {'patch': {'apiVersion': 'a/v1', 'kind': 'S', 'name': 's', 'running': 1, 'stopped': {}}} | spec.wake.patch.running | must be of type object",
      "'scaleTargetRef': null, 'maxReplicas': 2, 'wake': {'patch': {'apiVersion': 'a/v1', 'kind': 'S', 'name': 's', 'running': {}, 'stopped': {}}} | spec | maxReplicas needs scaleTargetRef",
      "'scaleTargetRef': null, 'wake': {'patch': {'apiVersion': 'a/v1', 'kind': 'S', 'name': 's/status', 'running': {}, 'stopped': {}}} | spec.wake.patch.name | is neither . nor ..",
      "'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': '..'} | spec.scaleTargetRef.name | is neither . nor ..",
      "'scaleTargetRef': {'kind': 'Deployment', 'name': 'w'} | spec.scaleTargetRef.apiVersion | Required value"})
  void whatCannotBeMeantIsRefused(String wrong, String field, String sentence) {
    var fields = service(", 'containerConcurrency': 1");
    ((ObjectNode) fields.path("spec")).setAll(Objects.parse("{" + wrong + "}"));

    assertThatThrownBy(() -> store.create(kind, fields)).isInstanceOf(StatusException.class)
        .hasMessageStartingWith("ScaledService.activator.dev \"web\" is invalid: " + field + ":")
        .hasMessageContaining(sentence);
  }

  @Test
  void refusesOneThatConflictsWithItself() {
    var fields = service(", 'containerConcurrency': 1, 'conflictsWith': ['other', 'web']");

    assertThatThrownBy(() -> store.create(kind, fields)).isInstanceOf(StatusException.class)
        .hasMessageContaining("spec.conflictsWith must name others, not the ScaledService itself");
  }

  @Test
  void anAuthorityIsTheKeyCaCrtOfAConfigMapByDefault() {
    var stored = store.create(kind,
        service(", 'containerConcurrency': 1, 'tls': {'caCertificateRefs': [{'name': 'web-ca'}]}"));

    assertThat(stored.at("/spec/tls/caCertificateRefs/0").toString())
        .isEqualTo("{\"name\":\"web-ca\",\"kind\":\"ConfigMap\",\"key\":\"ca.crt\"}");
  }

  @Test
  void oneOfTheTwoConcurrenciesIsNeeded() {
    assertThatThrownBy(() -> store.create(kind, service("")))
        .hasMessageContaining("target.concurrency, target.requestsPerSecond or"
            + " containerConcurrency must be given");
  }

  @Test
  void refusesAChange_ofScaleTargetRef() {
    store.create(kind, service(", 'containerConcurrency': 1"));

    assertThatThrownBy(() -> store.edit(kind, "shop", "web", found -> {
      ((ObjectNode) found.at("/spec/scaleTargetRef")).put("name", "another");
      return found;
    })).hasMessageContaining("scaleTargetRef cannot be changed");
    store.edit(kind, "shop", "web", found -> {
      ((ObjectNode) found.path("spec")).put("maxReplicas", 3);
      return found;
    });
  }

  @Test
  void keepsTheFieldsOfUrls_andRefusesAnotherStart() {
    var machine = Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'wake': {'http': {'start': {'url': 'https://a/start', 'method': 'PUT', 'headersFrom':
          [{'name': 'Authorization', 'secretKeyRef': {'name': 's', 'key': 'k'}}]},
          'stop': {'url': 'https://a/stop'}, 'timeoutSeconds': 3}},
         'containerConcurrency': 1, 'serviceRef': {'name': 'web', 'port': 'http'}}}
        """);

    var stored = store.create(kind, machine);

    assertThat(stored.at("/spec/wake")).isEqualTo(machine.at("/spec/wake"));
    assertThatThrownBy(() -> store.edit(kind, "shop", "web", found -> {
      ((ObjectNode) found.at("/spec/wake/http/start")).put("url", "https://a/other");
      return found;
    })).hasMessageContaining("start.url cannot be changed");
    store.edit(kind, "shop", "web", found -> {
      ((ObjectNode) found.at("/spec/wake/http/stop")).put("url", "https://a/other");
      return found;
    });
  }

  @Test
  void keepsAllFieldsOfAPatch_andRefusesAnotherObject() {
    var sandbox = Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'wake': {'patch': {'apiVersion': 'a/v1', 'kind': 'Sandbox', 'name': 'web',
          'running': {'spec': {'mode': 'On'}}, 'stopped': {'spec': {'mode': null}}}},
         'containerConcurrency': 1, 'serviceRef': {'name': 'web', 'port': 'http'}}}
        """);

    var stored = store.create(kind, sandbox);

    assertThat(stored.at("/spec/wake")).isEqualTo(sandbox.at("/spec/wake"));
    assertThatThrownBy(() -> store.edit(kind, "shop", "web", found -> {
      ((ObjectNode) found.at("/spec/wake/patch")).put("name", "another");
      return found;
    })).hasMessageContaining("another object cannot be named");
    assertThatThrownBy(() -> store.edit(kind, "shop", "web", found -> {
      var spec = (ObjectNode) found.path("spec");
      spec.remove("wake");
      spec.set("scaleTargetRef", service("").at("/spec/scaleTargetRef"));
      return found;
    })).hasMessageContaining("cannot replace each other");
    store.edit(kind, "shop", "web", found -> {
      ((ObjectNode) found.at("/spec/wake/patch/running/spec")).put("mode", "Running");
      return found;
    });
  }

  /**
   * Kubernetes refuses a definition with a rule that it estimates at more than ten million. One that compares ports counts, for each of
   * the list's entries, a tenth of the longest text that a request may have.
   *
   * <p><b>Source.</b> {@code PerExpressionCostLimit} of apiextensions-apiserver, and {@code MaxRequestSizeBytes} of apiserver.
   */
  @Test
  void comparesThePortsOfFewEnoughRules_forKubernetesToTakeTheDefinition() {
    var spec = ScaledServiceCrd.definition()
        .at("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    double longestText = 3 * 1024 * 1024;

    assertThat(spec.at("/x-kubernetes-validations/3/rule").asString())
        .contains("rule.serviceRef.port == self.serviceRef.port");
    assertThat(spec.at("/properties/rules/maxItems").asInt() * longestText / 10)
        .isLessThan(10_000_000);
  }

  @Test
  void theChartHasTheSameDefinition() throws IOException {
    assertThat(Path.of("helm/activator/files/scaledservices.yaml"))
        .hasSameTextualContentAs(Path.of("src/main/resources/embedded/scaledservices.yaml"));
    assertThat(Files.readString(Path.of("helm/activator/templates/scaledservices.yaml")))
        .contains("files/scaledservices.yaml");
  }
}
