package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.lifecycle.Readiness;
import dev.activator.proxy.codec.MalformedRequestException;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.policy.FramingCheck;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Decides whether a request is refused as malformed, answered as a probe, or sent to a revision.
 *
 * <p><b>Threads.</b> Any.
 */
public final class Router {
  private static final Logger log = LoggerFactory.getLogger(Router.class);

  public sealed interface Route permits Answered, UnknownProbe, Found {}

  public record Answered(LocalResponse answer) implements Route {}

  /**
   * A probe of the network whose kind is known only by an {@link Arrival}, if at all.
   *
   * @param otherwise the answer if none knows it
   */
  public record UnknownProbe(LiveRevision revision, String kind, LocalResponse otherwise)
      implements Route {}

  public record Refused(RequestFailure failure) implements Found {}

  /** The result for a request that is not a probe. */
  sealed interface Found extends Route {}

  /**
   * @param live what is kept for the revision
   * @param revision its state when the request arrived
   * @param path path and query
   * @param service null where pods are reached by their own addresses
   * @param instead the answer of a request that may not wait; null for most requests
   */
  public record ToRevision(LiveRevision live, Revision revision, String host, String path,
      @Nullable String service, Arrival.@Nullable Instead instead) implements Found {}

  private final RevisionResolver resolver;
  private final Function<RevisionId, @Nullable String> services;
  private final LiveRevisions revisions;
  private final Supplier<Readiness> readiness;
  private final Arrival arrival;
  private final boolean routesKubeletProbes;
  /** The readiness at the kubelet's last probe, to log a change once. */
  private volatile Readiness lastReadiness = new Readiness.Ready();

  /**
   * @param services the Service and namespace that a mesh routes by; null where pods are reached
   *     directly
   */
  public Router(RevisionResolver resolver, Function<RevisionId, @Nullable String> services,
      LiveRevisions revisions, Supplier<Readiness> readiness) {
    this(resolver, services, revisions, readiness, Arrival.NONE);
  }

  /**
   * @param services the Service and namespace that a mesh routes by; null where pods are reached
   *     directly
   */
  public Router(RevisionResolver resolver, Function<RevisionId, @Nullable String> services,
      LiveRevisions revisions, Supplier<Readiness> readiness, Arrival arrival) {
    this.arrival = arrival;
    this.routesKubeletProbes = arrival.takesKubeletProbes();
    this.resolver = resolver;
    this.services = services;
    this.revisions = revisions;
    this.readiness = readiness;
  }

  /** Decides about a request. The first check that matches decides, so their order matters. */
  public Route route(HttpRequest request, HeaderFieldList fields, RequestVersion version) {
    var wrong = malformed(request, fields, version);
    if (wrong != null) {
      return new Refused(wrong);
    }
    String method = request.method().name();
    // Probes are checked too: a 200 to a CONNECT would open a tunnel.
    var target = FramingCheck.target(method, request.uri());
    if (target == null) {
      return new Refused(RequestFailure.badRequest("malformed target"));
    }
    if (Probes.isFromKubelet(fields)) {
      return routesKubeletProbes && toRevision(target, method, fields) instanceof ToRevision route
          && route.instead() != null ? route : new Answered(health());
    }
    // Probes of the network are neither counted nor, if their kind is known, looked up.
    var probe = Probes.toNetwork(fields);
    if (probe != null) {
      String kind = fields.text(KnownHeader.NETWORK_PROBE);
      return !Probes.isKnown(kind) && arrival != Arrival.NONE
          && toRevision(target, method, fields) instanceof ToRevision route
              ? new UnknownProbe(route.live(), kind, probe)
              : new Answered(probe);
    }
    var expectation = FramingCheck.expectation(version, fields);
    return expectation != null ? new Refused(expectation) : toRevision(target, method, fields);
  }

  /**
   * The route of the original request of a gateway's question. Such a request is never a probe of
   * this process, even with the headers of one.
   */
  Found question(HttpRequest original, HeaderFieldList fields) {
    if (original.decoderResult().isFailure()) {
      return new Refused(malformed(original.decoderResult().cause()));
    }
    String method = original.method().name();
    var target = FramingCheck.target(method, original.uri());
    return target == null
        ? new Refused(RequestFailure.badRequest("malformed target"))
        : toRevision(target, method, fields);
  }

