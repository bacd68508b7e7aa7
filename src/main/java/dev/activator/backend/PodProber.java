package dev.activator.backend;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.backend.policy.ProbeVerdict;
import dev.activator.backend.policy.ProbeTimeout;
import dev.activator.backend.policy.RevisionProbingState.Attempts;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.ChildName;
import dev.activator.revision.PodTransport;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ProbeRedirect;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.Revision;
import dev.activator.tls.DialTarget;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.upstream.UpstreamFailure;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Probes a pod's queue-proxy, over a connection that the first request can reuse. A container
 * without a queue-proxy is probed with its readinessProbe. If a pod of an HTTP/2 revision does not
 * understand HTTP/1.1, it is probed in HTTP/2.
 *
 * <p><b>Threads.</b> The revision's loop.
 *
 * <p><b>Source.</b> Knative's {@code probe}. The queue-proxy recognizes probes by header and user
 * agent.
 */
final class PodProber {
  private static final String QUEUE_PROXY_PATH = "/healthz";
  private static final Map<String, List<String>> QUEUE_PROXY_HEADERS = Map.of("K-Network-Probe",
      List.of("queue"), "User-Agent", List.of("Knative-Activator-Probe"));

  private final ProbeClient client;
  private final Loop loop;
  private final boolean h2cMayBeSpoken;
  /** The container's probe; null if the queue-proxy is probed. */
  private final @Nullable ReadinessProbeSpec container;
  /** The {@code Host} field; null for the address of the destination. */
  private final @Nullable String host;
  private final Map<String, List<String>> headers;
  /** {@code PROBE_TIMEOUT}: how long a probe may take to connect, without TLS. */
  private final Duration connectTimeout;
  private PodTransport transport;
  private PortProtocol protocol;
  private ProbeTimeout timeout;

  PodProber(ProbeClient client, Loop loop, Revision revision, ProbeSettings settings) {
    this.client = client;
    this.loop = loop;
    this.h2cMayBeSpoken = revision.protocol() == PortProtocol.H2C;
    this.container = revision.readinessProbe();
    this.protocol = container == null ? PortProtocol.HTTP1 : revision.protocol();
    this.connectTimeout = settings.probeTimeout();
    this.transport = revision.transport();
    this.timeout = ProbeTimeout.of(container == null ? connectTimeout : container.timeout());
    boolean passthrough = settings.addressing().get().passthrough();
    if (container == null && !passthrough) {
      this.headers = QUEUE_PROXY_HEADERS;
      this.host = null;
      return;
    }
    var all = new TreeMap<String, List<String>>(String.CASE_INSENSITIVE_ORDER);
    all.putAll(container == null
        ? QUEUE_PROXY_HEADERS
        : ReadinessProbeSpec.sent(container.headers()));
    var own = all.remove("Host");
    if (passthrough) {
      all.put("K-Passthrough-Lb", List.of("true"));
    }
    this.headers = all;
    // A mesh lets requests to a pod's address through if the host names a Service.
    this.host = passthrough
        ? ChildName.ofPrivateService(revision.id().name()) + "." + revision.id().namespace()
        : own == null ? null : own.getFirst();
  }

  /** How the pods are reached. */
  PodTransport transport() {
    return transport;
  }

  /** @param now which {@link PodTransport#replaces} the one before */
  void setTransport(PodTransport now) {
    transport = now;
  }

  /**
   * @param on the loop whose connections are used
   * @param done called on the revision's loop
   */
  void probe(Destination destination, Loop on, Consumer<ProbeVerdict> done) {
    var spoken = protocol;
    send(destination, on, result -> {
      if (h2cMayBeSpoken && result instanceof ProbeResult.InvalidResponse) {
        // Uses the protocol of this probe, because a concurrent probe may have switched the field
        // already.
        protocol = spoken == PortProtocol.H2C ? PortProtocol.HTTP1 : PortProtocol.H2C;
        send(destination, on, second -> done.accept(verdict(second)));
      } else {
        done.accept(verdict(result));
      }
    });
  }

  /**
   * Waits until an address that refused connections no longer does.
   *
   * @param on as for {@link #probe}
   * @param refused called on the revision's loop if the address refused until the end
   * @param listens called on the revision's loop if a server may listen
   */
  void awaitListener(Destination destination, Loop on, Attempts attempts,
      Consumer<ProbeVerdict> refused, Runnable listens) {
    var next = request(destination);
    on.execute(() -> client.awaitListener(on, next, attempts.pause(), attempts.limit(),
        isRefused -> loop.execute(() -> {
          if (isRefused) {
            refused.accept(new ProbeVerdict(Kind.REFUSED, UpstreamFailure.REFUSED.text()));
          } else {
            listens.run();
          }
        })));
  }

