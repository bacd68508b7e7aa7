package dev.activator.backend;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.backend.policy.ProbeTimeout;
import dev.activator.loop.Loop;
import dev.activator.revision.ContainerProbe;
import dev.activator.revision.Destination;
import dev.activator.revision.PrivateService;
import dev.activator.revision.Protocol;
import dev.activator.revision.Revision;
import dev.activator.upstream.probe.ProbeAnswer;
import dev.activator.upstream.probe.ProbeClient;
import dev.activator.upstream.probe.ProbeRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Probes the pods of one revision: their queue-proxy, over a connection that the first request then
 * finds open, or the container itself where the revision has no queue-proxy.
 *
 * <p>
 * A queue-proxy answers HTTP/1.1 on each of its ports. A revision of HTTP/2 whose pods do not
 * understand HTTP/1.1 is probed in HTTP/2.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the revision's loop.
 *
 * <p>
 * <b>Source.</b> {@code probe} in Knative's {@code revision_backends.go}. The queue-proxy tells our
 * probes from requests by header and user agent, and answers only once its container does.
 */
final class HttpProber implements Prober {
  private static final Map<String, String> HEADERS = Map.of("K-Network-Probe", "queue",
      "User-Agent", "Knative-Activator-Probe");
  private static final Map<String, String> PASSTHROUGH_HEADERS = Map.of("K-Network-Probe", "queue",
      "User-Agent", "Knative-Activator-Probe", "K-Passthrough-Lb", "true");

  private final ProbeClient client;
  private final Loop loop;
  private final @Nullable ContainerProbe container;
  private final Map<String, String> headers;
  private final boolean h2cMayBeSpoken;
  /** Where a mesh lets a pod's address through when the host names a service; null elsewhere. */
  private final @Nullable String meshHost;
  private Protocol protocol;
  private ProbeTimeout timeout;

  HttpProber(ProbeClient client, Loop loop, Revision revision, BackendSettings settings) {
    this.client = client;
    this.loop = loop;
    this.container = revision.containerProbe();
    this.h2cMayBeSpoken = revision.protocol() == Protocol.H2C;
    this.meshHost = settings.addressing().get().passthrough()
        ? PrivateService.nameOf(revision.id().name()) + "." + revision.id().namespace()
        : null;
    this.protocol = container == null ? Protocol.HTTP1 : revision.protocol();
    this.timeout = ProbeTimeout.of(settings.probeTimeout());
    this.headers = headers();
  }

  private Map<String, String> headers() {
    var ours = meshHost == null ? HEADERS : PASSTHROUGH_HEADERS;
    if (container == null || container.headers().isEmpty()) {
      return ours;
    }
    var all = new HashMap<>(ours);
    all.putAll(container.headers());
    return all;
  }

  @Override
  public void probe(Destination destination, Consumer<ProbeOutcome> done) {
    var asked = protocol;
    ask(destination, answer -> {
      if (h2cMayBeSpoken && answer instanceof ProbeAnswer.Unintelligible) {
        // Not the other one of what is spoken by now: several may find it out at once.
        protocol = asked == Protocol.H2C ? Protocol.HTTP1 : Protocol.H2C;
        ask(destination, second -> done.accept(outcome(second)));
      } else {
        done.accept(outcome(answer));
      }
    });
  }

  private void ask(Destination destination, Consumer<ProbeAnswer> done) {
    long asked = loop.nanoTime();
    client.ask(loop, request(destination), answer -> {
      heed(answer, Duration.ofNanos(loop.nanoTime() - asked));
      done.accept(answer);
    });
  }

  private void heed(ProbeAnswer answer, Duration took) {
    if (answer instanceof ProbeAnswer.Answered || answer instanceof ProbeAnswer.Connected) {
      timeout = timeout.answered(took);
    } else if (answer instanceof ProbeAnswer.TimedOut) {
      timeout = timeout.passed();
    }
  }

  private ProbeRequest request(Destination destination) {
    var path = container == null ? "/healthz" : container.path();
    var host = meshHost == null ? destination.toString() : meshHost;
    return new ProbeRequest(destination, protocol, path, host, headers, timeout.next());
  }

  private ProbeOutcome outcome(ProbeAnswer answer) {
    return switch (answer) {
      case ProbeAnswer.Answered(int status, var body) -> container == null
          ? ProbeOutcome.of(status, body)
          : ProbeOutcome.ofContainer(status);
      case ProbeAnswer.Connected() -> ProbeOutcome.CONNECTED;
      case ProbeAnswer.Failed(var reason) -> ProbeOutcome.noAnswer(reason);
      case ProbeAnswer.Unintelligible(var reason) -> ProbeOutcome.noAnswer(reason);
      case ProbeAnswer.TimedOut(var after) ->
        ProbeOutcome.noAnswer("no answer within " + after.toMillis() + " ms");
    };
  }
}
