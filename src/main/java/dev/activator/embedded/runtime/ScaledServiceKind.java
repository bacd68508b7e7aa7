package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.api.store.ObjectSchema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The CustomResourceDefinition of ScaledServices, which is the chart's. */
public final class ScaledServiceKind {
  private static final String FILE = "/embedded/scaledservices.yaml";
  private static final Pattern HOST = Pattern.compile(
      "([*][.])?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*");
  private static final Map<String, BiPredicate<JsonNode, @Nullable JsonNode>> RULES = Map.of(
      "!has(self.maxReplicas) || self.maxReplicas >= self.minReplicas",
      (spec, _) -> !spec.has("maxReplicas")
          || spec.path("maxReplicas").asInt() >= spec.path("minReplicas").asInt(),
      "has(self.maxReplicas) || self.minReplicas <= 1",
      (spec, _) -> spec.has("maxReplicas") || spec.path("minReplicas").asInt() <= 1,
      "has(self.target) || self.containerConcurrency > 0",
      (spec, _) -> spec.has("target") || spec.path("containerConcurrency").asInt() > 0,
      "self == oldSelf", (now, before) -> before == null || now.equals(before),
      "self.matches('^" + HOST.pattern() + "$')",
      (host, _) -> HOST.matcher(host.asString("")).matches());

  private ScaledServiceKind() {}

  /** Also sets defaults, and refuses invalid objects, as a cluster does by the definition. */
  public static void createIn(ApiStore store) {
    var definition = definition();
    var schema = new ObjectSchema(definition, RULES);
    store.create(Kinds.CUSTOM_RESOURCE_DEFINITION, definition);
    var kind = of(store);
    store.onUnknownFields(kind, schema::unknown);
    store.onAdmission(kind, object -> schema.admit(object, store.stored(kind, object)));
  }

  public static Kind of(ApiStore store) {
    return store.kinds().at("activator.dev", "v1alpha1", "scaledservices").orElseThrow();
  }

  static ObjectNode definition() {
    try (var file = ScaledServiceKind.class.getResourceAsStream(FILE)) {
      return (ObjectNode) YAMLMapper.builder().build()
          .readTree(Objects.requireNonNull(file, FILE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
