package dev.activator.embedded;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.loop.Loop;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The hosts of recently deleted Services and ScaledServices. The response to a request for such a
 * host says that its Service was deleted.
 *
 * <p><b>Threads.</b> Any.
 */
final class DeletedHosts {
  private static final int MAX_HOSTS = 100;

  private final ApiStore store;
  private final Loop loop;
  private final Set<String> hosts = new LinkedHashSet<>();
  private List<ApiStore.StoreSubscription> subscriptions = List.of();

  DeletedHosts(ApiStore store, Loop loop) {
    this.store = store;
    this.loop = loop;
  }

  void start() {
    subscriptions = List.of(store.subscribe(BuiltInKinds.KNATIVE_SERVICE, loop, this::changed),
        store.subscribe(ScaledServiceCrd.of(store), loop, this::changed));
  }

  void stop() {
    subscriptions.forEach(ApiStore.StoreSubscription::close);
  }

  private synchronized void changed(ApiStoreChange event) {
    if (event.type() != ApiStoreChange.Type.DELETED) {
      return;
    }
    EmbeddedPlatform.LocalHosts.hostsOf(event.object()).forEach(host -> {
      hosts.remove(host);
      hosts.add(host);
    });
    while (hosts.size() > MAX_HOSTS) {
      hosts.remove(hosts.iterator().next());
    }
  }

  /** @param host a host as in a request; it may have a port and a trailing dot */
  synchronized boolean contains(String host) {
    return hosts.contains(host.toLowerCase(Locale.ROOT).replaceAll("\\.?(:\\d*)?$", ""));
  }
}
