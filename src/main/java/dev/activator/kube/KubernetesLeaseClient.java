package dev.activator.kube;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.revision.LeaseClient.LeaseApiResult;
import dev.activator.revision.LeaseClient.LeaseApiResult.Absent;
import dev.activator.revision.LeaseClient.LeaseApiResult.Conflict;
import dev.activator.revision.LeaseClient.LeaseApiResult.Failed;
import dev.activator.revision.LeaseClient.LeaseApiResult.Found;
import dev.activator.revision.LeaseClient;
import dev.activator.revision.LeaseClient.LeaseRecord;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The lease client that reads and writes one Lease through the Kubernetes API.
 *
 * <p><b>Errors.</b> Failures and timeouts are results.
 */
public final class KubernetesLeaseClient implements LeaseClient {
  private static final String API_VERSION = "coordination.k8s.io/v1";
  private static final String VERSION = "/metadata/resourceVersion";
  private static final String JSON_TYPE = "application/json";
  private static final JsonMapper JSON = new JsonMapper();
  private static final DateTimeFormatter MICRO_TIME = DateTimeFormatter
      .ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private final Supplier<KubernetesApiClient> api;
  private final Duration timeout;
  private final String namespace;
  private final String name;
  /**
   * The last two versions that the API returned; empty at first. There are two, because a read and
   * a write may be under way at once, and are answered in any order.
   */
  private volatile Known known = new Known(JSON.createObjectNode(), JSON.createObjectNode());

  private record Known(ObjectNode last, ObjectNode before) {
    /** The object with this version; null if neither has it. */
    @Nullable ObjectNode of(String version) {
      return Stream.of(last, before)
          .filter(one -> one.at(VERSION).asString("").equals(version)).findFirst().orElse(null);
    }
  }

  KubernetesLeaseClient(Supplier<KubernetesApiClient> api, Duration timeout, String namespace,
      String name) {
    this.api = api;
    this.timeout = timeout;
    this.namespace = namespace;
    this.name = name;
  }

  @Override
  public CompletableFuture<LeaseApiResult> read() {
    return answered(api.get().fetch(path() + "/" + name, timeout), true);
  }

  @Override
  public CompletableFuture<LeaseApiResult> write(LeaseRecord lease) {
    boolean creates = lease.version().isEmpty();
    return answered(api.get().send(creates ? "POST" : "PUT",
        creates ? path() : path() + "/" + name, JSON_TYPE, body(lease), timeout), !creates);
  }

  /** The Lease as the object of an Event. */
  public EventWriter.Regarding regarding() {
    return new EventWriter.Regarding(API_VERSION, "Lease", namespace, name,
        known.last.at("/metadata/uid").asString(""));
  }

  private String path() {
    return "apis/" + API_VERSION + "/namespaces/" + namespace + "/leases";
  }

  /**
   * The Lease to write. As in client-go, it keeps the fields that others have set in the version
   * that it replaces.
   */
  private String body(LeaseRecord lease) {
    var replaced = lease.version().isEmpty() ? null : known.of(lease.version());
    var object = replaced == null ? JSON.createObjectNode() : replaced.deepCopy();
    object.put("apiVersion", API_VERSION).put("kind", "Lease");
    var metadata = object.withObjectProperty("metadata").put("namespace", namespace)
        .put("name", name);
    if (!lease.version().isEmpty()) {
      metadata.put("resourceVersion", lease.version());
    }
    object.withObjectProperty("spec").put("holderIdentity", lease.holder())
        .put("leaseDurationSeconds", lease.durationSeconds())
        .put("leaseTransitions", lease.transitions())
        .put("acquireTime", MICRO_TIME.format(lease.acquired()))
        .put("renewTime", MICRO_TIME.format(lease.renewed()));
    return object.toString();
  }

  /** @param ofLease whether 404 says that the Lease is absent; else its namespace is */
  private CompletableFuture<LeaseApiResult> answered(CompletableFuture<ApiAnswer> request,
      boolean ofLease) {
    String what = "the Lease " + namespace + "/" + name;
    return request.thenApply(answer -> switch (answer.status()) {
      case 200, 201 -> lease(what, answer.body());
      case 409 -> new Conflict();
      default -> ofLease && answer.status() == 404
          ? new Absent()
          : new Failed(what + ": " + answer.status() + " " + answer.message());
    }).exceptionally(failure -> new Failed(what + ": no answer from the Kubernetes API"));
  }

  private LeaseApiResult lease(String what, byte[] body) {
    try {
      var object = JSON.readTree(body);
      if (!(object instanceof ObjectNode read)) {
        return new Failed(what + " cannot be read: it is no object");
      }
      remember(read);
      var spec = object.path("spec");
      return new Found(new LeaseRecord(spec.path("holderIdentity").asString(""),
          spec.path("leaseDurationSeconds").intValue(0), spec.path("leaseTransitions").intValue(0),
          time(spec.path("acquireTime")), time(spec.path("renewTime")),
          object.at(VERSION).asString("")));
    } catch (JacksonException | DateTimeException e) {
      return new Failed(what + " cannot be read: " + e.getMessage());
    }
  }

  private synchronized void remember(ObjectNode read) {
    known = new Known(read, known.last);
  }

  private static Instant time(JsonNode text) {
    var given = text.asString("");
    return given.isEmpty() ? Instant.EPOCH : Instant.parse(given);
  }
}
