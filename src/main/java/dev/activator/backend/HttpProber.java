package dev.activator.backend;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.PrivateService;
import dev.activator.revision.RevisionId;
import dev.activator.upstream.ProbeAnswer;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeRequest;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Asks the queue-proxy of a pod, over a connection that the first request then finds open.
 *
 * <p>
 * <b>Source.</b> {@code probe} in Knative's {@code revision_backends.go}. The queue-proxy tells our
 * probes from requests by header and user agent, and answers only once its container does.
 */
final class HttpProber implements Prober {
  private static final String PATH = "/healthz";
  private static final Map<String, String> HEADERS = Map.of("K-Network-Probe", "queue",
      "User-Agent", "Knative-Activator-Probe");
  private static final Map<String, String> PASSTHROUGH_HEADERS = Map.of("K-Network-Probe", "queue",
      "User-Agent", "Knative-Activator-Probe", "K-Passthrough-Lb", "true");

  private final ProbeClient client;
  private final Loop loop;
  private final RevisionId revision;
  private final BackendSettings settings;

  HttpProber(ProbeClient client, Loop loop, RevisionId revision, BackendSettings settings) {
    this.client = client;
    this.loop = loop;
    this.revision = revision;
    this.settings = settings;
  }

  @Override
  public void probe(Destination destination, Consumer<ProbeOutcome> done) {
    client.ask(loop, request(destination), answer -> done.accept(outcome(answer)));
  }

  private ProbeRequest request(Destination destination) {
    Duration timeout = settings.probeTimeout();
    return settings.addressing().passthrough()
        ? new ProbeRequest(destination, PATH, meshHost(), PASSTHROUGH_HEADERS, timeout)
        : new ProbeRequest(destination, PATH, destination.toString(), HEADERS, timeout);
  }

  /** A mesh lets a pod's address through when the host names a service it knows. */
  private String meshHost() {
    return PrivateService.nameOf(revision.name()) + "." + revision.namespace();
  }

  private static ProbeOutcome outcome(ProbeAnswer answer) {
    return switch (answer) {
      case ProbeAnswer.Answered(int status, var body) -> ProbeOutcome.of(status, body);
      case ProbeAnswer.Failed(var reason) -> ProbeOutcome.noAnswer(reason);
    };
  }
}
