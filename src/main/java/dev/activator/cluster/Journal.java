package dev.activator.cluster;

import dev.activator.cluster.ReflectorView.Counts;
import dev.activator.cluster.ReflectorView.Health;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes down what happens to one list and watch: for whoever asks, and in the log where people
 * should know.
 *
 * <p>
 * <b>Threads.</b> One at a time writes; {@link #view} may be asked by any thread.
 */
final class Journal {
  private static final Logger log = LoggerFactory.getLogger(Journal.class);

  private final String resource;
  private Health health = new Health(false, false, false, null);
  private Counts counts = Counts.NONE;
  private long lastListNanos;
  private long lastEventNanos;
  private String resourceVersion = "";
  private volatile ReflectorView view;

  Journal(String resource) {
    this.resource = resource;
    this.view = viewNow();
  }

  ReflectorView view() {
    return view;
  }

  String resource() {
    return resource;
  }

  void heard(String version, long nowNanos) {
    lastEventNanos = nowNanos;
    reached(version);
  }

  void reached(String version) {
    resourceVersion = version;
    publish();
  }

  void listed(String version, long nowNanos) {
    if (health.complaint() != null) {
      log.info("The list of {} is there again", resource);
    }
    health = new Health(true, health.watching(), health.alarmed(), null);
    counts = counts.listed();
    lastListNanos = nowNanos;
    reached(version);
  }

  void failed(String complaint) {
    if (!Objects.equals(complaint, health.complaint())) {
      log.warn("{}; trying again", complaint);
    }
    health = new Health(health.listed(), health.watching(), health.alarmed(), complaint);
    counts = counts.failed();
    publish();
  }

  void ended(@Nullable Throwable failure) {
    log.warn("The watch of {} ended; it is started again: {}", resource, String.valueOf(failure));
  }

  void spared() {
    log.warn("The watch of {} cannot go on right after each list; waiting", resource);
  }

  void restarted() {
    counts = counts.restarted();
    watching(false);
  }

  void drifted(int objects) {
    counts = counts.drifted(objects);
    publish();
  }

  /** One line until it is open again, however often it is said. */
  void alarm(String reason) {
    if (!health.alarmed()) {
      log.warn("What is known of {} may be old: {}", resource, reason);
    }
    health = new Health(health.listed(), health.watching(), true, health.complaint());
    publish();
  }

  void watching(boolean open) {
    if (open && health.alarmed()) {
      log.info("The watch of {} is open again", resource);
    }
    health = new Health(health.listed(), open, health.alarmed() && !open, health.complaint());
    publish();
  }

  private void publish() {
    view = viewNow();
  }

  private ReflectorView viewNow() {
    return new ReflectorView(resource, health, counts, lastListNanos, lastEventNanos,
        resourceVersion);
  }
}
