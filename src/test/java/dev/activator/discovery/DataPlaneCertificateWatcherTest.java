package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.kube.Yaml;
import dev.activator.testing.Make;
import dev.activator.tls.CertificateListener.RoutingCertificate;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.tls.CertificateListener;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** The Secret and the trust bundles of the system namespace, over real HTTP. */
class DataPlaneCertificateWatcherTest {
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ClusterWatcher cluster = Make
      .cluster(() -> new ClusterAccess.At(URI.create(api.url())));
  private final BlockingQueue<RoutingCertificate> certificates = new LinkedBlockingQueue<>();
  private final Map<String, List<String>> bundles = new ConcurrentSkipListMap<>();

  private final CertificateListener listener = new CertificateListener() {
    @Override
    public void certificate(RoutingCertificate now) {
      certificates.add(now);
    }

    @Override
    public void bundle(String name, List<String> values) {
      bundles.put(name, values);
    }

    @Override
    public void bundleGone(String name) {
      bundles.remove(name);
    }
  };

  @AfterEach
  void close() {
    cluster.close();
    api.close();
  }

  private static ObjectNode secret(String name, String chain) {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'namespace': 'knative-serving',
         'name': '%s'}, 'data': {'tls.crt': '%s', 'tls.key': '%s', 'ca.crt': '%s'}}
        """.formatted(name, base64(chain), base64("key"), base64("ca")));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static ObjectNode bundle(String namespace, String label, String value) {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'namespace': '%s',
         'name': 'bundle', 'labels': {'%s': ''}}, 'data': {'a': '%s'}}
        """.formatted(namespace, label, value));
  }

  private void hasBundles(Map<String, List<String>> expected) {
    await()
        .untilAsserted(() -> assertThat(Map.copyOf(bundles)).isEqualTo(expected));
  }

  private String nextChain() throws InterruptedException {
    var next = certificates.poll(120, TimeUnit.SECONDS);
    assertThat(next).isNotNull();
    return next.chain();
  }

  @Test
  void followsTheSecretAndNoOther() throws Exception {
    api.store().create(BuiltInKinds.SECRET, secret("routing-serving-certs", "one"));
    api.store().create(BuiltInKinds.SECRET, secret("another", "other"));
    cluster.start();
    cluster.followCertificates("knative-serving", listener);
    assertThat(certificates).containsExactly(new RoutingCertificate("one", "key", "ca"));
    certificates.clear();

    api.store().writes().update(BuiltInKinds.SECRET, secret("routing-serving-certs", "two"));
    assertThat(nextChain()).isEqualTo("two");

    // What is broken, or gone, leaves what was.
    var broken = secret("routing-serving-certs", "three");
    broken.withObject("/data").put("tls.key", "!");
    api.store().writes().update(BuiltInKinds.SECRET, broken);
    api.store().delete(BuiltInKinds.SECRET, "knative-serving", "routing-serving-certs");
    api.store().create(BuiltInKinds.SECRET, secret("routing-serving-certs", "four"));
    assertThat(nextChain()).isEqualTo("four");
  }

  @Test
  void goesOnWithoutTheAuthoritiesWhichTrustBundlesMayHave() throws Exception {
    var secret = secret("routing-serving-certs", "one");
    secret.withObject("/data").remove("ca.crt");
    api.store().create(BuiltInKinds.SECRET, secret);
    cluster.start();
    cluster.followCertificates("knative-serving", listener);
    assertThat(certificates).containsExactly(new RoutingCertificate("one", "key", ""));
  }

  @Test
  void doesNotGoOnWithoutTheSecret() throws Exception {
    cluster.start();
    assertThatThrownBy(() -> cluster.followCertificates("knative-serving", listener))
        .isInstanceOf(ClusterUnavailableException.class)
        .hasMessageContaining("there is no Secret knative-serving/routing-serving-certs");
  }

  @Test
  void followsBundlesOfItsNamespaceByTheirLabel() throws Exception {
    String label = "networking.knative.dev/trust-bundle";
    api.store().create(BuiltInKinds.SECRET, secret("routing-serving-certs", "one"));
    api.store().create(BuiltInKinds.CONFIG_MAP, bundle("knative-serving", label, "first"));
    api.store().create(BuiltInKinds.CONFIG_MAP, bundle("default", label, "elsewhere"));
    cluster.start();
    cluster.followCertificates("knative-serving", listener);
    assertThat(bundles).isEqualTo(Map.of("knative-serving/bundle", List.of("first")));

    api.store().writes().update(BuiltInKinds.CONFIG_MAP,
        bundle("knative-serving", label, "second"));
    hasBundles(Map.of("knative-serving/bundle", List.of("second")));
    api.store().writes().update(BuiltInKinds.CONFIG_MAP,
        bundle("knative-serving", "no-label", "second"));
    hasBundles(Map.of());
    api.store().writes().update(BuiltInKinds.CONFIG_MAP, bundle("knative-serving", label, "third"));
    hasBundles(Map.of("knative-serving/bundle", List.of("third")));
    api.store().delete(BuiltInKinds.CONFIG_MAP, "knative-serving", "bundle");
    hasBundles(Map.of());
  }

  @Test
  void neverShowsAKey() {
    assertThat(new RoutingCertificate("chain", "secret", "ca").toString())
        .doesNotContain("secret");
    var malformed = secret("routing-serving-certs", "one");
    malformed.withObject("/data").put("tls.key", "c2VjcmV0 secret");
    assertThat(Yaml.decoded(KnativeKinds.SECRETS, malformed.toString()).problem())
        .contains("data.tls.key").doesNotContain("c2VjcmV0");
  }
}
