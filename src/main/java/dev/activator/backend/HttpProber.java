package dev.activator.backend;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.backend.policy.ProbeTimeout;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.PrivateService;
import dev.activator.revision.Protocol;
import dev.activator.revision.ReadinessProbe;
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
 * Asks the queue-proxy of a pod, over a connection that the first request then finds open; or the
 * container itself, by its readinessProbe, where there is no queue-proxy.
 *
 * <p>
 * A queue-proxy answers HTTP/1.1 on each of its ports. Where a revision says that it speaks HTTP/2,
 * and something else is what answers, it is asked in that.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the revision's loop.
 *
 * <p>
 * <b>Source.</b> {@code probe} in Knative's {@code revision_backends.go}. The queue-proxy tells our
 * probes from requests by header and user agent, and answers only once its container does.
 */
final class HttpProber implements Prober {
  private static final String QUEUE_PROXY_PATH = "/healthz";
  private static final Map<String, String> QUEUE_PROXY_HEADERS = Map.of("K-Network-Probe", "queue",
      "User-Agent", "Knative-Activator-Probe");
  /** What the kubelet sends: programs leave it out of their logs. */
  private static final Map<String, String> CONTAINER_HEADERS = Map.of("User-Agent",
      "kube-probe/1.34");

  private final ProbeClient client;
  private final Loop loop;
  /** Of a container that is asked itself; null where its queue-proxy is. */
  private final @Nullable ReadinessProbe container;
  private final boolean h2cMayBeSpoken;
  /** Where a mesh lets a pod's address through when the host names a service; null elsewhere. */
  private final @Nullable String meshHost;
  private Protocol protocol;
  private ProbeTimeout timeout;

  private HttpProber(ProbeClient client, Loop loop, Revision revision, BackendSettings settings) {
    this.client = client;
    this.loop = loop;
    this.container = revision.readinessProbe();
    this.h2cMayBeSpoken = revision.protocol() == Protocol.H2C;
    this.meshHost = settings.addressing().get().passthrough()
        ? PrivateService.nameOf(revision.id().name()) + "." + revision.id().namespace()
        : null;
    this.protocol = container == null ? Protocol.HTTP1 : revision.protocol();
    this.timeout = ProbeTimeout.of(settings.probeTimeout());
  }

  /** That of one revision. */
  static HttpProber of(ProbeClient client, Loop loop, Revision revision,
      BackendSettings settings) {
    return new HttpProber(client, loop, revision, settings);
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
    var path = container == null ? QUEUE_PROXY_PATH : container.path();
    var headers = new HashMap<>(container == null ? QUEUE_PROXY_HEADERS : CONTAINER_HEADERS);
    if (container != null) {
      headers.putAll(container.headers());
    }
    var host = headers.remove("Host");
    if (meshHost != null) {
      host = meshHost;
      headers.put("K-Passthrough-Lb", "true");
    }
    return new ProbeRequest(destination, protocol, path,
        host == null ? destination.toString() : host, headers, timeout.next());
  }

  private ProbeOutcome outcome(ProbeAnswer answer) {
    return switch (answer) {
      case ProbeAnswer.Connected() -> ProbeOutcome.ANSWERS;
      case ProbeAnswer.Answered(int status, var body) ->
        container == null ? ProbeOutcome.of(status, body) : ProbeOutcome.ofContainer(status);
      case ProbeAnswer.Failed(var reason) -> ProbeOutcome.noAnswer(reason);
      case ProbeAnswer.Unintelligible(var reason) -> ProbeOutcome.noAnswer(reason);
      case ProbeAnswer.TimedOut(var after) ->
        ProbeOutcome.noAnswer("no answer within " + after.toMillis() + " ms");
    };
  }
}
