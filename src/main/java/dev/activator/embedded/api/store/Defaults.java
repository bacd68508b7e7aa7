package dev.activator.embedded.api.store;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The fields that the API server sets in objects that are written.
 *
 * <p><b>Source.</b> {@code apis/core/v1/defaults.go} and {@code conversion.go}, {@code
 * apis/core/validation/validation.go} and {@code apis/discovery/v1/defaults.go} in Kubernetes.
 */
final class Defaults {
  private Defaults() {}

  /** @param stored null for a new one */
  static ObjectNode secret(ObjectNode secret, @Nullable ObjectNode stored) {
    if (secret.remove("stringData") instanceof ObjectNode texts && !texts.isEmpty()) {
      var data = secret.get("data") instanceof ObjectNode given ? given : secret.putObject("data");
      texts.properties().forEach(text -> data.put(text.getKey(), Base64.getEncoder()
          .encodeToString(text.getValue().asString("").getBytes(StandardCharsets.UTF_8))));
    }
    if (secret.path("type").asString("").isEmpty()) {
      secret.put("type", "Opaque");
    }
    if (stored != null && !secret.path("type").equals(stored.path("type"))) {
      throw StatusException.invalid("type",
          "Invalid value: " + secret.path("type") + ": field is immutable");
    }
    return secret;
  }

  /** Clients may rely on each port to have a name, which may be empty, and a protocol. */
  static ObjectNode endpointSlice(ObjectNode slice) {
    for (var port : slice.path("ports")) {
      if (port instanceof ObjectNode one) {
        one.put("name", one.path("name").asString(""));
        one.put("protocol", one.path("protocol").asString("TCP"));
      }
    }
    return slice;
  }
}
