package dev.activator.proxy.exchange;

import dev.activator.lifecycle.Readiness;
import dev.activator.proxy.codec.Malformed;
import dev.activator.proxy.policy.Failure;
import dev.activator.http.Field;
import dev.activator.http.Fields;
import dev.activator.proxy.policy.Framing;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.Probes;
import dev.activator.proxy.policy.RevisionNames;
import dev.activator.proxy.policy.Version;
import dev.activator.proxy.policy.WaitingPage;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpRequest;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Decides what a request is: malformed, a probe, or for a revision.
 *
 * <p><b>Threads.</b> Any.
 */
public final class Router {
  private static final Logger log = LoggerFactory.getLogger(Router.class);

  public sealed interface Route {}

  public record Answered(LocalResponse answer) implements Route {}

  /**
   * Of a waiting page.
   *
   * @param off if the revision has no such page
   */
  public record Poll(Revision revision, LocalResponse off) implements Route {}

  public record Refused(Failure failure) implements Route {}

  /**
   * @param path path and query
   * @param service null where pods are reached by their own addresses
   */
  public record ToRevision(Revision revision, String host, String path, @Nullable String service)
      implements Route {}

  private final RevisionNames names;
  private final Function<RevisionId, @Nullable String> services;
  private final Revisions revisions;
  private final Supplier<Readiness> readiness;
  /** The answer to the kubelet's last probe. */
  private volatile Readiness lastReadiness = new Readiness.Ready();

  /**
   * @param services Service and namespace that a mesh routes by; null where pods are reached
   * directly
   */
  public Router(RevisionNames names, Function<RevisionId, @Nullable String> services,
      Revisions revisions, Supplier<Readiness> readiness) {
    this.names = names;
    this.services = services;
    this.revisions = revisions;
    this.readiness = readiness;
  }

  /** The order matters: each check keeps a request from those below. */
  public Route route(HttpRequest request, Fields fields, Version version) {
    if (request.decoderResult().isFailure()) {
      return new Refused(malformed(request.decoderResult().cause()));
    }
    String method = request.method().name();
    var wrong = Framing.check(version, method, fields);
    if (wrong != null) {
      return new Refused(wrong);
    }
    // Probes are checked too: a 200 to a CONNECT would open a tunnel.
    var target = Framing.target(method, request.uri());
    if (target == null) {
      return new Refused(new Failure.BadRequest("malformed target"));
    }
    if (Probes.isFromKubelet(fields)) {
      return new Answered(health());
    }
    // Probes of the network are neither counted nor looked up.
    var probe = Probes.toNetwork(fields);
    if (probe != null) {
      return fields.text(Field.NETWORK_PROBE).equals(WaitingPage.POLL)
          && toRevision(target, fields) instanceof ToRevision route
              ? new Poll(route.revision(), probe)
              : new Answered(probe);
    }
    var expectation = Framing.expectation(version, fields);
    return expectation != null ? new Refused(expectation) : toRevision(target, fields);
  }

  private static Failure malformed(Throwable cause) {
    return cause instanceof TooLongFrameException
        ? new Failure.HeadTooLarge()
        : new Failure.BadRequest(Malformed.text(cause, "malformed request"));
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

  private Route toRevision(Framing.Target target, Fields fields) {
    String host = target.host() == null ? fields.text(Field.HOST) : target.host();
    var id = names.of(fields, host);
    if (id == null) {
      log.debug("No revision is named by a request to {}", host);
      return new Refused(names.unknown(fields, null));
    }
    try {
      var revision = revisions.find(id);
      if (revision != null) {
        return new ToRevision(revision, host, target.path(), services.apply(id));
      }
      log.debug("No revision {}", id);
      return new Refused(names.unknown(fields, id));
    } catch (RuntimeException e) {
      log.error("Looking up {} failed", id, e);
      return new Refused(new Failure.LookupFailed());
    }
  }
}