  /** Null if the head could be decoded and its framing is clear. */
  static @Nullable RequestFailure malformed(HttpRequest request, HeaderFieldList fields,
      RequestVersion version) {
    return request.decoderResult().isFailure()
        ? malformed(request.decoderResult().cause())
        : FramingCheck.check(version, request.method().name(), fields);
  }

  private static RequestFailure malformed(Throwable cause) {
    return cause instanceof TooLongFrameException
        ? RequestFailure.headTooLarge()
        : RequestFailure.badRequest(MalformedRequestException.text(cause, "malformed request"));
  }

  private LocalResponse health() {
    var now = readiness.get();
    var message = now instanceof Readiness.NotReady(var why) ? why : null;
    if (!now.equals(lastReadiness)) {
      lastReadiness = now;
      log.atLevel(message == null ? Level.INFO : Level.WARN)
          .log("The kubelet's probe {}", message == null ? "succeeds" : "fails: " + message);
    }
    return Probes.toKubelet(message);
  }

  private Found toRevision(FramingCheck.Target target, String method, HeaderFieldList fields) {
    String host = target.host() == null ? fields.text(KnownHeader.HOST) : target.host();
    var id = resolver.of(fields, host, target.path());
    if (id == null) {
      log.debug("No revision gets a request to {} for {}", host, target.path());
      return new Refused(resolver.unknown(fields, host, target.path(), null));
    }
    try {
      var live = revisions.find(id);
      if (live != null && live.spec().protocol() != PortProtocol.TCP) {
        var revision = live.spec();
        return new ToRevision(live, revision, host, target.path(), services.apply(id),
            arrival.of(revision, method, target.path(), fields));
      }
      log.debug("No revision {}", id);
      return new Refused(resolver.unknown(fields, host, target.path(), id));
    } catch (RuntimeException e) {
      log.error("Looking up {} failed", id, e);
      return new Refused(RequestFailure.lookupFailed());
    }
  }

  Arrival arrival() {
    return arrival;
  }

  /** The route of a request that another revision gets instead. */
  ToRevision redirect(ToRevision from, LiveRevision to) {
    return new ToRevision(to, to.spec(), from.host(), from.path(), services.apply(to.id()),
        from.instead());
  }

  /**
   * Recognises probes of this process, and answers them.
   *
   * <p><b>Source.</b> {@code HealthHandler} in Knative's {@code healthz/handler.go};
   * {@code NewHandler} in Knative networking's {@code probe_handler.go}; {@code ProbeHandler} of the
   * activator.
   */
  static final class Probes {
    private Probes() {}

    /** Any caller may send these headers, as in Knative. */
    static boolean isFromKubelet(HeaderFieldList fields) {
      String agent = fields.first(KnownHeader.USER_AGENT);
      return (agent != null && agent.startsWith("kube-probe/"))
          || !fields.text(KnownHeader.KUBELET_PROBE).isEmpty();
    }

    /** @param problem null if ready */
    static LocalResponse toKubelet(@Nullable String problem) {
      return problem == null ? LocalResponse.empty(200) : LocalResponse.error(500, problem);
    }

    /** The answer to probes of ingresses and autoscalers; null for other requests. */
    static @Nullable LocalResponse toNetwork(HeaderFieldList fields) {
      String kind = fields.text(KnownHeader.NETWORK_PROBE);
      return switch (kind) {
        case "" -> null;
        case "probe" -> echo(fields.text(KnownHeader.NETWORK_HASH));
        case "activator" -> LocalResponse.plain(200, "activator");
        default -> LocalResponse.error(400,
            "unexpected probe header value: \"" + escape(kind) + "\"");
      };
    }

    static boolean isKnown(String kind) {
      return kind.equals("probe") || kind.equals("activator");
    }

    private static LocalResponse echo(String hash) {
      return hash.isEmpty()
          ? LocalResponse.error(400,
              "a probe request must contain a non-empty \"K-Network-Hash\" header")
          : new LocalResponse(200, Map.of("K-Network-Hash", hash), "");
    }

    /** Escapes as Go does: for HTML first, then as a quoted string. */
    private static String escape(String value) {
      return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
          .replace("\"", "&#34;").replace("'", "&#39;").replace("\\", "\\\\").replace("\t", "\\t");
    }
  }
}
