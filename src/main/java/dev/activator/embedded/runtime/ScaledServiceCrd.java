package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.CustomResourceSchema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The CustomResourceDefinition of ScaledServices, which is the same as in the Helm chart. */
public final class ScaledServiceCrd {
  private static final String FILE = "/embedded/scaledservices.yaml";

  private ScaledServiceCrd() {}

  /**
   * Creates the definition in a store. From then on, the store sets defaults and refuses invalid
   * objects, like a cluster.
   */
  public static void createIn(ApiStore store) {
    var definition = definition();
    var schema = schema(definition);
    store.create(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION, definition);
    var kind = of(store);
    store.onUnknownFields(kind, schema::unknown);
    store.onAdmission(kind, object -> schema.admit(object, store.stored(kind, object)));
  }

  /** The schema of the first version. */
  static CustomResourceSchema schema(ObjectNode definition) {
    return new CustomResourceSchema(definition);
  }

  public static Kind of(ApiStore store) {
    return store.kinds().at("activator.dev", "v1alpha1", "scaledservices").orElseThrow();
  }

  static ObjectNode definition() {
    try (var file = ScaledServiceCrd.class.getResourceAsStream(FILE)) {
      return (ObjectNode) YAMLMapper.builder().build()
          .readTree(Objects.requireNonNull(file, FILE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
