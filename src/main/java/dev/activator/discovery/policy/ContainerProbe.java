package dev.activator.discovery.policy;

import dev.activator.revision.ReadinessProbeSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The readinessProbe of a container, with the fields that decide what an answer to our own probe
 * means.
 *
 * <p><b>Source.</b> {@code Probe} in {@code k8s.io/api/core/v1/types.go}. {@code periodSeconds} and
 * {@code failureThreshold} are not read: our probes have their own schedule, and what they delay is
 * the kubelet's verdict, which comes with the pod's readiness.
 */
public record ContainerProbe(Action action, Target target, Timing timing) {
  public enum Action {
    HTTP,
    HTTPS,
    TCP,
    GRPC,
    EXEC
  }

  /**
   * @param host empty for the pod's address
   * @param port the name or number of a port
   */
  public record Target(String host, String port, String path,
      Map<String, List<String>> headers) {
    public static final Target NONE = new Target("", "", "", Map.of());

    public Target {
      headers = Map.copyOf(headers);
    }
  }

  /** @param successThreshold how many successes in a row make the container ready */
  public record Timing(Duration initialDelay, Duration timeout, int successThreshold) {}

  /**
   * Whether one success of our own probe shows what the kubelet's will show. False if the activator
   * cannot send the probe, or if time or repetition is a part of the verdict: a port that accepts
   * connections before {@code initialDelaySeconds} is over need not be ready.
   *
   * @param get how the activator sends requests: {@link Action#HTTP} or {@link Action#HTTPS}, or
   *     {@link Action#TCP} if it sends none
   */
  public boolean isShownBy(Action get) {
    return target.host.isEmpty() && timing.successThreshold <= 1 && switch (action) {
      case HTTP, HTTPS -> action == get
          && ReadinessProbeSpec.isPath(ReadinessProbeSpec.rooted(target.path));
      case TCP -> timing.initialDelay.isZero();
      case GRPC, EXEC -> false;
    };
  }

  /**
   * The probe to send to the port for requests. Invalid parts are left out and named in
   * {@code remarks}.
   *
   * @param get as for {@link #isShownBy}
   */
  public ReadinessProbeSpec spec(Action get, List<String> remarks) {
    var spec = action == get && action != Action.TCP && target.host.isEmpty()
        ? ReadinessProbeSpec.httpGet(target.path, target.headers, remarks)
        : ReadinessProbeSpec.CONNECT;
    return spec.within(timing.timeout);
  }
}
