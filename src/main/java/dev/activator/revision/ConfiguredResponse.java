package dev.activator.revision;

import java.util.Map;

/**
 * A response that a user configured, which the activator gives without a pod.
 *
 * @param headers except those that frame the body
 */
public record ConfiguredResponse(int status, Map<String, String> headers, String body) {
  public ConfiguredResponse {
    headers = Map.copyOf(headers);
  }

  /** No content. */
  public static ConfiguredResponse ok() {
    return new ConfiguredResponse(200, Map.of("Content-Type", "text/plain; charset=utf-8"), "");
  }
}
