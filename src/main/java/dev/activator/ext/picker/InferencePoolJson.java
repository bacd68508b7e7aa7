package dev.activator.ext.picker;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The Service of an InferencePool's pods, and the pool's status, as Kubernetes' API has them. */
final class InferencePoolJson {
  /** Who writes the entry of the status. */
  static final String CONTROLLER = "activator.dev/endpoint-picker";
  private static final String MANAGED_BY = "app.kubernetes.io/managed-by";
  /** The label that has the pool's picker. */
  private static final String PICKER = "activator.dev/endpoint-picker";
  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern LABEL = Pattern.compile("[a-z][a-z0-9-]*");
  private static final String SUFFIX = "-pods";
  private static final int MAX_STEM = 63 - SUFFIX.length();
  private static final int HASH_DIGITS = 8;

  private InferencePoolJson() {}

  /** The object in the text; missing if there is none. */
  static JsonNode parse(byte[] text) {
    try {
      return JSON.readTree(text);
    } catch (JacksonException e) {
      return JSON.missingNode();
    }
  }

  /**
   * The name of the pool's Service: {@code NAME-pods}. A Service's name is shorter than that of a pool may
   * be, has no dots, and begins with a letter; if the pool's own name cannot be used, a part of it is,
   * with its hash.
   */
  static String serviceName(InferencePool pool) {
    var name = pool.name();
    if (LABEL.matcher(name).matches() && name.length() <= MAX_STEM) {
      return name + SUFFIX;
    }
    var stem = "pool-" + name.replace('.', '-');
    return stem.substring(0, Math.min(stem.length(), MAX_STEM - HASH_DIGITS - 1)) + "-"
        + HexFormat.of().toHexDigits(name.hashCode()) + SUFFIX;
  }

  /** A headless Service, whose EndpointSlices list the pool's pods. */
  static ObjectNode service(InferencePool pool) {
    var object = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Service");
    var metadata = object.putObject("metadata").put("name", serviceName(pool));
    metadata.putObject("labels").put(MANAGED_BY, "activator.dev").put(PICKER, pool.picker());
    metadata.putArray("ownerReferences").addObject().put("apiVersion", InferencePool.API_VERSION)
        .put("kind", "InferencePool").put("name", pool.name()).put("uid", pool.uid());
    var spec = object.putObject("spec").put("clusterIP", "None");
    var selector = spec.putObject("selector");
    pool.selector().forEach(selector::put);
    var ports = spec.putArray("ports");
    for (int port : pool.ports()) {
      ports.addObject().put("name", (pool.isH2c() ? "h2c-" : "http-") + port).put("port", port)
          .put("protocol", "TCP").put("targetPort", port)
          .put("appProtocol", pool.isH2c() ? "kubernetes.io/h2c" : "http");
    }
    return object;
  }

  static boolean belongsTo(InferencePool pool, JsonNode service) {
    return service.at("/metadata/ownerReferences").valueStream()
        .anyMatch(owner -> owner.path("uid").asString("").equals(pool.uid()));
  }

  /** Whether {@link #service} has made it while the pool's picker was this Service. */
  static boolean isMadeFor(InferencePool pool, String picker, JsonNode service) {
    return belongsTo(pool, service)
        && service.path("metadata").path("labels").path(PICKER).asString("").equals(picker);
  }

  /** Whether the Service is as {@link #service} makes it; the API adds fields. */
  static boolean isAsMade(InferencePool pool, JsonNode service) {
    var wanted = service(pool).path("spec");
    var spec = service.path("spec");
    return spec.path("selector").equals(wanted.path("selector"))
        && spec.path("ports").equals(wanted.path("ports"));
  }

  /** The merge patch after which the Service is as {@link #service} makes it. */
  static ObjectNode change(InferencePool pool, JsonNode service) {
    var spec = (ObjectNode) service(pool).path("spec");
    var selector = (ObjectNode) spec.path("selector");
    // A merge patch keeps what it does not name.
    service.at("/spec/selector").propertyNames().stream()
        .filter(label -> !pool.selector().containsKey(label)).forEach(selector::putNull);
    var change = JSON.createObjectNode();
    change.set("spec", spec);
    return change;
  }

  /**
   * The change of the status after which it has our entry for this pool, or has none if the pool has
   * another picker; null if it is so already.
   *
   * @param now the pool as it is in the API
   * @param service our Service
   * @param problem why the pool cannot be used; empty if it can
   */
  static @Nullable ObjectNode status(InferencePool pool, JsonNode now, String service,
      String problem, Instant time) {
    var before = now.at("/status/parents");
    boolean isOurs = pool.picker().equals(service);
    var parents = JSON.createArrayNode();
    boolean has = false;
    for (var parent : before) {
      if (!parent.path("controllerName").asString("").equals(CONTROLLER)) {
        parents.add(parent);
      } else if (isOurs && !has) {
        // In its place, because another controller may have its own order.
        parents.add(parent(pool, parent, problem, time));
        has = true;
      }
    }
    if (isOurs && !has) {
      parents.add(parent(pool, JSON.missingNode(), problem, time));
    }
    if (before.isArray() ? before.equals(parents) : parents.isEmpty()) {
      return null;
    }
    var change = JSON.createObjectNode();
    // Another controller may write its own entry at the same time.
    change.putObject("metadata").put("resourceVersion",
        now.at("/metadata/resourceVersion").asString(""));
    change.putObject("status").set("parents", parents);
    return change;
  }

  private static ObjectNode parent(InferencePool pool, JsonNode before, String problem,
      Instant time) {
    var parent = JSON.createObjectNode();
    boolean isUsable = problem.isEmpty();
    var conditions = parent.putArray("conditions");
    add(conditions, "Accepted", isUsable, isUsable ? "Accepted" : "ServiceNotWritten",
        isUsable
            ? "requests wait for pods, and are divided among them; their Service is "
                + serviceName(pool)
            : problem,
        pool, before, time);
    add(conditions, "ResolvedRefs", true, "ResolvedRefs", "the endpoint picker is this activator",
        pool, before, time);
    parent.put("controllerName", CONTROLLER);
    parent.putObject("parentRef").put("group", "").put("kind", "Service").put("name",
        pool.picker());
    return parent;
  }

  private static void add(ArrayNode conditions, String type, boolean isTrue, String reason,
      String message, InferencePool pool, JsonNode before, Instant time) {
    var status = isTrue ? "True" : "False";
    var since = before.path("conditions").valueStream()
        .filter(one -> one.path("type").asString("").equals(type)
            && one.path("status").asString("").equals(status))
        .map(one -> one.path("lastTransitionTime").asString("")).findFirst()
        .orElse(time.truncatedTo(ChronoUnit.SECONDS).toString());
    conditions.addObject().put("lastTransitionTime", since).put("message", message)
        .put("observedGeneration", pool.generation()).put("reason", reason).put("status", status)
        .put("type", type);
  }
}
