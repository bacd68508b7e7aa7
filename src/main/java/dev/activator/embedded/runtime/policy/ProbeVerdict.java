package dev.activator.embedded.runtime.policy;

import org.jspecify.annotations.Nullable;

/**
 * What a sidecar does with a request, by the headers that could make it a probe. Path and method
 * never matter, and names and values are compared as they are.
 *
 * <p>
 * <b>Source.</b> {@code pkg/queue/drain.go} and {@code health_probe.go} in Knative Serving.
 */
public sealed interface ProbeVerdict {
  /** No probe: it goes to the process. */
  record Traffic() implements ProbeVerdict {}

  /** The answer depends on whether the process is ready. */
  record CheckProcess() implements ProbeVerdict {}

  /** The network is there: 200, with the hash sent back. */
  record Echo(String hash) implements ProbeVerdict {}

  /** An error in text. */
  record Refuse(int status, String message) implements ProbeVerdict {}

  /**
   * Decides.
   *
   * @param userAgent header {@code User-Agent}, empty when absent
   * @param probe header {@code K-Network-Probe}, empty when absent
   * @param hash header {@code K-Network-Hash}, null when absent
   * @param draining whether the pod takes no more requests
   */
  static ProbeVerdict of(String userAgent, String probe, @Nullable String hash, boolean draining) {
    boolean prober = isProber(userAgent);
    if (!prober && !probe.equals("probe")) {
      return new Traffic();
    }
    if (draining) {
      return new Refuse(503, "shutting down");
    }
    if (prober) {
      return probe.equals("queue")
          ? new CheckProcess()
          : new Refuse(400, "unexpected probe header value: " + probe);
    }
    return hash == null || hash.isEmpty()
        ? new Refuse(400, "a probe request must contain a non-empty \"K-Network-Hash\" header")
        : new Echo(hash);
  }

  private static boolean isProber(String userAgent) {
    return userAgent.startsWith("kube-probe/") || userAgent.startsWith("Knative-Activator-Probe")
        || userAgent.startsWith("Knative-Autoscaling-Probe");
  }
}
