package dev.activator.discovery;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.kube.KubernetesSession;
import dev.activator.discovery.decode.ConfigMapReader.Texts;
import dev.activator.kube.reflector.InformerQuery;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches ConfigMapWatcher by name, and passes changed values to consumers.
 *
 * <p><b>Threads.</b> Register before the start; consumers are called one at a time on the session's
 * loop.
 *
 * <p><b>Source.</b> {@code configmap/informer} of {@code knative.dev/pkg}: the values of a deleted
 * ConfigMap stay in effect, and unchanged values are not passed on.
 */
final class ConfigMapWatcher {
  private static final Logger log = LoggerFactory.getLogger(ConfigMapWatcher.class);

  private final Map<String, Map<String, Consumer<Map<String, String>>>> wanted = new TreeMap<>();
  private final Set<String> optional = new HashSet<>();
  private final Map<String, Map<String, String>> received = new ConcurrentHashMap<>();

  /** Adds a ConfigMap that may be missing. The consumer gets an empty map after it is deleted. */
  void wantIfPresent(String namespace, String name, Consumer<Map<String, String>> consumer) {
    want(namespace, name, consumer);
    optional.add(namespace + "/" + name);
  }

  void want(String namespace, String name, Consumer<Map<String, String>> consumer) {
    wanted.computeIfAbsent(namespace, _ -> new TreeMap<>()).merge(name, consumer,
        Consumer::andThen);
  }

  List<KubernetesSession.Followed> follow(KubernetesSession session) {
    var followed = new ArrayList<KubernetesSession.Followed>();
    for (var namespace : wanted.keySet()) {
      followed.add(session.follow(InformerQuery.in(namespace, KnativeKinds.CONFIG_MAPS, ""),
          this::changed));
    }
    return followed;
  }

  void requireAll() {
    var missing = new ArrayList<String>();
    wanted.forEach((namespace, consumers) -> consumers.keySet().stream()
        .map(name -> namespace + "/" + name)
        .filter(key -> !received.containsKey(key) && !optional.contains(key))
        .forEach(missing::add));
    if (!missing.isEmpty()) {
      throw new ClusterUnavailableException("there is no ConfigMap " + String.join(", ", missing)
          + "; Knative Serving brings it along, empty or not");
    }
  }

  private void changed(@Nullable Texts before, @Nullable Texts now) {
    if (now != null) {
      deliver(now);
    } else if (before != null && optional.contains(before.namespace() + "/" + before.name())) {
      deliver(new Texts(before.namespace(), before.name(), Map.of()));
    } else if (before != null && consumerOf(before) != null) {
      log.warn("The ConfigMap {}/{} was deleted; its values stay in effect",
          before.namespace(), before.name());
    }
  }

  private void deliver(Texts now) {
    var consumer = consumerOf(now);
    if (consumer != null && !now.data()
        .equals(received.put(now.namespace() + "/" + now.name(), now.data()))) {
      consumer.accept(new LinkedHashMap<>(now.data()));
    }
  }

  private @Nullable Consumer<Map<String, String>> consumerOf(Texts map) {
    return wanted.getOrDefault(map.namespace(), Map.of()).get(map.name());
  }
}
