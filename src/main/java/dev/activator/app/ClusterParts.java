package dev.activator.app;

import dev.activator.cluster.Cluster;
import dev.activator.lifecycle.HealthState;
import dev.activator.lifecycle.Part;
import org.springframework.beans.factory.ObjectProvider;

/** What is heard from the cluster. Its starts wait for the cluster, until the process is told to end. */
record ClusterParts(Cluster cluster, Settings settings, HealthState health, InternalTls tls,
    ObjectProvider<Shutdown> ending) {

  /** Everything there is has been told, and the settings begin. */
  Part informers() {
    return new Part("informers", () -> {
      during(cluster::start);
      settings.begin();
      health.synced();
    }, cluster::close);
  }

  /** Goes with the informers. */
  Part certificates() {
    return Part.started("certificates", () -> during(tls::start));
  }

  private void during(Part.Start wait) throws Exception {
    var end = ending.getIfAvailable();
    if (end == null) {
      wait.run();
    } else {
      end.during(wait);
    }
  }
}
