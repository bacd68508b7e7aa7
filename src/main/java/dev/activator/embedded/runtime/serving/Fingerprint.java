package dev.activator.embedded.runtime.serving;

import dev.activator.embedded.api.store.Json;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import tools.jackson.databind.JsonNode;

/** A short text that is another one for another template. */
final class Fingerprint {
  private static final int BYTES = 16;

  private Fingerprint() {}

  static String of(JsonNode template) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(Json.bytes(template));
      return HexFormat.of().formatHex(digest, 0, BYTES);
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("every Java platform has SHA-256", absent);
    }
  }
}