  private ProbeRequest request(Destination destination) {
    var within = timeout.next();
    var identity = transport.identity();
    return new ProbeRequest(new DialTarget(destination, identity), protocol,
        host == null ? destination.toString() : host,
        new ReadinessProbeSpec(container == null ? QUEUE_PROXY_PATH : container.path(), headers,
            within, container == null ? null : container.answer()),
        identity == null && connectTimeout.compareTo(within) < 0 ? connectTimeout : within);
  }

  private void send(Destination destination, Loop on, Consumer<ProbeResult> done) {
    long sentNanos = loop.nanoTime();
    follow(request(destination), on, 1, result -> {
      adaptTimeout(result, Duration.ofNanos(loop.nanoTime() - sentNanos));
      done.accept(result);
    });
  }

  /**
   * Sends a probe, and follows the redirects of a container within the probe's time.
   *
   * @param requests how many were sent, with this one
   */
  private void follow(ProbeRequest request, Loop on, int requests, Consumer<ProbeResult> done) {
    long sentNanos = loop.nanoTime();
    request(request, on, result -> {
      if (container == null || !(result instanceof ProbeResult.Answered(int status, _, var to))) {
        done.accept(result);
        return;
      }
      switch (ProbeRedirect.of(url(request), status, to, requests)) {
        case ProbeRedirect.None() -> done.accept(result);
        case ProbeRedirect.Failed(var reason) -> done.accept(new ProbeResult.Unexpected(reason));
        case ProbeRedirect.Follow next when next.tls() && !request.target().overTls() ->
          done.accept(new ProbeResult.Unexpected("redirects to https, which is not probed here"));
        case ProbeRedirect.Follow next -> {
          var left = request.timeout().minusNanos(loop.nanoTime() - sentNanos);
          follow(redirected(request, next, left), on, requests + 1, done);
        }
      }
    });
  }

  private static String url(ProbeRequest request) {
    return (request.target().overTls() ? "https://" : "http://") + request.destination()
        + request.path();
  }

  private static ProbeRequest redirected(ProbeRequest from, ProbeRedirect.Follow next,
      Duration left) {
    var to = new Destination(from.destination().host(), next.port());
    return new ProbeRequest(
        next.tls() ? new DialTarget(to, from.target().identity()) : DialTarget.plain(to),
        from.protocol(), next.keepsHost() ? from.host() : to.toString(),
        new ReadinessProbeSpec(next.path(), from.what().headers(), left),
        left.compareTo(from.connectTimeout()) < 0 ? left : from.connectTimeout());
  }

  private void request(ProbeRequest request, Loop on, Consumer<ProbeResult> done) {
    if (on == loop) {
      client.probe(on, request, done);
    } else {
      on.execute(() -> client.probe(on, request,
          result -> loop.execute(() -> done.accept(result))));
    }
  }

  private void adaptTimeout(ProbeResult result, Duration took) {
    if (result instanceof ProbeResult.Answered || result instanceof ProbeResult.Connected) {
      timeout = timeout.answered(took);
    } else if (result instanceof ProbeResult.TimedOut) {
      timeout = timeout.timedOut();
    }
  }

  private ProbeVerdict verdict(ProbeResult result) {
    return switch (result) {
      case ProbeResult.Connected() -> ProbeVerdict.ANSWERS;
      case ProbeResult.Answered(int status, var body, _) ->
        container == null
            ? ProbeVerdict.of(status, body)
            : ProbeVerdict.ofContainer(status);
      case ProbeResult.Unexpected(var reason) -> new ProbeVerdict(
          container != null && container.answer() != null
              ? Kind.UNEXPECTED
              : Kind.UNHEALTHY,
          reason);
      case ProbeResult.Refused(var reason) -> new ProbeVerdict(Kind.REFUSED, reason);
      case ProbeResult.Failed(var reason) -> new ProbeVerdict(Kind.NO_CONNECTION, reason);
      case ProbeResult.InvalidResponse(var reason) ->
        new ProbeVerdict(Kind.NO_ANSWER, reason);
      case ProbeResult.TimedOut(var after, boolean connected) -> {
        var reason = "no answer within " + after.toMillis() + " ms";
        if (!connected) {
          yield new ProbeVerdict(Kind.NO_CONNECTION, reason);
        }
        yield container == null
            ? new ProbeVerdict(Kind.NO_ANSWER, reason)
            : new ProbeVerdict(Kind.SLOW, reason);
      }
    };
  }
}
