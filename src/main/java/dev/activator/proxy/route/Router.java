package dev.activator.proxy.route;

import dev.activator.lifecycle.Readiness;
import dev.activator.proxy.codec.Malformed;
import dev.activator.proxy.codec.NettyFields;
import dev.activator.proxy.policy.Answer;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.Framing;
import dev.activator.proxy.policy.HostRule;
import dev.activator.proxy.policy.KubeletProbe;
import dev.activator.proxy.policy.NetworkProbe;
import dev.activator.proxy.policy.RevisionName;
import dev.activator.proxy.policy.Target;
import dev.activator.proxy.policy.field.Field;
import dev.activator.proxy.policy.field.Version;
import dev.activator.revision.Revisions;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what a request is: malformed, a probe, or meant for a revision.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
public final class Router {
  private static final Logger log = LoggerFactory.getLogger(Router.class);

  private final String clusterDomain;
  private final HostRule hosts;
  private final Addressing addressing;
  private final Revisions revisions;
  private final Supplier<Readiness> readiness;

  /**
   * Makes it.
   *
   * @param clusterDomain what hosts of services end with
   * @param hosts another way to name a revision
   * @param addressing which host pods are asked for
   * @param revisions which there are
   * @param readiness what the kubelet is told
   */
  public Router(String clusterDomain, HostRule hosts, Addressing addressing, Revisions revisions,
      Supplier<Readiness> readiness) {
    this.clusterDomain = clusterDomain;
    this.hosts = hosts;
    this.addressing = addressing;
    this.revisions = revisions;
    this.readiness = readiness;
  }

  /** The order matters: what ends a request comes before what must not see it. */
  public Route route(HttpRequest request, Version version) {
    // Nothing may be read out of a request two readers could read differently.
    if (request.decoderResult().isFailure()) {
      return new Route.Refused(malformed(request.decoderResult().cause()));
    }
    var fields = new NettyFields(request.headers());
    String method = request.method().name();
    var wrong = Framing.check(version, method, fields);
    if (wrong != null) {
      return new Route.Refused(wrong);
    }
    // Probes too: a 200 to a CONNECT would say that there is a tunnel now.
    var target = Target.parse(method, request.uri());
    if (target == null) {
      return new Route.Refused(new Failure.BadRequest("malformed target"));
    }
    // The kubelet asks about this process, whatever else it sends.
    if (KubeletProbe.is(fields)) {
      return new Route.Here(health());
    }
    // Probes of the network end here, and are neither counted nor looked up.
    var probe = NetworkProbe.answer(fields);
    if (probe != null) {
      return new Route.Here(probe);
    }
    var expectation = Framing.expectation(version, fields);
    return expectation != null ? new Route.Refused(expectation) : toRevision(target, fields);
  }

  /** What a request line says. */
  public static Version version(HttpRequest request) {
    var version = request.protocolVersion();
    if (version.equals(HttpVersion.HTTP_1_1)) {
      return Version.HTTP_1_1;
    }
    return version.equals(HttpVersion.HTTP_1_0) ? Version.HTTP_1_0 : Version.OTHER;
  }

  private static Failure malformed(Throwable cause) {
    return cause instanceof TooLongFrameException
        ? new Failure.HeadTooLarge()
        : new Failure.BadRequest(Malformed.text(cause, "malformed request"));
  }

  private Answer health() {
    return switch (readiness.get()) {
      case Readiness.Ready() -> KubeletProbe.answer(null);
      case Readiness.NotReady(var message) -> {
        log.warn("The kubelet's probe fails: {}", message);
        yield KubeletProbe.answer(message);
      }
    };
  }

  private Route toRevision(Target target, NettyFields fields) {
    String host = target.host() == null ? fields.text(Field.HOST) : target.host();
    var name = RevisionName.of(fields, host, clusterDomain, hosts);
    return find(name, host, target.path());
  }

  private Route find(RevisionName name, String host, String path) {
    try {
      var id = name.id();
      var revision = id == null ? null : revisions.find(id);
      if (revision != null) {
        return new Route.To(revision, host, path,
            addressing.service(revision.id()));
      }
      log.debug("No revision {}/{}", name.namespace(), name.name());
      return new Route.Refused(new Failure.UnknownRevision(name.name()));
    } catch (RuntimeException failure) {
      log.error("Looking up {}/{} failed", name.namespace(), name.name(), failure);
      return new Route.Refused(new Failure.LookupFailed());
    }
  }
}
