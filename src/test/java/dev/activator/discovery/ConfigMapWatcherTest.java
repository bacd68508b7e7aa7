package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.Restart;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** The informer of the named ConfigMaps, against a real watch cache. */
class ConfigMapWatcherTest {
  private static final String SYSTEM = "knative-serving";

  private final EmbeddedApi api = EmbeddedApi.start();
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private final ClusterWatcher cluster = Make
      .cluster(() -> new ClusterAccess.At(URI.create(api.url())));

  @AfterEach
  void close() {
    cluster.close();
    api.close();
  }

  private void wants(String... names) {
    for (var name : names) {
      cluster.onConfigMap(SYSTEM, name, data -> received.add(name + " " + data));
    }
  }

  private void hears(String expected) throws InterruptedException {
    assertThat(received.poll(120, TimeUnit.SECONDS)).isEqualTo(expected);
  }

  private static ObjectNode map(String namespace, String name, Map<String, String> data) {
    var map = Json.object();
    ObjectMeta.of(map).put("namespace", namespace).put("name", name);
    var texts = map.putObject("data");
    data.forEach(texts::put);
    return map;
  }

  private void create(String name, Map<String, String> data) {
    api.store().create(BuiltInKinds.CONFIG_MAP, map(SYSTEM, name, data));
  }

  private void update(String name, Map<String, String> data) {
    api.store().edit(BuiltInKinds.CONFIG_MAP, SYSTEM, name, object -> {
      var texts = object.putObject("data");
      data.forEach(texts::put);
      return object;
    });
  }

  @Test
  @DisplayName("each map is reported before the start is over, and each change after it")
  void eachMapIsReportedBeforeTheStartIsOver() throws Exception {
    create("config-network", Map.of("a", "1", "_example", "long"));
    create("config-logging", Map.of());
    create("config-other", Map.of("x", "y"));
    api.store().create(BuiltInKinds.CONFIG_MAP, map("default", "config-network", Map.of("a", "9")));
    wants("config-network", "config-logging");

    cluster.start();

    assertThat(received).containsExactlyInAnyOrder("config-network {a=1}", "config-logging {}");
    received.clear();
    update("config-network", Map.of("a", "2"));
    hears("config-network {a=2}");
  }

  @Test
  @DisplayName("maps that are missing at the start end it, all named on one line")
  void mapsThatAreMissingEndTheStart() {
    create("config-network", Map.of());
    wants("config-network", "config-logging", "config-observability");

    assertThatThrownBy(cluster::start).isInstanceOf(ClusterUnavailableException.class)
        .hasMessage("there is no ConfigMap knative-serving/config-logging, "
            + "knative-serving/config-observability; Knative Serving brings it along, empty or not");
  }

  @Test
  void anOptionalMapMayBeMissingAndIsEmptyOnceItIsDeleted() throws Exception {
    cluster.onOptionalConfigMap(SYSTEM, "config-page", data -> received.add("page " + data));
    cluster.start();

    create("config-page", Map.of("a", "1"));
    hears("page {a=1}");
    api.store().delete(BuiltInKinds.CONFIG_MAP, SYSTEM, "config-page");
    hears("page {}");
    create("config-page", Map.of("a", "1"));
    hears("page {a=1}");
  }

  @Test
  @DisplayName("ignores repetitions and deletions")
  void anUnchangedMapIsNotReported() throws Exception {
    create("config-network", Map.of("a", "1"));
    wants("config-network");
    cluster.start();
    hears("config-network {a=1}");

    // when its example and its labels change, and it is deleted and made again as it was
    update("config-network", Map.of("a", "1", "_example", "new"));
    api.store().delete(BuiltInKinds.CONFIG_MAP, SYSTEM, "config-network");
    create("config-network", Map.of("a", "1"));
    update("config-network", Map.of("a", "2"));

    // then only the last is heard
    hears("config-network {a=2}");
    assertThat(received).isEmpty();
  }

  @Test
  void receivesWhatChangedWhileTheApiWasAway() throws Exception {
    create("config-network", Map.of("a", "1"));
    wants("config-network");
    cluster.start();
    hears("config-network {a=1}");

    api.endWatches();
    update("config-network", Map.of("a", "2"));
    hears("config-network {a=2}");
    api.restart(Restart.values()[0]);
    update("config-network", Map.of("a", "3"));
    hears("config-network {a=3}");
  }
}
