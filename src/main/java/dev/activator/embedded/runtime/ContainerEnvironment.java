package dev.activator.embedded.runtime;

import com.sun.management.OperatingSystemMXBean;
import dev.activator.config.Quantity;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.VariableExpansion;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The environment variables of a container: {@code envFrom}, then {@code env}, which may refer to
 * earlier variables.
 *
 * <p><b>Source.</b> {@code makeEnvironmentVariables} in the kubelet's {@code kubelet_pods.go}.
 *
 * @param variables empty if there is a problem
 * @param problem the problem, in the kubelet's words; empty if there is none
 */
record ContainerEnvironment(Map<String, String> variables, String problem) {
  private static final Pattern SUBSCRIPT = Pattern
      .compile("metadata\\.(labels|annotations)\\['(.+)']");

  /** Ends the resolution at the first problem. */
  private static final class MissingException extends RuntimeException {
    MissingException(String problem) {
      super(problem, null, false, false);
    }
  }

  /**
   * @param objects finds a ConfigMap or Secret in the pod's namespace; null if there is none
   * @param pod the pod, to which {@code fieldRef} refers
   */
  static ContainerEnvironment of(JsonNode container,
      BiFunction<Kind, String, @Nullable ObjectNode> objects,
      JsonNode pod) {
    var sources = new Sources(objects, pod, container.path("resources"));
    var variables = new LinkedHashMap<String, String>();
    try {
      for (var from : container.path("envFrom")) {
        String prefix = from.path("prefix").asString("");
        sources.all(from).forEach((key, value) -> variables.put(prefix + key, value));
      }
      for (var variable : container.path("env")) {
        String name = variable.path("name").asString("");
        String value = sources.value(variable, variables);
        if (value != null && !name.isEmpty()) {
          variables.put(name, value);
        }
      }
      variables.forEach(ContainerEnvironment::checkText);
      return new ContainerEnvironment(variables, "");
    } catch (MissingException e) {
      return new ContainerEnvironment(Map.of(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Checks a value before Java does, whose error message would contain the value, which may be
   * secret.
   */
  private static void checkText(String name, String value) {
    if (value.indexOf('\0') >= 0) {
      throw new MissingException("the value of " + name
          + " has a zero byte, which no environment variable can have");
    }
  }

  private record Sources(BiFunction<Kind, String, @Nullable ObjectNode> objects, JsonNode pod,
      JsonNode resources) {
    Map<String, String> all(JsonNode from) {
      boolean secret = from.has("secretRef");
      var reference = from.path(secret ? "secretRef" : "configMapRef");
      var data = data(secret ? BuiltInKinds.SECRET : BuiltInKinds.CONFIG_MAP, reference);
      return data == null ? Map.of() : data;
    }

    /** The value of a variable; null if it is optional and absent. */
    @Nullable String value(JsonNode variable, Map<String, String> earlier) {
      String value = variable.path("value").asString("");
      var from = variable.path("valueFrom");
      if (!value.isEmpty() || from.isMissingNode() || from.isNull()) {
        return VariableExpansion.of(value, earlier);
      }
      String source = String.join(", ", from.propertyNames());
      return switch (source) {
        case "fieldRef" -> field(from.path(source).path("fieldPath").asString(""));
        case "configMapKeyRef" -> key(BuiltInKinds.CONFIG_MAP, from.path(source));
        case "secretKeyRef" -> key(BuiltInKinds.SECRET, from.path(source));
        case "resourceFieldRef" -> resource(from.path(source));
        default -> throw new MissingException("the valueFrom of "
            + variable.path("name").asString("") + " is not known here: " + source);
      };
    }

    private @Nullable String key(Kind kind, JsonNode reference) {
      var data = data(kind, reference);
      String key = reference.path("key").asString("");
      if (data != null && !data.containsKey(key) && !optional(reference)) {
        throw new MissingException("couldn't find key " + key + " in " + kind.kind() + " "
            + ObjectMeta.namespace(pod) + "/" + reference.path("name").asString(""));
      }
      return data == null ? null : data.get(key);
    }

    private @Nullable Map<String, String> data(Kind kind, JsonNode reference) {
      String name = reference.path("name").asString("");
      var object = objects.apply(kind, name);
      if (object == null) {
        if (optional(reference)) {
          return null;
        }
        throw new MissingException(
            kind.kind().toLowerCase(Locale.ROOT) + " \"" + name + "\" not found");
      }
      var data = new TreeMap<String, String>();
      object.path("data").properties().forEach(one -> data.put(one.getKey(),
          kind == BuiltInKinds.SECRET ? decoded(one.getValue()) : one.getValue().asString("")));
      return data;
    }

    private static boolean optional(JsonNode reference) {
      return reference.path("optional").booleanValue(false);
    }

    private static String decoded(JsonNode base64) {
      try {
        return new String(Base64.getDecoder().decode(base64.asString("")), StandardCharsets.UTF_8);
      } catch (IllegalArgumentException e) {
        throw new MissingException("a value of a Secret is not base64: " + e.getMessage());
      }
    }

    private String resource(JsonNode reference) {
      String path = reference.path("resource").asString("");
      try {
        var divisor = Quantity.parse(reference.path("divisor").asString("1"));
        return resource(path).in(divisor.number().signum() > 0 ? divisor : Quantity.of(1));
      } catch (IllegalArgumentException e) {
        throw new MissingException("resourceFieldRef " + path + ": " + e.getMessage());
      }
    }

    /**
     * A resource, with the defaults of a cluster: without a limit, it is the machine's capacity;
     * without a request, it is the limit, or else 0.
     */
    private Quantity resource(String path) {
      int dot = path.indexOf('.');
      String name = path.substring(dot + 1);
      var set = resources.path(path.substring(0, Math.max(0, dot))).path(name);
      return switch (path) {
        case String _ when !set.isMissingNode() -> Quantity.parse(set.asString(""));
        case "limits.cpu" -> Quantity.of(Runtime.getRuntime().availableProcessors());
        case "limits.memory" -> Quantity.of(ManagementFactory
            .getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize());
        case "requests.cpu", "requests.memory" -> Quantity.parse(
            resources.path("limits").path(name).asString("0"));
        default -> throw new MissingException("unsupported container resource: " + path);
      };
    }

    private String field(String path) {
      var subscript = SUBSCRIPT.matcher(path);
      if (subscript.matches()) {
        return pod.path("metadata").path(subscript.group(1)).path(subscript.group(2)).asString("");
      }
      return switch (path) {
        case "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
            "spec.serviceAccountName", "status.hostIP", "status.podIP" ->
          pod.at("/" + path.replace('.', '/')).asString("");
        case "status.podIPs", "status.hostIPs" ->
          pod.at("/" + path.replace('.', '/').replace("IPs", "IP")).asString("");
        default -> throw new MissingException("unsupported fieldPath: " + path);
      };
    }
  }
}
