package dev.activator.revision;

import java.util.Map;

/**
 * A response that a user has configured. The activator sends it itself, without a pod.
 *
 * @param headers all headers but those that frame the body
 */
public record ConfiguredResponse(int status, Map<String, String> headers, String body) {
  public ConfiguredResponse {
    headers = Map.copyOf(headers);
  }

  /** A response 200 without a body. */
  public static ConfiguredResponse ok() {
    return new ConfiguredResponse(200, Map.of("Content-Type", "text/plain; charset=utf-8"), "");
  }
}
