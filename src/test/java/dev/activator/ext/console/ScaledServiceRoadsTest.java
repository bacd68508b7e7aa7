package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.StandaloneActivator;
import dev.activator.app.Extensions;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.proxy.RequestPorts;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Authority;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.FreePort;
import dev.activator.testing.SpringProduct;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

/** What the product says of a ScaledService while a road to its pods is broken. */
class ScaledServiceRoadsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private static ConfigurableApplicationContext product(EmbeddedApi api) {
    return SpringProduct.of(StandaloneActivator.class, Extensions.ALL.stream()).profiles("cluster")
        .run("--activator.cluster.server=" + api.url(), "--activator.identity.pod-name=activator-0",
            "--activator.identity.pod-ip=127.0.0.1", "--activator.identity.system-namespace=system",
            "--activator.standalone.stats-port=" + FreePort.next(), "--server.port=0",
            "--activator.port.http1=0", "--activator.port.h2c=0", "--activator.profiling.port=0",
            "--activator.console.port=0", "--activator.lending.port=0",
            "--activator.serving.propagation-delay=0s");
  }

  /** A Service with this port, and a Deployment at zero. */
  private static ApiStore shop(EmbeddedApi api, String port) {
    var store = api.store();
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [%s]}}
        """.formatted(port)));
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'replicas': 0,
         'selector': {'matchLabels': {'app': 'web'}}, 'template': {
           'metadata': {'labels': {'app': 'web'}},
           'spec': {'containers': [{'name': 'web', 'image': 'x'}]}}}}
        """));
    return store;
  }

  /** @param more fields of the spec, each after a comma */
  private static void scaled(ApiStore store, String more) {
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 5}%s}}
        """.formatted(more)));
  }

  @Test
  void noMorePodsCanBeCreated() {
    try (var api = EmbeddedApi.start()) {
      var store = shop(api, "{'name': 'http', 'port': 80}");
      scaled(store, "");
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

  @Test
  void thePodsCertificateIsOfAnotherAuthority() throws Exception {
    var trusted = Authority.named("one");
    var shown = new AtomicReference<>(Authority.named("two").issue("web.shop.svc").serve());
    try (var api = EmbeddedApi.start();
        var pod = ScriptedPod.overTls(shown::get, caller -> {
          while (true) {
            caller.readBody(caller.readHead());
            caller.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
          }
        })) {
      var store = shop(api, "{'name': 'http', 'port': 443, 'appProtocol': 'https'}");
      store.create(BuiltInKinds.CONFIG_MAP, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web-ca'}, 'data': {'ca.crt': '%s'}}
          """.formatted(trusted.pem().replace("\r", "").replace("\n", "\\n"))));
      store.create(BuiltInKinds.ENDPOINT_SLICE, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web-1', 'labels':
             {'kubernetes.io/service-name': 'web'}},
           'addressType': 'IPv4', 'ports': [{'name': 'http', 'port': %d}],
           'endpoints': [{'addresses': ['127.0.0.1'], 'conditions': {'ready': true},
             'targetRef': {'kind': 'Pod', 'namespace': 'shop', 'name': 'web-1', 'uid': 'u'}}]}
          """.formatted(pod.destination().port())));
      scaled(store, ", 'tls': {'caCertificateRefs': [{'name': 'web-ca'}]}");
      try (var product = product(api);
          var waits = RawPeer.connect(product.getBean(RequestPorts.class).http1())) {
        await().until(() -> product.getBean(RevisionInspector.class).revision(WEB).join()
            .state() != WaitState.UNKNOWN);
        waits.send("GET / HTTP/1.1\r\nHost: web.shop\r\n\r\n");
        says(product, WaitState.NOT_TRUSTED, "1 pod is listed, and TLS with none succeeds: ");

        shown.set(trusted.issue("web.shop.svc").serve());
        assertThat(waits.readHead().start()).startsWith("HTTP/1.1 200");
        says(product, WaitState.SERVING, "0 requests in flight on 1 pod");
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
