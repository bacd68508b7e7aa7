package dev.activator.kube.reflector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.TestValues;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import io.fabric8.kubernetes.client.Config;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RestMapperTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(120);

  private final EmbeddedApi server = EmbeddedApi.start();
  private final KubernetesApiClient api = TestValues.kubernetesApi(config());

  private Config config() {
    var config = Config.empty();
    config.setMasterUrl(server.url());
    return config;
  }

  @AfterEach
  void close() {
    api.close();
    server.close();
  }

  @Test
  void findsThePathOfAKindAndWhetherItCanBeScaled() throws Exception {
    ScaledServiceCrd.createIn(server.store());

    assertThat(RestMapper.find(api, "apps/v1", "Deployment").get())
        .isEqualTo(new Served.Here("apis/apps/v1", "deployments", true, true));
    assertThat(RestMapper.find(api, "v1", "Pod").get())
        .isEqualTo(new Served.Here("api/v1", "pods", true, false));
    assertThat(RestMapper.find(api, "activator.dev/v1alpha1", "ScaledService").get()).isEqualTo(
        new Served.Here("apis/activator.dev/v1alpha1", "scaledservices", true, true));
  }

  @Test
  void saysThatThereIsNoSuchKind() throws Exception {
    assertThat(RestMapper.find(api, "apps/v1", "deployments").get())
        .isEqualTo(new Served.NotServed());
    assertThat(RestMapper.find(api, "argoproj.io/v1alpha1", "Rollout").get())
        .isEqualTo(new Served.NotServed());
    assertThat(RestMapper.find(api, "../../api/v1", "Pod").get())
        .isEqualTo(new Served.NotServed());
  }

  @Test
  void failsWhileTheApiDoesNotAnswer() {
    server.faults().add(Match.requests(), Fault.Answer.status(503));

    assertThatThrownBy(() -> RestMapper.find(api, "apps/v1", "Deployment").get())
        .hasMessageContaining("503");
  }

  @Test
  void writesAreAnsweredWithAnyStatusAndItsMessage() throws Exception {
    server.store().create(BuiltInKinds.CONFIG_MAP, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'map'}, 'data': {'key': 'old'}}
        """));

    var written = api.send("PATCH", "api/v1/namespaces/default/configmaps/map",
        "application/merge-patch+json", "{\"data\":{\"key\":\"new\"}}", TIMEOUT).get();
    var missing = api.send("PATCH", "api/v1/namespaces/default/configmaps/other",
        "application/merge-patch+json", "{}", TIMEOUT).get();

    assertThat(written.status()).isEqualTo(200);
    assertThat(
        server.store().find(BuiltInKinds.CONFIG_MAP, "default", "map").at("/data/key").asString())
        .isEqualTo("new");
    assertThat(missing.status()).isEqualTo(404);
    assertThat(missing.message()).isEqualTo("configmaps \"other\" not found");
  }
}
